"""What came out of a task, on one screen: kept records, rejections by axis, cost and time, where the files are."""

from __future__ import annotations

import polars as pl
from rich.console import Console
from rich.table import Table

from starling_assets.extraction.tables import AXES

from .project import Project

_SHOWN = 30


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
    table = Table(title=title)
    for name, width in (("entity", 22), ("SMILES", 26), ("label", 14), ("value", 12), ("quote", 60), ("PMID", 9)):
        table.add_column(name, max_width=width, overflow="ellipsis", no_wrap=name != "quote")
    for row in frame.head(limit).iter_rows(named=True):
        value = " ".join(filter(None, (row["value_text"], row["unit_text"])))
        quote = row["evidence"][0]["quote"] if row["evidence"] else ""
        cells = (row["entity"], row["smiles"], row["label"], value, quote, row["pmid"])
        table.add_row(*(str(cell or "") for cell in cells))
    return table


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
