"""Tables of molecule names with their known structure, and what an offline reference made of the same names."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

#: Columns of name and structure in the tables of Therapeutics Data Commons, of B3DB and of the OPSIN suite.
_COLUMNS = (("Drug_ID", "Drug"), ("ID", "X"), ("compound_name", "SMILES"), ("name", "inchi"))
#: Steps of the reference that use the same sources as the cascade here.
_REFERENCE_STEP = "+ChEBI"


class NamedStructure(NamedTuple):
    """A name and its structure, as SMILES or as an InChI."""

    name: str
    structure: str


class Reference(NamedTuple):
    """How many names of a table the reference resolved, with the same InChIKey, with the same first block."""

    resolved: int
    exact: int
    skeleton: int


def named_structures(path: Path, limit: int | None = None, name_column: str | None = None) -> list[NamedStructure]:
    """The first ``limit`` rows with a name and a structure.

    ``name_column`` reads another column as the name. Rows with a ``status`` other than ok (the OPSIN suite lists names
    that are ambiguous or no names at all) are left out. Raises ``SystemExit`` when no known columns are there.
    """
    found = []
    for row in _rows(path):
        known = next(((name, structure) for name, structure in _COLUMNS if {name, structure} <= row.keys()), None)
        if known is None or (name_column or known[0]) not in row:
            raise SystemExit(f"{path}: no columns of a name and a structure; it has {', '.join(sorted(row))}")
        name, structure = row[name_column or known[0]].strip(' "'), row[known[1]].strip(' "')
        if name and structure and row.get("status", "ok") == "ok":
            found.append(NamedStructure(name, structure))
        if limit is not None and len(found) == limit:
            break
    return found


def references(path: Path) -> dict[str, Reference]:
    """Per table, the reference after OPSIN, DrugBank and ChEBI."""
    steps = {table: {str(name): counts for name, *counts in found["cascade"]} for table, found in _read(path).items()}
    return {table: Reference(*found[_REFERENCE_STEP]) for table, found in steps.items() if _REFERENCE_STEP in found}


def table_name(path: Path) -> str:
    """The file's name without its endings, as the reference calls the table."""
    return path.name.partition(".")[0]


def _read(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text(encoding="utf-8"))
    return {table: values for table, values in found.items() if isinstance(values, dict) and "cascade" in values}


def _rows(path: Path) -> Iterator[dict[str, str]]:
    text = (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8", newline="")
    with text as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            yield {key: value or "" for key, value in row.items() if key is not None}
