"""Tab-separated exports of PyOBO (identifier, name, definition, synonyms, alts, parents, species)."""

from __future__ import annotations

from pathlib import Path

from starling_assets.ontology.readers.opening import need, tab_rows
from starling_assets.ontology.rows import Rows


def fill_export(rows: Rows, path: Path, entity_type: str, prefix: str, species: str | None = None) -> None:
    """Rows of an export; with ``species`` (``ncbitaxon:9606``) only those of that organism."""
    for row in tab_rows(path):
        need(path, row, "identifier", "name", "synonyms", "parents")
        taxon = row.get("species", "") or next(
            (value for value in row["parents"].split("|") if value.startswith("ncbitaxon:")), ""
        )
        if species is not None and taxon != species:
            continue
        concept_id = f"{prefix}:{row['identifier']}"
        organism = taxon.replace("ncbitaxon:", "NCBITaxon:") or None
        rows.concept(concept_id, entity_type, row["name"], organism=organism)
        rows.names(concept_id, row["synonyms"].split("|"))
        for parent in row["parents"].split("|"):
            head, sign, tail = parent.partition(":")
            if sign and head.lower() == prefix.lower():
                rows.edge(concept_id, f"{prefix}:{tail}")
