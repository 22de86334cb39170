"""Journalled model work: outcomes are stored as they come, progress is told, a stop loses nothing that was paid."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from starling_assets.artifacts.journal import Journal, Outcome, Tally
from starling_assets.inference.calls import FailureKind, ModelFailure, Usage
from starling_assets.inference.engine import run_blocking, run_units
from starling_assets.inference.stopping import Stop

#: Connection failures in a row, each after its own retries, from which the endpoint counts as gone.
GONE_AFTER = 3


class HasUnit(Protocol):
    """Anything that is paid for as one journal unit."""

    @property
    def unit(self) -> str:
        """Its key in the journal."""
        ...


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a partition is. ``usage`` counts this run only."""

    done: int
    planned: int
    failed: int
    usage: Usage


type OnProgress = Callable[[Progress], None]


@dataclass
class _Writer:
    journal: Journal
    planned: int
    done: int
    batch: int
    on_progress: OnProgress | None
    failed: int = 0
    in_a_row: int = 0
    usage: Usage = field(default_factory=Usage)
    waiting: list[Outcome] = field(default_factory=list)

    def add(self, outcome: Outcome, usage: Usage) -> None:
        self.waiting.append(outcome)
        self.usage += usage
        self.done += 1
        self.failed += outcome.status == "failed"
        if len(self.waiting) >= self.batch:
            self.flush()
        if self.on_progress is not None:
            self.on_progress(Progress(self.done, self.planned, self.failed, self.usage))

    def flush(self) -> None:
        self.journal.record(self.waiting)
        self.waiting.clear()


def run_journalled[U: HasUnit](
    units: Sequence[U],
    work: Callable[[U], Awaitable[tuple[Outcome, Usage]]],
    journal: Journal,
    in_flight: int,
    on_progress: OnProgress | None = None,
    stop: Stop | None = None,
) -> Tally:
    """Plan ``units`` in ``journal``, do those without an outcome, and store each outcome as it comes.

    Units with equal keys are done once. A failure that ends one unit is stored as ``failed(kind)``; a fatal one (wrong
    key, quota, budget, stop) is raised as :class:`ModelFailure` after everything paid for has been stored, and so is
    the last of many connection failures in a row: the endpoint is gone. With one call in flight each outcome is on
    disk before the next call starts; only above 64 calls in flight a few of them wait for each other.
    """
    by_key = {unit.unit: unit for unit in units}
    journal.plan(list(by_key))
    missing = journal.missing()
    writer = _Writer(journal, len(by_key), len(by_key) - len(missing), in_flight // 64 + 1, on_progress)
    if on_progress is not None:
        on_progress(Progress(writer.done, writer.planned, 0, Usage()))

    def done(_: U, result: tuple[Outcome, Usage]) -> None:
        writer.in_a_row = 0
        writer.add(*result)

    def failed(unit: U, failure: ModelFailure) -> None:
        writer.in_a_row += failure.kind is FailureKind.CONNECTION
        writer.add(failed_outcome(unit.unit, failure, failure.usage), failure.usage)
        if writer.in_a_row >= max(GONE_AFTER, in_flight):
            raise failure

    try:
        run_blocking(
            run_units(
                [by_key[key] for key in missing],
                work,
                in_flight,
                done,
                failed,
                stop or Stop(),
            )
        )
    finally:
        writer.flush()
    return journal.tally()


def failed_outcome(unit: str, failure: ModelFailure, usage: Usage) -> Outcome:
    """The outcome of a unit that ended without a value; the reason is its class, the payload its message."""
    return Outcome(
        unit=unit,
        status="failed",
        reason=failure.kind.value,
        payload={"message": failure.message[:500]},
        usage=usage.as_dict(),
    )
