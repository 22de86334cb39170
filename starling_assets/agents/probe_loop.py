"""The probe loop: code drives, models answer. Precision from random samples, recall gap from the best excluded papers.

Each iteration asks the proposer for actions, carries them out, measures what changed, lets the investigator read the
misses, and stores its state. It ends at the targets, at the cap, when nothing improves, when the proposer stops or when
the budget is gone, and says which. An estimate from too small a sample never counts as reaching a target (F8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from starling_assets.artifacts.files import write_bytes
from starling_assets.artifacts.keys import content_key
from starling_assets.inference.calls import UNUSABLE, FailureKind, ModelClient, ModelFailure
from starling_assets.inference.engine import run_blocking
from starling_assets.retrieval.filterspec import FilterSpec

from .estimates import Estimate, estimate
from .planning_calls import (
    Action,
    Focus,
    Passage,
    Proposal,
    investigate_call,
    propose_call,
    relevance_of,
    validate_call,
)
from .probe_state import LoopState, MeasuredProbe, PassageSource, load_states, save_state
from .tasks import Task, TaskProbe


@dataclass(frozen=True)
class LoopLimits:
    """Sizes of samples and of the loop."""

    sample: int = 20
    gap_papers: int = 50
    validate_batch: int = 5
    max_iterations: int = 8
    patience: int = 2  # iterations without a better score before the loop gives up
    output_tokens: int = 900
    seed: int = 7


class ProbeLoop:
    """One task's loop over one corpus; ``folder`` holds its state."""

    def __init__(
        self, task: Task, source: PassageSource, client: ModelClient, folder: Path, limits: LoopLimits | None = None
    ) -> None:
        self.task = task
        self.source = source
        self.client = client
        self.folder = folder
        self.limits = limits or LoopLimits()
        #: Passages judged so far, kept beside the states: the same passage is not paid for twice.
        self._judged: dict[str, bool] = {}
        kept = folder / "judged.json"
        if kept.is_file():
            self._judged = orjson.loads(kept.read_bytes())

    def run(self) -> LoopState:
        """Run to an end, from the last stored iteration. Returns the last state; ``best_probes`` gives what to freeze.

        A quota, a wrong key or another fatal failure is raised with the state kept; a spent budget ends the loop.
        """
        return run_blocking(self._run())

    def best_probes(self) -> list[TaskProbe]:
        """Probes of the stored iteration with the best score."""
        states = load_states(self.folder)
        if not states:
            return []
        best = next(state for state in states if state.iteration == states[-1].best)
        return [TaskProbe(name=probe.name, filter=probe.filter) for probe in best.probes]

    async def _run(self) -> LoopState:
        states = load_states(self.folder)
        if states:
            state = states[-1]
        else:
            try:
                state = await self._measured([(probe.name, probe.filter) for probe in self.task.probes], None, [])
            except ModelFailure as failure:
                if failure.kind is not FailureKind.OVER_BUDGET:
                    raise
                state = LoopState(task=self.task.name, iteration=0, probes=[], gap=estimate(0, 0), ended="budget")
            save_state(self.folder, state)
        while state.ended is None:
            try:
                state = await self._step(state)
            except ModelFailure as failure:
                if failure.kind is not FailureKind.OVER_BUDGET:
                    raise
                state = state.model_copy(update={"ended": "budget"})
            save_state(self.folder, state)
        return state

    async def _step(self, state: LoopState) -> LoopState:
        if state.iteration >= self.limits.max_iterations:
            return state.model_copy(update={"ended": "cap"})
        if state.iteration - state.best >= self.limits.patience and state.iteration > 0:
            return state.model_copy(update={"ended": "no_improvement"})
        notes: list[str] = []
        proposal = await self._propose(state, notes)
        probes = self._apply(state, proposal, notes)
        changed = {probe.name: probe.filter for probe in state.probes} != dict(probes)
        if any(action.kind == "stop" for action in proposal.actions) and not changed:
            return state.model_copy(update={"ended": "stopped"})
        return await self._measured(probes, state, notes)

    async def _propose(self, state: LoopState, notes: list[str]) -> Proposal:
        unit = content_key(self.task.name, "propose", state.iteration)
        call = propose_call(self.task, state.describe(), unit, self.limits.output_tokens)
        try:
            return (await self.client.complete(call)).value
        except ModelFailure as failure:
            if failure.kind not in UNUSABLE:
                raise
            notes.append(f"the last answer could not be used: {failure.message[:200]}")
            return Proposal(actions=[])

    def _apply(self, state: LoopState, proposal: Proposal, notes: list[str]) -> list[tuple[str, FilterSpec]]:
        probes = {probe.name: probe.filter for probe in state.probes}
        for action in proposal.actions:
            self._carry_out(action, probes, notes)
        return list(probes.items())

    def _carry_out(self, action: Action, probes: dict[str, FilterSpec], notes: list[str]) -> None:
        spec = FilterSpec(entity_groups=action.entity_groups, semantic_query=action.semantic_query)
        known = action.name in probes
        problem = self.source.problems(spec) if action.kind in {"add", "revise", "explore"} else None
        if action.kind in {"add", "revise"} and not action.semantic_query:
            problem = problem or "it has no semantic query"
        if problem:
            notes.append(f"{action.kind} {action.name or action.entity_groups}: refused: {problem}")
        elif action.kind == "explore":
            found = self.source.search(action.semantic_query or self.task.sentence, 3, spec)
            notes.append(f"explore {action.entity_groups}: {len(self.source.keys(spec))} passages; nearest:")
            notes += [f"- {passage.text[:300]}" for passage in found]
        elif action.kind == "add" and known:
            notes.append(f"add {action.name}: refused: a filter of that name exists; revise it")
        elif action.kind == "add" and len(probes) >= self.task.targets.max_probes:
            notes.append(f"add {action.name}: refused: {self.task.targets.max_probes} filters are the most")
        elif action.kind in {"revise", "remove"} and not known:
            notes.append(f"{action.kind} {action.name}: refused: there is no such filter")
        elif action.kind == "remove":
            del probes[action.name]
        elif action.kind in {"add", "revise"}:
            if not action.name:
                notes.append(f"{action.kind}: refused: the filter has no name")
            else:
                probes[action.name] = spec

    async def _measured(
        self, probes: Sequence[tuple[str, FilterSpec]], before: LoopState | None, notes: list[str]
    ) -> LoopState:
        iteration = before.iteration + 1 if before else 0
        earlier = {probe.name: probe for probe in before.probes} if before else {}
        seen: set[str] = set()
        measured: list[MeasuredProbe] = []
        for name, spec in probes:
            keys = self.source.keys(spec)
            gain, seen = len(keys - seen), seen | keys
            old = earlier.get(name)
            if old is not None and old.filter == spec:
                measured.append(old.model_copy(update={"matches": len(keys), "gain": gain}))
                continue
            sample = self.source.sample(spec, self.limits.sample, self.limits.seed)
            precision, misses = await self._judge(sample, len(keys), relevant_are_misses=False)
            measured.append(
                MeasuredProbe(
                    name=name, filter=spec, matches=len(keys), gain=gain, precision=precision, since=iteration
                )
            )
            if not precision.at_least(self.task.targets.precision) and misses:
                notes += await self._advice(Focus.FALSE_HITS, f"Filter {name}: {spec.entity_groups}", misses, iteration)
        outside = self.source.outside([spec for _, spec in probes], self.limits.gap_papers)
        gap, missed = await self._judge(outside, len(outside), relevant_are_misses=True)
        if not gap.at_most(self.task.targets.recall_gap) and missed:
            filters = "; ".join(f"{name}: {spec.entity_groups}" for name, spec in probes)
            notes += await self._advice(Focus.MISSED, f"Filters: {filters}", missed, iteration)
        state = LoopState(task=self.task.name, iteration=iteration, probes=measured, gap=gap, notes=notes)
        return self._scored(state, before)

    def _scored(self, state: LoopState, before: LoopState | None) -> LoopState:
        score = _score(state)
        best, top = (before.best, before.score) if before else (0, -1.0)
        if score > top:
            best, top = state.iteration, score
        targets = self.task.targets
        reached = (
            bool(state.probes)
            and all(probe.precision.at_least(targets.precision) for probe in state.probes)
            and state.gap.at_most(targets.recall_gap)
        )
        ended = "targets" if reached else None
        return state.model_copy(update={"best": best, "score": top, "ended": ended})

    async def _judge(
        self, passages: Sequence[Passage], population: int, *, relevant_are_misses: bool
    ) -> tuple[Estimate, list[Passage]]:
        """The estimate of relevance and the passages that speak against the filters. Unjudged passages do not count."""
        fresh = [passage for passage in passages if passage.key not in self._judged]
        for start in range(0, len(fresh), self.limits.validate_batch):
            await self._validate(fresh[start : start + self.limits.validate_batch])
        answers = [(passage, self._judged[passage.key]) for passage in passages if passage.key in self._judged]
        positive = sum(relevant for _, relevant in answers)
        misses = [passage for passage, relevant in answers if relevant is relevant_are_misses]
        return estimate(positive, len(answers), population=population), misses[:5]

    async def _validate(self, batch: Sequence[Passage]) -> None:
        unit = content_key(self.task.name, "validate", [passage.key for passage in batch])
        for _ in range(2):
            try:
                reply = await self.client.complete(validate_call(self.task, batch, unit, self.limits.output_tokens))
                verdicts = relevance_of(reply.value, batch)
            except ModelFailure as failure:
                if failure.kind not in UNUSABLE:
                    raise
                continue
            self._judged.update(zip((passage.key for passage in batch), verdicts, strict=True))
            write_bytes(self.folder / "judged.json", orjson.dumps(self._judged, option=orjson.OPT_SORT_KEYS))
            return

    async def _advice(self, focus: Focus, subject: str, misses: Sequence[Passage], iteration: int) -> list[str]:
        unit = content_key(self.task.name, "investigate", iteration, focus.name, subject)
        call = investigate_call(self.task, focus, subject, misses, unit, self.limits.output_tokens)
        try:
            reply = await self.client.complete(call)
        except ModelFailure as failure:
            if failure.kind not in UNUSABLE:
                raise
            return []
        return [f"Advice ({focus.name.lower()}): {suggestion}" for suggestion in reply.value.suggestions]


def _score(state: LoopState) -> float:
    """Mean precision of the measured probes times what the gap leaves; insufficient estimates count as nothing."""
    measured = [probe.precision.share or 0.0 for probe in state.probes if probe.precision.status != "insufficient"]
    if not measured or state.gap.status == "insufficient":
        return 0.0
    precision = sum(measured) / len(state.probes)
    return round(precision * (1 - (state.gap.share or 0.0)), 6)
