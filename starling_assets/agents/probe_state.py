"""The state of the probe loop: one JSON file per iteration, so that a loop stops, resumes and is audited."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Protocol

import orjson
from pydantic import BaseModel, ConfigDict

from starling_assets.artifacts.files import write_bytes
from starling_assets.retrieval.filterspec import FilterSpec

from .estimates import Estimate
from .planning_calls import Passage

type Ending = Literal["targets", "cap", "budget", "no_improvement", "stopped"]


class PassageSource(Protocol):
    """What the loop needs of the corpus. Passages are full windows, never titles."""

    def problems(self, spec: FilterSpec) -> str | None:
        """Why the filter cannot be used (an unknown term, an empty group), or None."""
        ...

    def keys(self, spec: FilterSpec) -> frozenset[str]:
        """Keys of all passages that the filter matches."""
        ...

    def sample(self, spec: FilterSpec, n: int, seed: int) -> list[Passage]:
        """At most ``n`` random matches of the filter; the same seed gives the same sample."""
        ...

    def search(self, query: str, n: int, spec: FilterSpec | None = None) -> list[Passage]:
        """The ``n`` passages nearest to ``query``, within the filter where one is given."""
        ...

    def outside(self, specs: list[FilterSpec], n: int) -> list[Passage]:
        """The best-ranked passage of each of the ``n`` papers that rank highest by the semantic queries of ``specs``
        among the papers that none of their filters matches."""
        ...


class _State(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MeasuredProbe(_State):
    """A probe with what is known of it. ``gain`` counts passages that no earlier probe matches."""

    name: str
    filter: FilterSpec
    matches: int
    gain: int
    precision: Estimate
    since: int  # iteration in which this version came


class LoopState(_State):
    """Everything the next iteration depends on."""

    task: str
    iteration: int
    probes: list[MeasuredProbe]
    gap: Estimate
    notes: list[str] = []
    best: int = 0  # iteration with the best score so far
    score: float = 0.0
    ended: Ending | None = None

    def describe(self) -> str:
        """The state as the proposer reads it."""
        lines = [f"Iteration {self.iteration}. Recall gap: {_shown(self.gap)}."]
        for probe in self.probes:
            spec = orjson.dumps(probe.filter.entity_groups).decode()
            lines.append(
                f"Filter {probe.name}: {spec}; query: {probe.filter.semantic_query}; {probe.matches} passages, "
                f"{probe.gain} of its own; precision {_shown(probe.precision)}."
            )
        return "\n".join([*lines, *self.notes])


def _shown(estimate: Estimate) -> str:
    if estimate.share is None or estimate.status == "insufficient":
        return f"insufficient ({estimate.judged} judged)"
    return f"{estimate.share:.0%} of {estimate.judged} ({estimate.low:.0%} to {estimate.high:.0%})"


def save_state(folder: Path, state: LoopState) -> None:
    """Write the state of its iteration; earlier iterations stay as they are."""
    write_bytes(folder / f"iteration-{state.iteration:03d}.json", state.model_dump_json(indent=1).encode() + b"\n")


def load_states(folder: Path) -> list[LoopState]:
    """All stored iterations, in order."""
    return [LoopState.model_validate_json(path.read_bytes()) for path in sorted(folder.glob("iteration-*.json"))]
