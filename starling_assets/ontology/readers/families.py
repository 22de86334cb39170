"""Families of proteins: FamPlex tables without header (entities, grounding map, relations)."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from starling_assets.ontology.readers.opening import open_text
from starling_assets.ontology.rows import Rows


def read(rows: Rows, files: dict[str, Path]) -> None:
    """``entities``, ``names`` (text, namespace, id, …) and optional ``relations`` (ns, id, relation, ns, id)."""
    for row in _rows(files["entities"]):
        rows.concept(_curie(row[0]), "Protein/GeneFamily", row[0].replace("_", " "))
    for row in _rows(files["names"]):
        if len(row) > 2 and row[1] == "FPLX" and rows.has(_curie(row[2])):
            rows.name(_curie(row[2]), row[0])
    if "relations" in files:
        for row in _rows(files["relations"]):
            if len(row) > 4 and row[0] == row[3] == "FPLX":
                rows.edge(_curie(row[1]), _curie(row[4]), "is_a" if row[2] == "isa" else "part_of")


def _curie(identifier: str) -> str:
    return f"FPLX:{identifier}"


def _rows(path: Path) -> Iterator[list[str]]:
    with open_text(path) as text:
        for row in csv.reader(text):
            if row:
                yield row
