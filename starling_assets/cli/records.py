"""`starling records`: a task's dataset as table, JSON lines or CSV."""

from __future__ import annotations

import sys

import orjson
from rich.console import Console

from starling_assets.datasets.record_schema import record_rows

from .errors import UserError
from .project import Project
from .summary import records_table


def show_records(task: str, *, as_json: bool, as_csv: bool, rejected: bool) -> None:
    """Print the kept records, with ``rejected`` all judged ones. JSON rows follow docs/record.schema.json."""
    project = Project()
    project.check_task(task)
    if task not in project.dataset_tasks():
        raise UserError(f"{task} has no dataset yet: run `starling run {task}`")
    frame = project.store.read("judged_dataset", task, table="judged" if rejected else "data")
    if as_json:
        for row in record_rows(frame):
            sys.stdout.write(orjson.dumps(row).decode() + "\n")
    elif as_csv:
        flat = frame.drop([name for name, kind in frame.schema.items() if kind.is_nested()])
        quotes = [row[0]["quote"] if row else "" for row in frame["evidence"].to_list()]
        sys.stdout.write(flat.with_columns(quote=_series(quotes)).write_csv())
    else:
        Console().print(records_table(frame, f"{task}: {frame.height} records", limit=frame.height))


def _series(values: list[str]):  # type: ignore[no-untyped-def]
    import polars as pl

    return pl.Series("quote", values, dtype=pl.String)
