"""Compiles vocabulary releases into the lexicon: one row per form of a name and concept (``tables.LEXICON``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import polars as pl

from starling_assets.ontology.folding import fold, spell
from starling_assets.ontology.name_parts import split_name
from starling_assets.ontology.rows import Release
from starling_assets.ontology.stop_list import stop_list
from starling_assets.ontology.tables import LEXICON

_SYMBOL_TYPES = {"Gene", "Protein", "RNA", "Protein/GeneFamily"}
_INFLECTED_TYPES = {
    "Disease", "Phenotype", "Anatomy", "CellType", "SmallMoleculeClass", "SmallMolecule", "Antibody", "Peptide",
    "Protein/GeneFamily", "Organism", "Protein", "Assay/Result", "GOTerm",
}  # fmt: skip
#: Symbols of elements that are not also words, initials or units.
_ELEMENTS = {"Zn", "Mg", "Fe", "Cu", "Mn", "Pb", "Hg", "Cd", "Ni", "Al", "Li", "Ti", "Ag", "Au", "Pt", "Se", "Na"}
_IRREGULAR = {
    "mouse": "mice",
    "tooth": "teeth",
    "foot": "feet",
    "bacterium": "bacteria",
    "fungus": "fungi",
    "ovum": "ova",
}
_LONGEST = 160
#: A product with its strength is no name of the substance ("water 991 MG/ML").
_STRENGTH = re.compile(
    r"\b\d[\d.,]*\s*(?:mg|mcg|µg|ug|g|ml|meq|unt|iu|%)\b(?:\s*/\s*(?:ml|mg|actuat|hr|l)\b)?", re.IGNORECASE
)
_FORMULA = re.compile(r"(?:[A-Z][a-z]?\d*){2,}\d*[+-]?")
_CHARGE = re.compile(r"\(?\d?[+-]\)?$")
_QUALIFIED = re.compile(r",? (?:nos|unspecified|\(disorder\)|\(finding\))$", re.IGNORECASE)
_LATIN_BINOMIAL = re.compile(r"^([A-Z])[a-z]{2,} ([a-z-]{3,})$")
#: Strength of a kind of name when a name belongs to several concepts; lower is stronger.
KIND_RANK = {
    "symbol": 0, "preferred": 0, "exact": 1, "brand": 1, "iupac": 1, "previous": 2, "inflected": 2, "related": 3,
    "short": 4, "formula": 5,
}  # fmt: skip


def compile_lexicon(releases: Iterable[Release]) -> pl.DataFrame:
    """All names of all releases as LEXICON rows, sorted. A name of several concepts keeps all of them."""
    frames = [_compile_release(release) for release in releases]
    frames = [frame for frame in frames if frame.height]
    if not frames:
        return pl.DataFrame(schema=LEXICON)
    return (
        pl.concat(frames)
        .unique(subset=["folded", "concept_id", "name"], keep="first", maintain_order=True)
        .sort("folded", "entity_type", "concept_id", "name")
        .select(pl.col(name).cast(dtype) for name, dtype in LEXICON.items())
    )


def _compile_release(release: Release) -> pl.DataFrame:
    concepts = release.concepts.filter(~pl.col("obsolete") & (pl.col("entity_type") != ""))
    joined = release.names.filter(pl.col("kind") != "xref").join(
        concepts.select("concept_id", "entity_type", pl.col("name").alias("preferred"), "organism"), on="concept_id"
    )
    rows = [row for item in joined.iter_rows(named=True) for row in _forms(item)]
    frame = pl.DataFrame(rows, schema=LEXICON)
    return _without_borrowed_names(frame)


def _without_borrowed_names(frame: pl.DataFrame) -> pl.DataFrame:
    """Drop weak names of a concept that are the own name of another one of the same vocabulary and type.

    ChEBI lists "docetaxel" as a related name of docetaxel trihydrate; the name belongs to docetaxel (FC-04).
    """
    # A symbol belongs to a gene per species, so names are compared within one organism.
    frame = frame.with_columns(pl.col("organism").fill_null("").alias("of"))
    place = ["folded", "entity_type", "of"]
    own = frame.filter(pl.col("kind").is_in(["preferred", "symbol"]))
    owners = own.select(*place, pl.col("concept_id").alias("owner")).unique()
    borrowed = (
        frame.filter(pl.col("kind").is_in(["related", "previous", "brand", "short"]))
        .join(owners, on=place)
        .filter(pl.col("owner") != pl.col("concept_id"))
        .select("folded", "concept_id")
        .unique()
        .join(own, on=["folded", "concept_id"], how="anti")
    )
    return frame.join(borrowed, on=["folded", "concept_id"], how="anti").drop("of")


def _forms(item: dict[str, str]) -> Iterator[dict[str, object]]:
    name, entity_type, kind = _QUALIFIED.sub("", item["name"]), item["entity_type"], item["kind"]
    folded = fold(name)
    if not _usable(name, folded, entity_type) or _names_the_base(name, item):
        return
    base: dict[str, object] = {
        "name": name,
        "folded": folded,
        "concept_id": item["concept_id"],
        "entity_type": entity_type,
        "preferred": item["preferred"],
        "kind": kind,
        "case_sensitive": is_case_sensitive(name, entity_type, kind),
        "organism": item["organism"],
    }
    yield base
    if entity_type in _INFLECTED_TYPES and not base["case_sensitive"]:
        for other in _inflections(folded):
            if not stop_list().stops(other, entity_type):
                yield {**base, "folded": other, "kind": "inflected"}
    if entity_type == "Organism" and kind in {"preferred", "exact"}:
        binomial = _LATIN_BINOMIAL.match(name)
        if binomial:
            short = f"{binomial.group(1)}. {binomial.group(2)}"
            yield {**base, "name": short, "folded": fold(short), "kind": "short"}


def _names_the_base(name: str, item: dict[str, str]) -> bool:
    """Whether a salt or hydrate lists the name of its base: "docetaxel" at docetaxel trihydrate (FC-04)."""
    if item["entity_type"] != "SmallMolecule" or item["kind"] == "preferred" or " " not in item["preferred"]:
        return False
    parts = split_name(item["preferred"])
    return parts.base != item["preferred"] and fold(parts.base) == fold(name)


def _usable(name: str, folded: str, entity_type: str) -> bool:
    if not folded or len(name) > _LONGEST or _STRENGTH.search(name):
        return False
    letters = spell(name)
    if letters.isdigit() or not any(char.isalpha() for char in letters):
        return False
    if len(letters) <= 2:
        return entity_type == "SmallMolecule" and _CHARGE.sub("", name) in _ELEMENTS
    # An all-capital abbreviation is not the word of the same letters; case keeps them apart.
    if any(stop_list().stops(form, entity_type) for form in (folded, *(() if " " in folded else _inflections(folded)))):
        return False
    return not (entity_type in {"SmallMolecule", "SmallMoleculeClass"} and len(letters) <= 3 and not name.isupper())


def is_case_sensitive(name: str, entity_type: str, kind: str) -> bool:
    """Short names, acronyms, gene symbols and cell lines match only as written."""
    letters = spell(name)
    if len(letters) <= 3:
        return not (name.islower() and entity_type in {"Organism", "Anatomy"})
    one_word = " " not in name
    if entity_type == "CellLine":
        return not (any(char.isdigit() for char in letters) and len(letters) >= 5)
    if entity_type in _SYMBOL_TYPES and kind in {"symbol", "previous", "related", "preferred", "exact"} and one_word:
        return not (any(char.isdigit() for char in letters) and len(letters) >= 5)
    acronym = letters.isupper() and len(letters) <= 5 and one_word
    return acronym or (bool(_FORMULA.fullmatch(name)) and any(char.isdigit() for char in name))


def _inflections(folded: str) -> Iterator[str]:
    """Plural of a singular name and the reverse, of the last word."""
    head, _, last = folded.rpartition(" ")
    prefix = f"{head} " if head else ""
    if not last.isalpha() or len(last) < 3:
        return
    if last in _IRREGULAR:
        yield f"{prefix}{_IRREGULAR[last]}"
    elif last.endswith("y") and last[-2] not in "aeiou":
        yield f"{prefix}{last[:-1]}ies"
    elif last.endswith(("x", "ch", "sh")):
        yield f"{prefix}{last}es"
    elif last.endswith("is"):
        yield f"{prefix}{last[:-2]}es"
    elif not last.endswith("s"):
        yield f"{prefix}{last}s"
    if last.endswith("ies") and len(last) > 5:
        yield f"{prefix}{last[:-3]}y"
    elif last.endswith("s") and not last.endswith(("ss", "us", "is", "ies")) and len(last) > 4:
        yield f"{prefix}{last[:-1]}"
