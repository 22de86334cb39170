"""Schema induction: read freely, unify, try on papers not seen before, revise, freeze.

The share of records that pass all five axes on held-out papers decides. A schema that was tried on nothing is
``insufficient`` and never displaces a measured one (F8). Every round is stored; the loop resumes after the last one.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import orjson
import yaml
from pydantic import BaseModel, ConfigDict

from starling_assets.artifacts.files import write_bytes, write_text
from starling_assets.artifacts.keys import content_key
from starling_assets.inference.calls import UNUSABLE, FailureKind, ModelClient, ModelFailure, Role
from starling_assets.inference.engine import run_blocking

from .estimates import Estimate, estimate
from .extractor import extract_call
from .judge import Candidate, check_ids, judge_call
from .planning_calls import Passage
from .prompting import visible
from .schema_calls import FreeRecord, SchemaDraft, free_call, unify_call
from .tasks import RecordSchema, Task, schema_hash

_AXES = ("support_fidelity", "task_relevance", "entity_attribution", "label_correctness", "accuracy")


@dataclass(frozen=True)
class SchemaLimits:
    """Sizes of the loop."""

    papers: int = 100
    held_out: float = 0.3
    max_rounds: int = 4
    patience: int = 2
    output_tokens: int = 1_200
    judge_batch: int = 4


class Round(BaseModel):
    """One proposed schema with how it did on held-out papers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int
    record: RecordSchema
    digest: str
    quality: Estimate
    refused: list[str] = []
    ended: Literal["targets", "cap", "no_improvement", "budget"] | None = None


class SchemaLoop:
    """One task's schema induction over some passages; ``folder`` holds its state."""

    def __init__(
        self,
        task: Task,
        passages: Sequence[Passage],
        client: ModelClient,
        folder: Path,
        limits: SchemaLimits | None = None,
    ) -> None:
        self.task = task
        self.client = client
        self.folder = folder
        self.limits = limits or SchemaLimits()
        self.discovery, self.held_out = split_papers(passages, self.limits)

    def run(self) -> Round | None:
        """Run to an end; the best round, or None when no usable schema was proposed. Fatal failures are raised."""
        run_blocking(self._run())
        return self.best()

    def rounds(self) -> list[Round]:
        """All stored rounds, in order."""
        return [Round.model_validate_json(path.read_bytes()) for path in sorted(self.folder.glob("round-*.json"))]

    def best(self) -> Round | None:
        """The round with the best measured quality, of equals the first; an insufficient one only if all are."""
        rounds = self.rounds()
        return max(rounds, key=lambda one: (_quality(one), -one.number), default=None)

    def freeze(self, task_folder: Path) -> str:
        """Write the best schema as ``schema.yaml`` of the task's folder; returns its hash."""
        best = self.best()
        if best is None:
            raise ValueError("there is no schema to freeze: run the loop first")
        text = yaml.safe_dump(best.record.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
        write_text(task_folder / "schema.yaml", text)
        return best.digest

    async def _run(self) -> None:
        rounds = self.rounds()
        if rounds and rounds[-1].ended:
            return
        facts = await self._facts()
        while not (rounds and rounds[-1].ended):
            try:
                made = await self._round(facts, rounds)
            except ModelFailure as failure:
                if failure.kind is not FailureKind.OVER_BUDGET:
                    raise
                if not rounds:
                    return
                made = rounds.pop().model_copy(update={"ended": "budget"})
            if made is None:
                return
            write_bytes(self.folder / f"round-{made.number:02d}.json", made.model_dump_json(indent=1).encode() + b"\n")
            rounds.append(made)

    async def _facts(self) -> list[FreeRecord]:
        """Free-form records of the discovery papers, read once and kept."""
        file = self.folder / "facts.json"
        known: dict[str, list[dict[str, Any]]] = orjson.loads(file.read_bytes()) if file.is_file() else {}
        for passage in self.discovery:
            if passage.key in known:
                continue
            unit = content_key(self.task.name, "discover", passage.key)
            try:
                reply = await self.client.complete(free_call(self.task, passage, unit, self.limits.output_tokens))
                known[passage.key] = [record.model_dump(mode="json") for record in reply.value.records]
            except ModelFailure as failure:
                if failure.kind not in UNUSABLE:
                    raise
                known[passage.key] = []
            write_bytes(file, orjson.dumps(known, option=orjson.OPT_SORT_KEYS))
        return [FreeRecord.model_validate(row) for passage in self.discovery for row in known[passage.key]]

    async def _round(self, facts: Sequence[FreeRecord], rounds: Sequence[Round]) -> Round | None:
        number = len(rounds)
        draft = await self._draft(facts, rounds)
        if draft is None:
            return None
        task = self.task.model_copy(update={"record": draft})
        quality, refused = await self._try(task, number)
        made = Round(number=number, record=draft, digest=schema_hash(task), quality=quality, refused=refused)
        return made.model_copy(update={"ended": self._end([*rounds, made])})

    def _end(self, rounds: Sequence[Round]) -> Literal["targets", "cap", "no_improvement"] | None:
        if rounds[-1].quality.at_least(self.task.targets.precision):
            return "targets"
        if len(rounds) >= self.limits.max_rounds:
            return "cap"
        best = max(rounds, key=lambda one: (_quality(one), -one.number))
        return "no_improvement" if rounds[-1].number - best.number >= self.limits.patience else None

    async def _draft(self, facts: Sequence[FreeRecord], rounds: Sequence[Round]) -> RecordSchema | None:
        material = describe_facts(facts)
        if rounds:
            last = rounds[-1]
            material += f"\n\nThe last schema:\n{last.record.model_dump_json()}\nRefused under it:\n" + "\n".join(
                last.refused
            )
        unit = content_key(self.task.name, "unify", len(rounds))
        for _ in range(2):
            try:
                call = unify_call(self.task, material, unit, self.limits.output_tokens)
                draft: SchemaDraft = (await self.client.complete(call)).value
                return draft.schema_of(self.task)
            except ModelFailure as failure:
                if failure.kind not in UNUSABLE:
                    raise
                material += f"\n\nYour last answer was refused: {failure.message[:300]}"
        return None

    async def _try(self, task: Task, number: int) -> tuple[Estimate, list[str]]:
        """Extract from the held-out papers under the draft and let the validator judge each record."""
        passed = judged = 0
        refused: list[str] = []
        for passage in self.held_out:
            unit = content_key(task.name, "try", number, passage.key)
            try:
                call = extract_call(task, unit, visible(passage.text), self.limits.output_tokens)
                objects = (await self.client.complete(call)).value.objects()
            except ModelFailure as failure:
                if failure.kind not in UNUSABLE:
                    raise
                continue
            for start in range(0, len(objects), self.limits.judge_batch):
                verdicts = await self._judged(task, passage, objects[start : start + self.limits.judge_batch], unit)
                for record, failing in verdicts:
                    judged += 1
                    passed += not failing
                    if failing:
                        refused.append(f"{orjson.dumps(record).decode()}: {failing}")
        return estimate(passed, judged), refused[:8]

    async def _judged(
        self, task: Task, passage: Passage, objects: Sequence[dict[str, Any]], unit: str
    ) -> list[tuple[dict[str, Any], str]]:
        candidates = [Candidate(f"r{n}", "", item, passage.text) for n, item in enumerate(objects, start=1)]
        call = judge_call(task, unit, candidates, self.limits.output_tokens)
        call = dataclasses.replace(call, role=Role.VALIDATOR, purpose=f"{task.name}/validate_schema")
        try:
            verdicts = check_ids((await self.client.complete(call)).value, candidates)
        except ModelFailure as failure:
            if failure.kind not in UNUSABLE:
                raise
            return []
        answers = []
        for candidate, item in zip(candidates, objects, strict=True):
            verdict = verdicts[candidate.id]
            failing = [axis for axis in _AXES if not getattr(verdict, axis)]
            answers.append((item, f"{', '.join(failing)} ({verdict.why})" if failing else ""))
        return answers


def split_papers(passages: Sequence[Passage], limits: SchemaLimits) -> tuple[list[Passage], list[Passage]]:
    """Discovery and held-out passages: no paper is on both sides; at most ``limits.papers`` papers in all."""
    papers = sorted({passage.paper_id for passage in passages}, key=content_key)[: limits.papers]
    cut = max(1, round(len(papers) * limits.held_out)) if len(papers) > 1 else 0
    held = set(papers[:cut])
    chosen = set(papers)
    return (
        [passage for passage in passages if passage.paper_id in chosen - held],
        [passage for passage in passages if passage.paper_id in held],
    )


def describe_facts(facts: Sequence[FreeRecord], shown: int = 40) -> str:
    """The facts in short: how often each name was used, with its values, then some records."""
    names = Counter(fact.name.strip().casefold() for record in facts for fact in record.facts)
    values: dict[str, Counter[str]] = {}
    for record in facts:
        for fact in record.facts:
            values.setdefault(fact.name.strip().casefold(), Counter())[fact.value] += 1
    lines = []
    for name, count in sorted(names.items(), key=lambda item: (-item[1], item[0])):
        common = sorted(values[name].items(), key=lambda item: (-item[1], item[0]))[:6]
        lines.append(f"{name} ({count}): {', '.join(value for value, _ in common)}")
    return "\n".join([f"{len(facts)} records.", *lines, *(f"- {r.entity}: {r.quote}" for r in facts[:shown])])


def _quality(one: Round) -> float:
    return -1.0 if one.quality.status == "insufficient" or one.quality.share is None else one.quality.share
