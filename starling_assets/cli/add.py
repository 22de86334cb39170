"""`starling add`: papers by hand into a new shard, with one table of what became of each file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import orjson
import polars as pl
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .bars import bars, terminal
from .errors import UserError
from .instance import open_instance
from .pipeline import Pipeline
from .project import Project


def add_papers(paths: Sequence[Path], *, run: bool, name: str | None, as_json: bool) -> list[str]:
    """Close the new files among ``paths`` into shards and, with ``run``, materialise those up to the indexes."""
    project, console = Project(), terminal(stderr=as_json)
    files = list(_files(paths))
    if not files:
        raise UserError(
            f"no files in {', '.join(map(str, paths))}: name JATS, PDF or PubMed XML files, or folders of them"
        )
    shards = project.book.close(files, key=name)
    if not shards:
        console.print(f"all {len(files)} files are in a shard already; nothing to do")
        return []
    keys = [shard.key for shard in shards]
    console.print(f"closed {sum(len(shard.files) for shard in shards)} new files into {', '.join(keys)}")
    if run:
        with open_instance(project.settings) as instance, bars(console):
            pipeline = Pipeline(project.settings, instance)
            pipeline.vocabulary()
            for key in keys:
                pipeline.corpus(key)
        _report(project, keys, console, as_json=as_json)
    return keys


def _files(paths: Iterable[Path]) -> Iterable[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith("."))
        elif path.is_file():
            yield path
        else:
            raise UserError(f"{path} is neither a file nor a folder")


def _report(project: Project, keys: Sequence[str], console: Console, *, as_json: bool) -> None:
    frame = pl.concat([project.store.read("papers", key, table="files") for key in keys])
    if as_json:
        print(orjson.dumps(frame.drop("seconds").to_dicts(), option=orjson.OPT_INDENT_2).decode())
        return
    table = Table("file", "kind", "status", "papers", "reason", title="What became of the files")
    for row in frame.iter_rows(named=True):
        style = "yellow" if row["status"] == "set_aside" else None
        name, reason = escape(row["file"]), escape(row["reason"] or "")  # words of a stranger are no markup
        table.add_row(name, row["kind"], row["status"], str(row["papers"]), reason, style=style)
    console.print(table)
