"""What came out of a task, on one screen: kept records, rejections by axis, cost and time, where the files are."""

from __future__ import annotations

import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

from starling_assets.extraction.tables import AXES

from .project import Project

_SHOWN = 30
_QUOTE = 160


def print_summary(project: Project, task: str, console: Console) -> None:
    """Print the dataset of ``task`` in short."""
    store = project.store
    kept = store.read("judged_dataset", task)
    judged = store.read("judged_dataset", task, table="judged")
    console.print(records_table(kept, f"{task}: {kept.height} records kept of {judged.height} judged"))
    if kept.height > _SHOWN:
        console.print(f"… and {kept.height - _SHOWN} more: `starling records {task}`")
    console.print(_rejections(judged, store.read("judged_dataset", task, table="rejected")))
    console.print(_costs(store.read("judged_dataset", task, table="costs")))
    folder = project.settings.home / "datasets" / task
    for label, name in (("Parquet", "dataset.parquet"), ("CSV", "dataset.csv"), ("data card", "datacard.md")):
        console.print(f"{label:>10}: {folder / name}", soft_wrap=True, highlight=False)


def records_table(frame: pl.DataFrame, title: str, limit: int = _SHOWN) -> Table:
    """Records as a table: compound, structure, label, value, quote, PMID."""
    table = Table(title=title, show_lines=True)
    table.add_column("compound\nSMILES", max_width=32, overflow="fold")
    table.add_column("label\nvalue", max_width=14, overflow="fold")
    table.add_column("quote", ratio=1)
    table.add_column("PMID", no_wrap=True)
    for row in frame.head(limit).iter_rows(named=True):
        printed, unit = row["value_text"] or "", row["unit_text"] or ""
        value = printed if unit in printed else f"{printed} {unit}"
        quote = row["evidence"][0]["quote"] if row["evidence"] else ""
        table.add_row(
            _two_lines(row["entity"], row["smiles"]),
            _two_lines(row["label"], value),
            Text(quote if len(quote) <= _QUOTE else quote[: _QUOTE - 1] + "…"),
            row["pmid"] or row["paper_id"].partition(":")[2],
        )
    return table


def _two_lines(first: str | None, second: str | None) -> Text:
    shown = second if second is None or len(second) <= _QUOTE else second[: _QUOTE - 1] + "…"
    return Text(first or "").append(f"\n{shown}" if shown else "", style="dim")


def _rejections(judged: pl.DataFrame, rejected: pl.DataFrame) -> Table:
    table = Table("rejected by", "records", title="Rejected")
    for axis in AXES:
        table.add_row(f"judge: {axis}", str(judged.filter(~pl.col(axis)).height))
    for reason, count in rejected.group_by("reason").len().sort("reason").iter_rows():
        table.add_row(f"before the judge: {reason}", str(count))
    return table


def _costs(costs: pl.DataFrame) -> Table:
    table = Table(
        "stage", "calls", "prompt tokens", "completion tokens", "US dollars", "seconds", title="Cost and time"
    )
    for row in costs.iter_rows(named=True):
        table.add_row(
            row["stage"],
            f"{row['calls']:,}",
            f"{row['prompt_tokens']:,}",
            f"{row['completion_tokens']:,}",
            f"{row['cost']:.4f}",
            f"{row['seconds']:,.0f}",
        )
    return table
