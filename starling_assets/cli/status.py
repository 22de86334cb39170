"""`starling status`: shards × stages × tasks, units by outcome, files set aside."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import orjson
import polars as pl
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from starling_assets.artifacts.journal import Journal, Tally
from starling_assets.tagging.engines import model_role

from .project import Project

#: Corpus assets in order, with the table that shows each is done.
STAGES = (
    ("citations", "data"),
    ("ocr_markdown", "engine"),
    ("papers", "data"),
    ("chunks", "data"),
    ("chunk_embeddings", "data"),
    ("tag_shards", "data"),
    ("ontology_links", "data"),
    ("entity_bitmaps", "data"),
)
#: Journalled assets of a task.
PAID = ("raw_extractions", "judgments")


@dataclass(frozen=True)
class Cell:
    """A place where work is missing or failed: a shard's corpus stage (task None) or one task over one shard."""

    shard: str
    task: str | None
    asset: str
    problem: str


@dataclass(frozen=True)
class Paid:
    """Units of one journalled asset: of one task over one shard, or of a shard's tagging by a model (task None)."""

    task: str | None
    shard: str
    asset: str
    tally: Tally


def failed_cells(project: Project) -> list[Cell]:
    """Everything that is missing or failed, by shard and task; one cell per task and shard."""
    cells = [
        Cell(shard, None, asset, "not made")
        for shard in project.book.keys()
        for asset, table in STAGES
        if not project.store.exists(asset, shard, table=table)
    ]
    seen: set[tuple[str, str | None]] = set()
    for paid in paid_units(project):
        if paid.tally.failed or paid.tally.pending:
            reasons = ", ".join(f"{reason}: {count}" for reason, count in paid.tally.reasons.items())
            cells.append(Cell(paid.shard, paid.task, paid.asset, reasons or f"{paid.tally.pending} pending"))
    unique = []
    for cell in cells:
        if (cell.shard, cell.task) not in seen:
            seen.add((cell.shard, cell.task))
            unique.append(cell)
    return unique


def paid_units(project: Project) -> list[Paid]:
    """Tallies of every journal of the project."""
    found = []
    if model_role(project.settings) is not None:
        for shard in project.book.keys():
            plan = project.store.folder("tag_shards", shard) / "journal" / "plan.json"
            if plan.is_file():
                found.append(Paid(None, shard, "tag_shards", Journal(plan.parent).tally()))
    for asset in PAID:
        folder = project.store.folder(asset)
        for plan in sorted(folder.glob("*/*/journal/plan.json")):
            task, shard = plan.parts[-4], plan.parts[-3]
            found.append(Paid(task, shard, asset, Journal(plan.parent).tally()))
    return found


def show_status(*, as_json: bool) -> None:
    """Print the state of the project."""
    project = Project()
    shards, paid = project.book.keys(), paid_units(project)
    aside = files_set_aside(project)
    if as_json:
        state = {
            "shards": {shard: stages_of(project, shard) for shard in shards},
            "units": [{**asdict(item), "tally": item.tally.model_dump()} for item in paid],
            "set_aside": aside.to_dicts(),
            "missing": [asdict(cell) for cell in failed_cells(project)],
        }
        print(orjson.dumps(state, option=orjson.OPT_INDENT_2).decode())
        return
    console = Console()
    if not shards:
        console.print("no papers yet: `starling demo`, or `starling add PATH…`")
        return
    console.print(_corpus_table(project, shards))
    if paid:
        console.print(_units_table(paid))
    if aside.height:
        console.print(_aside_table(aside))
    gaps = failed_cells(project)
    if gaps:
        for cell in gaps:
            console.print(
                f"{cell.shard} {cell.task or ''} {cell.asset}: {cell.problem}", style="yellow", highlight=False
            )
        console.print("`starling retry` runs these again and pays for nothing else")
    else:
        console.print("every planned unit is accounted for")


def stages_of(project: Project, shard: str) -> dict[str, int | None]:
    """Rows of each corpus table of a shard; None where it is not made."""
    rows: dict[str, int | None] = {}
    for asset, table in STAGES:
        made = project.store.exists(asset, shard, table=table)
        path = project.store.path(asset, shard, table=table)
        rows[asset] = int(pl.scan_parquet(path).select(pl.len()).collect().item()) if made else None
    return rows


def files_set_aside(project: Project) -> pl.DataFrame:
    """Files that could not be used, with the reason."""
    frames = [
        project.store.read("papers", shard, table="files").with_columns(pl.lit(shard).alias("shard"))
        for shard in project.book.keys()
        if project.store.exists("papers", shard, table="files")
    ]
    if not frames:
        return pl.DataFrame(schema={"shard": pl.String, "file": pl.String, "kind": pl.String, "reason": pl.String})
    return pl.concat(frames).filter(pl.col("status") == "set_aside").select("shard", "file", "kind", "reason")


def _corpus_table(project: Project, shards: list[str]) -> Table:
    table = Table("shard", *(asset for asset, _ in STAGES), title="Shards × stages (rows)")
    for shard in shards:
        rows = stages_of(project, shard)
        table.add_row(shard, *("[yellow]missing[/]" if n is None else f"{n:,}" for n in rows.values()))
    return table


def _units_table(paid: list[Paid]) -> Table:
    table = Table("task", "shard", "asset", "planned", "ok", "empty", "failed", "pending", title="Units of paid work")
    for item in paid:
        tally = item.tally
        style = "yellow" if tally.failed or tally.pending else None
        numbers = (str(n) for n in (tally.planned, tally.ok, tally.empty, tally.failed, tally.pending))
        table.add_row(item.task or "", item.shard, item.asset, *numbers, style=style)
    return table


def _aside_table(aside: pl.DataFrame) -> Table:
    table = Table("shard", "file", "kind", "reason", title="Files set aside")
    for row in aside.iter_rows():
        table.add_row(*(escape(str(value or "")) for value in row))
    return table
