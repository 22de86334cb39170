"""`starling licences`: papers by licence class, the words that say so, and what each class permits."""

from __future__ import annotations

from dataclasses import asdict

import orjson
import polars as pl
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from resources.project import ProjectResource
from starling_assets.literature.licence_table import LicenceRow, licence_rows
from starling_assets.literature.tables import FILES, PAPERS

from .project import Project

_EVIDENCE = 100
_COLUMNS = ["paper_id", "licence", "licence_evidence"]


def show_licences(*, as_json: bool) -> None:
    """Print one row per licence class over all shards that have been read."""
    project = Project()
    rows = licence_rows(*_corpus(project), project.settings.literature.licences)
    if as_json:
        print(orjson.dumps([asdict(row) for row in rows], option=orjson.OPT_INDENT_2).decode())
        return
    console = Console()
    console.print(_table(rows))
    console.print(
        "literature.licences in starling.toml says which classes are read; a change holds for shards read after it. "
        "Short quotations: records carry the quoted words and the class, look at the terms before passing more on."
    )


def _corpus(project: Project) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Papers that stand and files, of all shards that have been read."""
    store = project.store
    current = ProjectResource(root=str(project.root)).standing().filter("current").select("shard", "paper_ordinal")
    papers, files = [pl.DataFrame(schema={name: PAPERS[name] for name in _COLUMNS})], [pl.DataFrame(schema=FILES)]
    for shard in project.book.in_order():
        if store.exists("papers", shard):
            stands = current.filter(pl.col("shard") == shard).select("paper_ordinal")
            stored = store.read("papers", shard, columns=["paper_ordinal", *_COLUMNS])
            papers.append(stored.join(stands, on="paper_ordinal", how="semi").select(_COLUMNS))
            files.append(store.read("papers", shard, table="files"))
    return pl.concat(papers), pl.concat(files)


def _table(rows: list[LicenceRow]) -> Table:
    table = Table("licence", "papers", "set aside", "read", "hand on", "evidence, for example", title="Licences")
    for row in rows:
        evidence = f"{row.example}: {(row.evidence or '')[:_EVIDENCE]}" if row.example else ""
        table.add_row(
            row.licence,
            str(row.papers),
            str(row.set_aside),
            "yes" if row.ingest else "no",
            "whole text" if row.redistribute else "short quotations",
            escape(evidence),
            style=None if row.papers or row.set_aside else "dim",
        )
    return table
