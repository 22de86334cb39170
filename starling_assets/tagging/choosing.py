"""Chooses type and concepts of a mention among the lexicon rows that fit it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from starling_assets.ontology.folding import spell
from starling_assets.tagging.context import (
    SpeciesMention,
    gene_rather_than_protein,
    has_cell_cue,
    has_gene_cue,
    species_of,
)
from starling_assets.tagging.vocabulary import Entry

#: Of several types a written form can have, the earlier one is read, unless the words around say otherwise.
TYPE_ORDER = [
    "Assay/Result", "SmallMolecule", "Peptide", "Antibody", "Disease", "Phenotype", "Protein", "Gene", "RNA",
    "CellType", "CellLine", "Anatomy", "Protein/GeneFamily", "SmallMoleculeClass", "GOTerm", "Organism", "Pathway",
    "ClinicalTrial", "GeneVariant",
]  # fmt: skip
_TYPE_RANK = {name: rank for rank, name in enumerate(TYPE_ORDER)}
#: Vocabularies of one type, most wanted first: the canonical name and the hierarchy come from them.
_SOURCE_ORDER = {
    name: rank
    for rank, name in enumerate(
        ["STARLING", "CHEBI", "UBERON", "CL", "MONDO", "HGNC", "UniProt", "NCBITaxon", "GO", "Cellosaurus", "FPLX",
         "hgnc.genegroup", "DrugBank", "NCBIGene", "MGI", "RGD", "DOID", "HP", "Reactome", "MESH", "EFO"]
    )
}  # fmt: skip
HUMAN = "NCBITaxon:9606"
_WEAK = 3
_CONTEXT_TYPES = {"Gene", "Protein", "RNA", "CellLine"}
#: "SMA" in "α-SMA" or "T" in "N-T": the letter before the dash belongs to the name.
_PART_OF_A_CODE = re.compile(r"(?:^|[^\w])[\w][-\u2010\u2011\u2013]$")


@dataclass(frozen=True)
class Choice:
    """What a mention is. ``organism`` is None when the paper does not tell; then the concepts of all species stay."""

    entity_type: str
    canonical: str
    concept_ids: tuple[str, ...]
    organism: str | None
    synonyms: tuple[str, ...] = ()
    alias: str | None = None
    resolved_name: str | None = None


def source_rank(concept_id: str) -> int:
    """Place of the concept's vocabulary among those of its type."""
    return _SOURCE_ORDER.get(concept_id.rpartition(":")[0], len(_SOURCE_ORDER))


def believable(entry: Entry, text: str, start: int, end: int) -> bool:
    """Whether a short code may be read as this entry without or with the words around it."""
    if entry.entity_type not in _CONTEXT_TYPES and end - start > 6:
        return True
    letters = spell(text[start:end])
    if len(letters) <= 4 and letters.isupper() and _PART_OF_A_CODE.search(text, max(0, start - 3), start):
        return False
    has_digit = any(char.isdigit() for char in letters)
    if entry.entity_type == "CellLine" and (len(letters) <= 4 or not has_digit):
        return has_cell_cue(text, start, end)
    if entry.entity_type in {"Gene", "Protein", "RNA"} and entry.rank >= 2 and len(letters) <= 3 and not has_digit:
        return has_gene_cue(text, start, end)
    return True


def needs_context(entries: Sequence[Entry], surface: str) -> bool:
    """Whether the words around a mention can change what it is read as."""
    if len(surface) <= 6:
        letters = spell(surface)
        if len(letters) <= 4 and letters.isupper():
            return True
    return any(entry.entity_type in _CONTEXT_TYPES or entry.organism for entry in entries)


def choose(
    entries: Sequence[Entry],
    text: str,
    start: int,
    end: int,
    species: Sequence[SpeciesMention],
    in_paper: Counter[str],
    *,
    sure: bool = False,
) -> Choice | None:
    """The reading of a mention, or None when no row is believable there. ``sure``: something else vouches for it."""
    usable = [entry for entry in entries if sure or believable(entry, text, start, end)]
    if not usable:
        return None
    entity_type = _choose_type(usable, text, start, end)
    rows = [entry for entry in usable if entry.entity_type == entity_type]
    organism: str | None = None
    taxa = {entry.organism for entry in rows if entry.organism}
    if taxa:
        organism = species_of(start, species, in_paper, taxa)
        if organism is not None:
            rows = [entry for entry in rows if entry.organism in {organism, None}]
    if entity_type != "SmallMolecule":
        # An own name beats another concept's loose synonym; equals all stay, for the linker to decide and to report.
        # Of molecules all stay: their structures tell them apart. Genes are compared within their species.
        best: dict[str | None, int] = {}
        for entry in rows:
            best[entry.organism] = min(best.get(entry.organism, 9), entry.rank)
        rows = [entry for entry in rows if entry.rank == best[entry.organism] or entry.rank < _WEAK]
    rows.sort(
        key=lambda entry: (
            bool(taxa) and entry.organism != HUMAN,
            entry.rank >= _WEAK,
            source_rank(entry.concept_id),
            entry.rank,
            entry.concept_id,
        )
    )
    return Choice(
        entity_type,
        rows[0].preferred,
        tuple(dict.fromkeys(entry.concept_id for entry in rows)),
        organism,
        tuple(sorted({entry.preferred for entry in rows[1:]} - {rows[0].preferred})),
    )


def _choose_type(entries: Sequence[Entry], text: str, start: int, end: int) -> str:
    strongest: dict[str, int] = {}
    for entry in entries:
        strongest[entry.entity_type] = min(strongest.get(entry.entity_type, 9), entry.rank)
    if "CellLine" in strongest and len(strongest) > 1 and has_cell_cue(text, start, end):
        return "CellLine"
    if {"Gene", "Protein"} <= strongest.keys() and not strongest.keys() - {"Gene", "Protein"}:
        return "Gene" if gene_rather_than_protein(text, start, end) else "Protein"
    ranked = sorted(strongest, key=lambda kind: (strongest[kind] >= _WEAK, _TYPE_RANK[kind]))
    if ranked[0] == "Protein" and "Gene" in strongest and gene_rather_than_protein(text, start, end):
        return "Gene"
    return ranked[0]
