"""`starling paper ID`: the versions of one paper over all shards, which one counts and where it is used."""

from __future__ import annotations

from dataclasses import asdict

import orjson
import polars as pl
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from starling_assets.datasets.paper_use import PaperUse, paper_use
from starling_assets.literature.history import READ, find_versions, read_identifier, retraction_notices
from starling_assets.literature.tables import PAPERS
from starling_assets.literature.versions import standing

from .errors import UserError
from .project import Project

_NONE = pl.DataFrame(schema={name: PAPERS[name] for name in READ})


def show_paper(identifier: str, *, as_json: bool) -> None:
    """Print the history of the paper that ``identifier`` names. Raises UserError when no shard knows it."""
    try:
        column, value = read_identifier(identifier)
    except ValueError as error:
        raise UserError(str(error)) from None
    project = Project()
    shards = [
        (shard, project.store.read("papers", shard, columns=READ))
        for shard in project.book.in_order()
        if project.store.exists("papers", shard)
    ]
    papers = pl.concat([_named("", _NONE), *(_named(shard, frame) for shard, frame in shards)])
    versions = find_versions(column, value, papers, standing(shards))
    if versions.is_empty():
        raise UserError(f"no shard that has been read holds {identifier.strip()}: `starling status` lists the shards")
    notices = retraction_notices(versions, papers)
    uses = paper_use(project.store, list(versions.select("shard", "paper_id").iter_rows()))
    if as_json:
        state = {
            "current": next(iter(versions.filter("current").to_dicts()), None),
            "retracted": bool(versions["retracted"].any()),
            "retraction_notices": notices,
            "versions": versions.to_dicts(),
            "used_by": [asdict(use) for use in uses],
        }
        print(orjson.dumps(state, option=orjson.OPT_INDENT_2).decode())
        return
    _show(versions, notices, uses)


def _named(shard: str, papers: pl.DataFrame) -> pl.DataFrame:
    return papers.select(pl.lit(shard).alias("shard"), *READ)


def _show(versions: pl.DataFrame, notices: list[str], uses: list[PaperUse]) -> None:
    console = Console()
    current = next(versions.filter("current").iter_rows(named=True), None)
    if current is None:
        console.print("no version counts: the paper was deleted", style="yellow")
    else:
        ids = [current["paper_id"], current["pmcid"], current["doi"] and f"doi:{current['doi']}"]
        console.print(escape(current["title"] or "without a title"), style="bold", highlight=False)
        console.print(" ".join(dict.fromkeys(filter(None, ids))), highlight=False)
        words = current["licence_evidence"]
        console.print(
            f"licence {current['licence']}{': ' + escape(words) if words else ', stated nowhere'}", highlight=False
        )
    if versions["retracted"].any():
        by = f" by {', '.join('pmid:' + pmid for pmid in notices)}" if notices else ""
        console.print(f"RETRACTED{by}: its records are flagged", style="red", highlight=False)
    table = Table("shard", "id", "version", "source", "file", "paragraphs", "state", title="Stored versions")
    for row in versions.iter_rows(named=True):
        cells = (row["shard"], row["paper_id"], row["version"], row["source_kind"], row["source_file"])
        table.add_row(*map(str, cells), str(row["paragraphs"]), _state(row), style=None if row["current"] else "dim")
    console.print(table)
    if not uses:
        console.print("no task has read it")
        return
    used = Table("task", "shard", "windows", "read", "failed", "records", "judged", "kept", title="Used by")
    for use in uses:
        used.add_row(*(str(value) for value in asdict(use).values()))
    console.print(used)


def _state(row: dict[str, str | None]) -> str:
    if row["reason"] is None:
        return "counts"
    if row["reason"] == "tombstone":
        return "deletes what was stored before"
    by = f" in {row['superseded_by']}" if row["superseded_by"] and row["reason"] != "deleted" else ""
    return f"{row['reason']}{by}"
