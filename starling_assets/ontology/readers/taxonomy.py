"""NCBI Taxonomy: names.dmp, nodes.dmp, merged.dmp and an optional table of newer names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from starling_assets.ontology.readers.opening import lines, need, tab_rows
from starling_assets.ontology.rows import Rows

_KINDS = {
    "scientific name": "preferred",
    "synonym": "exact",
    "equivalent name": "exact",
    "genbank common name": "exact",
    "common name": "exact",
    "blast name": "related",
    "acronym": "related",
    "genbank acronym": "related",
    "misspelling": "related",
    "genbank synonym": "exact",
    "anamorph": "exact",
    "teleomorph": "exact",
}
#: Words of prose that mean a species; no release lists them.
_PROSE = {
    "9606": ("patient", "human"),
    "10090": ("mouse", "mice"),
    "10116": ("rat", "rats"),
    "4932": ("budding yeast",),
}


def read(rows: Rows, files: dict[str, Path]) -> None:
    """``names`` and ``nodes`` are needed; ``merged`` and ``update`` are optional."""
    names: dict[str, list[tuple[str, str]]] = {}
    for taxon, name, _, name_class in _dmp(files["names"], 4):
        names.setdefault(taxon, []).append((name, name_class))
    for taxon, parent, *_ in _dmp(files["nodes"], 3):
        _add(rows, taxon, parent, names.get(taxon, []))
    if "update" in files:
        _read_update(rows, files["update"])
    if "merged" in files:
        for old, new in _dmp(files["merged"], 2):
            rows.replaced(f"NCBITaxon:{old}", f"NCBITaxon:{new}")


def _add(rows: Rows, taxon: str, parent: str, names: list[tuple[str, str]]) -> None:
    concept_id = f"NCBITaxon:{taxon}"
    scientific = next((name for name, name_class in names if name_class == "scientific name"), "")
    rows.concept(concept_id, "" if scientific in {"root", "cellular organisms"} else "Organism", scientific)
    for name, name_class in names:
        if name_class in _KINDS and name != scientific:
            rows.name(concept_id, name, _KINDS[name_class])
    rows.names(concept_id, _PROSE.get(taxon, ()), "preferred")
    rows.edge(concept_id, f"NCBITaxon:{parent}")


def _read_update(rows: Rows, path: Path) -> None:
    for row in tab_rows(path):
        need(path, row, "taxid", "scientific_name", "common_name", "parent")
        concept_id = f"NCBITaxon:{row['taxid']}"
        if not rows.has(concept_id):
            rows.concept(concept_id, "Organism", row["scientific_name"])
            rows.edge(concept_id, f"NCBITaxon:{row['parent']}")
        else:
            rows.name(concept_id, row["scientific_name"])
        rows.name(concept_id, row["common_name"])


def _dmp(path: Path, fields: int) -> Iterator[list[str]]:
    for line in lines(path):
        values = line.removesuffix("\t|").split("\t|\t")
        if len(values) >= fields:
            yield values[:fields]
