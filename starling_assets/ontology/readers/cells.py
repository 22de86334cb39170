"""Cell lines: Cellosaurus' own flat file, or tables of its names and synonyms.

Flat file: https://www.cellosaurus.org/ (lines ID, AC, SY, OX, HI; a record ends with ``//``).
"""

from __future__ import annotations

from pathlib import Path

from starling_assets.ontology.readers.opening import lines, need, tab_rows
from starling_assets.ontology.rows import Rows

_SPECIES = {"Homo sapiens": "NCBITaxon:9606", "Mus musculus": "NCBITaxon:10090", "Rattus norvegicus": "NCBITaxon:10116"}


def read(rows: Rows, files: dict[str, Path]) -> None:
    """``flat``, or ``labels`` (id, label) with optional ``synonyms`` (name, id, species)."""
    if "flat" in files:
        _read_flat(rows, files["flat"])
        return
    organisms: dict[str, str] = {}
    synonyms: dict[str, list[str]] = {}
    if "synonyms" in files:
        for line in lines(files["synonyms"]):
            name, accession, species = [*line.split("\t"), "", ""][:3]
            synonyms.setdefault(accession, []).append(name)
            organisms.setdefault(accession, _SPECIES.get(species, ""))
    path = files["labels"]
    for row in tab_rows(path):
        need(path, row, "id", "label")
        concept_id = curie(row["id"])
        rows.concept(concept_id, "CellLine", row["label"], organism=organisms.get(row["id"]) or None)
        rows.names(concept_id, synonyms.get(row["id"], []), "related")


def curie(accession: str) -> str:
    """``CVCL_0004`` as ``Cellosaurus:CVCL_0004``."""
    return f"Cellosaurus:{accession}"


def _read_flat(rows: Rows, path: Path) -> None:
    record: dict[str, list[str]] = {}
    for line in lines(path):
        if line == "//":
            _add_record(rows, record)
            record = {}
        elif len(line) > 5 and line[2:5] == "   ":
            record.setdefault(line[:2], []).append(line[5:])


def _add_record(rows: Rows, record: dict[str, list[str]]) -> None:
    if "AC" not in record or "ID" not in record:
        return
    concept_id = curie(record["AC"][0])
    taxa = [value.partition("NCBI_TaxID=")[2].partition(";")[0] for value in record.get("OX", [])]
    rows.concept(concept_id, "CellLine", record["ID"][0], organism=f"NCBITaxon:{taxa[0]}" if len(taxa) == 1 else None)
    for value in record.get("SY", []):
        rows.names(concept_id, value.split("; "), "related")
    for value in record.get("AS", []):
        for old in value.split("; "):
            rows.replaced(curie(old), concept_id)
    for value in record.get("HI", []):
        rows.edge(concept_id, curie(value.split(" ")[0]))
