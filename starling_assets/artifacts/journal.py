"""Journal of costly units of work: planned once, answered in append-only part files, resumable anywhere.

``plan.json`` lists the units in order. Each flush writes one new part file through a rename, so a part is whole
or absent; it still carries its own checksum, since a copy or a bad disk can tear it (F2). Of the outcomes of a unit
the first one that is not ``failed`` counts: running a partition again pays only for units without one.
"""

from __future__ import annotations

import os
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict

from .files import StoreError, write_bytes
from .keys import sha256_hex

#: Parts from which a new plan first merges them: a folder with a file per outcome is slow to list.
_PARTS_TO_MERGE = 512

Status = Literal["ok", "empty", "failed"]


class Outcome(BaseModel):
    """How one unit of work ended."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    unit: str
    status: Status
    reason: str | None = None
    payload: Any = None
    usage: dict[str, float] = {}

    def counts_as_done(self) -> bool:
        """A failed unit is retried by the next run; the others never are."""
        return self.status != "failed"


class TornPart(BaseModel):
    """A part file that was set aside because its bytes do not match its checksum."""

    path: str
    reason: str


class Tally(BaseModel):
    """Counts of a journal; ``planned`` always equals the sum of the rest."""

    planned: int
    ok: int
    empty: int
    failed: int
    pending: int
    reasons: dict[str, int] = {}

    @property
    def complete(self) -> bool:
        """Every planned unit ended."""
        return self.pending == 0


class Journal:
    """The journal in one folder. One writer at a time (see ``locks.partition_lock``); any number of readers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._writer = f"{os.getpid():08d}-{uuid.uuid4().hex[:8]}"
        self._sequence = self._next_sequence()
        self.torn: list[TornPart] = []

    def plan(self, units: Sequence[str]) -> None:
        """State the units of this partition, in order. Replaces an earlier plan; outcomes are kept by unit."""
        if len(set(units)) != len(units):
            raise StoreError(f"{self.folder}: the plan names a unit twice")
        self._merge_parts()
        write_bytes(self.folder / "plan.json", orjson.dumps(list(units)))

    def planned(self) -> list[str]:
        """The units of the current plan; empty when nothing was planned."""
        path = self.folder / "plan.json"
        return list(orjson.loads(path.read_bytes())) if path.is_file() else []

    def record(self, outcomes: Iterable[Outcome]) -> None:
        """Append outcomes as one new part file; on return they are on disk."""
        lines = [orjson.dumps(outcome.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS) for outcome in outcomes]
        if not lines:
            return
        body = b"\n".join(lines) + b"\n"
        footer = orjson.dumps({"sha256": sha256_hex(body), "lines": len(lines)}) + b"\n"
        write_bytes(self.folder / f"part-{self._sequence:08d}-{self._writer}.jsonl", body + footer)
        self._sequence += 1

    def outcomes(self) -> dict[str, Outcome]:
        """The outcome that counts, per unit, over all parts. Torn parts go to ``torn/``."""
        found: dict[str, Outcome] = {}
        for path in sorted(self.folder.glob("part-*.jsonl")):
            for outcome in self._read_part(path):
                earlier = found.get(outcome.unit)
                if earlier is None or not earlier.counts_as_done():
                    found[outcome.unit] = outcome
        return found

    def missing(self) -> list[str]:
        """Planned units that still have to be done (never tried, or failed), in plan order."""
        done = {unit for unit, outcome in self.outcomes().items() if outcome.counts_as_done()}
        return [unit for unit in self.planned() if unit not in done]

    def tally(self) -> Tally:
        """Counts over the current plan."""
        planned, outcomes = self.planned(), self.outcomes()
        statuses = Counter(outcomes[unit].status if unit in outcomes else "pending" for unit in planned)
        reasons = Counter(
            outcomes[unit].reason or "unknown"
            for unit in planned
            if unit in outcomes and outcomes[unit].status == "failed"
        )
        return Tally(
            planned=len(planned),
            ok=statuses["ok"],
            empty=statuses["empty"],
            failed=statuses["failed"],
            pending=statuses["pending"],
            reasons=dict(sorted(reasons.items())),
        )

    def _merge_parts(self) -> None:
        """Write the outcomes that count as one part, then drop the parts it replaces. A crash between leaves both,
        which say the same."""
        parts = sorted(self.folder.glob("part-*.jsonl"))
        if len(parts) < _PARTS_TO_MERGE:
            return
        self.record(self.outcomes().values())
        for part in parts:
            part.unlink(missing_ok=True)

    def _next_sequence(self) -> int:
        numbers = [int(path.name.split("-")[1]) for path in self.folder.glob("part-*.jsonl")]
        return max(numbers, default=-1) + 1

    def _read_part(self, path: Path) -> list[Outcome]:
        raw = path.read_bytes()
        try:
            body, _, tail = raw.rstrip(b"\n").rpartition(b"\n")
            footer = orjson.loads(tail)
            body += b"\n"
            if footer.get("sha256") != sha256_hex(body):
                raise ValueError("checksum differs")
            return [Outcome.model_validate(orjson.loads(line)) for line in body.splitlines()]
        except (ValueError, AttributeError) as error:
            self._set_aside(path, str(error))
            return []

    def _set_aside(self, path: Path, reason: str) -> None:
        target = self.folder / "torn" / path.name
        target.parent.mkdir(exist_ok=True)
        os.replace(path, target)
        self.torn.append(TornPart(path=str(target), reason=reason))
