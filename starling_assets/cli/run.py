"""`starling run`, `backfill` and `retry`."""

from __future__ import annotations

from collections.abc import Sequence

from resources.endpoints import check_endpoint

from .bars import bars, terminal
from .errors import UserError
from .instance import open_instance
from .pipeline import Pipeline, StageFailed
from .project import Project
from .status import failed_cells
from .summary import print_summary


def run_task(task: str, shards: Sequence[str] | None, *, backfill: bool = False) -> None:
    """Run ``task`` over its shards. With ``backfill`` only extraction and judging run, over all shards."""
    project, console = Project(), terminal()
    project.check_task(task)
    known = project.book.keys()
    unknown = sorted(set(shards or ()) - set(known))
    if unknown:
        raise UserError(f"there is no shard {', '.join(unknown)}. Shards: {', '.join(known) or 'none yet'}")
    if not known:
        raise UserError("there are no papers yet: add some with `starling add PATH…`")
    ensure_endpoint(project)
    with open_instance(project.settings) as instance, bars(console):
        pipeline = Pipeline(project.settings, instance)
        try:
            if backfill:
                for key in known:
                    pipeline.extract(task, key)
                pipeline.dataset(task)
            else:
                pipeline.task(task, shards)
        except StageFailed as error:
            raise UserError(f"{error}. What was finished is kept; `starling status` lists the rest") from None
    print_summary(project, task, console)


def retry_failed(task: str | None) -> None:
    """Run again the cells and shards with failed or missing units."""
    project, console = Project(), terminal()
    cells = [cell for cell in failed_cells(project) if task is None or cell.task in {task, None}]
    if not cells:
        console.print("nothing failed; nothing to retry")
        return
    ensure_endpoint(project)
    failures = []
    with open_instance(project.settings) as instance, bars(console):
        pipeline = Pipeline(project.settings, instance)
        for cell in cells:
            try:
                if cell.task is None:
                    pipeline.corpus(cell.shard, again=True)
                else:
                    pipeline.extract(cell.task, cell.shard)
            except StageFailed as error:
                failures.append(str(error))
        for name in sorted({cell.task for cell in cells if cell.task is not None}):
            pipeline.dataset(name)
    if failures:
        raise UserError("; ".join(failures))
    console.print(f"retried {len(cells)}; all done")


def ensure_endpoint(project: Project) -> None:
    """Refuse before any work when a configured endpoint cannot answer."""
    state = check_endpoint(project.settings)
    if not state.ok:
        raise UserError(state.message)
