"""Both loops, one after the other: from a draft to probes and a schema that a person can look at and approve.

The result is ``sufficient`` only when the probe loop *and* the schema loop ended at their targets; any other end (cap,
budget, no improvement, a sample too small) is told as it is and is never a pass (F8). Nothing here approves a task.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import orjson
from pydantic import BaseModel, ConfigDict

from starling_assets.artifacts.files import write_bytes
from starling_assets.artifacts.keys import content_key
from starling_assets.inference.calls import ModelClient

from .kept_replies import KeptReplies
from .planning_calls import Passage
from .probe_loop import LoopLimits, ProbeLoop
from .probe_state import Ending, PassageSource, load_states
from .schema_loop import Round, SchemaLimits, SchemaLoop
from .tasks import Task, TaskProbe


@dataclass(frozen=True)
class InductionLimits:
    """Sizes of both loops; ``passages`` is what the schema loop reads per probe."""

    probes: LoopLimits = field(default_factory=LoopLimits)
    schema: SchemaLimits = field(default_factory=SchemaLimits)
    passages: int = 40


class Induction(BaseModel):
    """How both loops ended. ``schema_ended`` is None where no usable schema was proposed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str
    probes: list[TaskProbe]
    probes_ended: Ending
    schema_ended: str | None
    schema_digest: str | None

    @property
    def sufficient(self) -> bool:
        """Whether both loops reached their targets."""
        return self.probes_ended == "targets" and self.schema_ended == "targets"

    @property
    def cut_short(self) -> bool:
        """Whether another run may get further: a budget was spent, or no usable schema came."""
        return "budget" in (self.probes_ended, self.schema_ended) or self.schema_ended is None

    def lines(self) -> list[str]:
        """The outcome in words, a line per loop."""
        schema = "no usable schema was proposed" if self.schema_ended is None else f"ended: {self.schema_ended}"
        return [f"probes: {len(self.probes)}, ended: {self.probes_ended}", f"schema: {schema}"]


def induce(
    task: Task, source: PassageSource, client: ModelClient, home: Path, limits: InductionLimits | None = None
) -> Induction:
    """Run both loops over ``source`` and write ``probes.json`` and ``schema.yaml`` of the task's folder.

    ``home`` keeps the start, the states and the answers of one sentence with its targets: a killed run goes on from its
    own start, and a finished one is told again without touching files that a person may have edited since. One that a
    spent budget cut short goes on when it is run again.
    Raises :class:`ModelFailure` for a fatal failure (quota, key), with everything paid for kept.
    """
    limits = limits or InductionLimits()
    place = state_folder(task, home)
    done = place / "outcome.json"
    if done.is_file():
        told = Induction.model_validate_json(done.read_bytes())
        if not told.cut_short:
            return told
        _reopen(place)
    task = _started(task, place / "start.json")
    kept = KeptReplies(client, place / "answers")
    loop = ProbeLoop(task, source, kept, place / "probes", limits.probes)
    state = loop.run()
    probes = loop.best_probes()
    schema = SchemaLoop(task, _passages(probes, source, limits), kept, place / "schema", limits.schema)
    best = schema.run() if probes else None
    rounds = schema.rounds()
    outcome = Induction(
        task=task.name,
        probes=probes,
        probes_ended=state.ended or "stopped",
        schema_ended=rounds[-1].ended if best is not None else None,
        schema_digest=best.digest if best is not None else None,
    )
    if probes:
        write_bytes(task.folder / "probes.json", _probe_file(probes))
    if best is not None:
        schema.freeze(task.folder)
    # Last: only now is the induction done.
    write_bytes(done, outcome.model_dump_json(indent=1).encode() + b"\n")
    return outcome


def state_folder(task: Task, home: Path) -> Path:
    """Where below ``home`` the induction of the task's sentence with its targets is kept."""
    return home / content_key(task.name, task.sentence, task.entity_types, task.targets.model_dump(mode="json"))


def _reopen(place: Path) -> None:
    """Take away the marks that a spent budget left. The steps before them are replayed from kept answers."""
    for state in load_states(place / "probes"):
        if state.ended == "budget":
            (place / "probes" / f"iteration-{state.iteration:03d}.json").unlink()
    for file in (place / "schema").glob("round-*.json"):
        if Round.model_validate_json(file.read_bytes()).ended == "budget":
            file.unlink()


def _started(task: Task, file: Path) -> Task:
    """The task as it was when its induction began: the loops' own files must not become a new start after a kill."""
    if file.is_file():
        start = Task.model_validate_json(file.read_bytes())
        return start.model_copy(update={"folder": task.folder})
    write_bytes(file, task.model_copy(update={"folder": Path(task.name)}).model_dump_json(indent=1).encode() + b"\n")
    return task


def _passages(probes: list[TaskProbe], source: PassageSource, limits: InductionLimits) -> list[Passage]:
    found: dict[str, Passage] = {}
    for probe in probes:
        for passage in source.sample(probe.filter, limits.passages, limits.probes.seed):
            found.setdefault(passage.key, passage)
    return list(found.values())


def _probe_file(probes: list[TaskProbe]) -> bytes:
    rows = [{"name": probe.name, **probe.filter.model_dump(mode="json")} for probe in probes]
    return orjson.dumps(rows, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
