"""Progress bars of a terminal; plain lines where the output is no terminal."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from starling_assets.artifacts.progress import Progress as Report
from starling_assets.artifacts.progress import listen

_PLAIN_EVERY_SECONDS = 10.0


def terminal(*, stderr: bool = False) -> Console:
    """A console pinned to the process's own output, so that a redirected library does not take the bars along."""
    return Console(file=sys.stderr if stderr else sys.stdout)


@contextmanager
def bars(console: Console) -> Iterator[None]:
    """Show one bar per stage that reports, with tokens where a model works."""
    if not console.is_terminal:
        with listen(_Lines(console).show):
            yield
        return
    columns = (
        TextColumn("{task.description:<14}"),
        BarColumn(bar_width=28),
        MofNCompleteColumn(),
        TextColumn("{task.fields[facts]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=False) as progress, listen(_Bars(progress).show):
        yield


class _Bars:
    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def show(self, report: Report) -> None:
        """Move the bar of the report's stage; a stage that starts again gets a fresh bar."""
        known = self._tasks.get(report.stage)
        if known is None or self._progress.tasks[known].completed > report.done:
            known = self._progress.add_task(report.stage, total=report.total, facts="")
            self._tasks[report.stage] = known
        self._progress.update(known, completed=report.done, total=report.total, facts=facts_text(report))


class _Lines:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._last: dict[str, float] = {}
        self._started: dict[str, float] = {}

    def show(self, report: Report) -> None:
        """One line at the start, at the end, and every ten seconds between."""
        now = time.monotonic()
        started = self._started.setdefault(report.stage, now)
        if report.done != report.total and now - self._last.get(report.stage, -math.inf) < _PLAIN_EVERY_SECONDS:
            return
        self._last[report.stage] = now
        left = ""
        if report.total and 0 < report.done < report.total:
            left = f", about {(now - started) / report.done * (report.total - report.done):.0f} s left"
        self._console.print(
            f"{report.stage}: {report.done} of {report.total or '?'} {facts_text(report)}{left}", soft_wrap=True
        )


def facts_text(report: Report) -> str:
    """The report's numbers, e.g. ``12,345 tokens``."""
    return ", ".join(f"{value:,.0f} {name}" for name, value in report.facts.items())
