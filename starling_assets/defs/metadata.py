"""What a person wants to see on a materialised partition: counts, a sample table, tokens and cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
import polars as pl

_CELL_CHARACTERS = 80
_SAMPLE_ROWS = 8


def sample_table(frame: pl.DataFrame, columns: Sequence[str], rows: int = _SAMPLE_ROWS) -> dg.MarkdownMetadataValue:
    """The first rows of some columns as a Markdown table; long cells are cut."""
    head = frame.select(columns).head(rows)
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(_cell(value) for value in row) + " |" for row in head.iter_rows()]
    return dg.MetadataValue.md("\n".join(lines))


def counts_table(counts: Mapping[str, int | float], name: str, value: str = "count") -> dg.MarkdownMetadataValue:
    """A two-column Markdown table, largest first, ties by name."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    lines = [f"| {name} | {value} |", "|---|---|", *(f"| {_cell(key)} | {number:g} |" for key, number in ordered)]
    return dg.MetadataValue.md("\n".join(lines))


def value_counts(frame: pl.DataFrame, column: str) -> dict[str, int]:
    """Rows per value of ``column``."""
    table = frame.group_by(column).len()
    return {str(key): int(count) for key, count in table.iter_rows()}


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= _CELL_CHARACTERS else text[: _CELL_CHARACTERS - 1] + "…"
