"""Progress of long work: stages report, whoever watches listens (a terminal bar, a run's log, nobody)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_LOG_EVERY_SECONDS = 15.0


@dataclass(frozen=True)
class Progress:
    """Where a stage stands. ``total`` is None while unknown; ``facts`` are small numbers worth showing (tokens)."""

    stage: str
    done: int
    total: int | None = None
    facts: dict[str, float] = field(default_factory=dict)


Listener = Callable[[Progress], None]
_listeners: list[Listener] = []
_last_logged: dict[str, float] = {}


def report(stage: str, done: int, total: int | None = None, **facts: float) -> None:
    """Tell the listeners; without any, write a log line at most every 15 seconds and at the end."""
    progress = Progress(stage, done, total, facts)
    if _listeners:
        for listener in tuple(_listeners):
            listener(progress)
        return
    now = time.monotonic()
    if done == total or now - _last_logged.get(stage, 0.0) >= _LOG_EVERY_SECONDS:
        _last_logged[stage] = now
        logging.getLogger("starling").info("%s: %s of %s %s", stage, done, "?" if total is None else total, facts or "")


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Send all reports of this process to ``listener`` while the block runs."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
