"""The judge call: some records of one window at a time, five axes each, ids checked (F9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import orjson
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from starling_assets.inference.calls import FailureKind, ModelCall, ModelFailure, Role

from .extractor import bullets, label_text
from .prompting import fence, read_prompt
from .tasks import Task

#: Longest reason, and the most verdicts a reply may hold (twice a usual batch, so that a repeated id is seen).
MAX_WHY = 160
MAX_VERDICTS = 16


class Verdict(BaseModel):
    """One record's answer on the five axes; ``why`` says what fails."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, WithJsonSchema({"type": "string", "maxLength": 8})]
    support_fidelity: bool
    task_relevance: bool
    entity_attribution: bool
    label_correctness: bool
    accuracy: bool
    why: Annotated[
        str | None, WithJsonSchema({"anyOf": [{"type": "string", "maxLength": MAX_WHY}, {"type": "null"}]})
    ] = None


class JudgeReply(BaseModel):
    """One verdict per record id."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    verdicts: Annotated[list[Verdict], Field(json_schema_extra={"maxItems": MAX_VERDICTS})]


@dataclass(frozen=True)
class Candidate:
    """A record as the judge sees it: short id, what was extracted, and the paper's words around the quote."""

    id: str
    title: str
    record: dict[str, object]
    context: str


def system_prompt(task: Task) -> str:
    """The prefix that all batches of a task share. The task's rubric refines the axes and never replaces them."""
    instantiation = task.record.instantiation
    return read_prompt("judge").fill(
        {
            "sentence": task.sentence,
            "counts": bullets(instantiation.counts),
            "not_counts": bullets(instantiation.not_counts),
            "defaults": bullets(instantiation.defaults),
            "label": label_text(task),
            "rubric": task.rubric,
        }
    )


def judge_call(
    task: Task, unit: str, candidates: Sequence[Candidate], max_output_tokens: int, complaint: str | None = None
) -> ModelCall[JudgeReply]:
    """The call for one batch. ``complaint`` tells a second try what was wrong with the first answer."""
    parts = []
    for candidate in candidates:
        record = orjson.dumps(candidate.record).decode()
        parts.append(f"id: {candidate.id}\npaper: {candidate.title}\nrecord: {record}\npaper text: {candidate.context}")
    user = fence("RECORDS", "\n\n".join(parts))
    if complaint:
        user += f"\nYour last answer was refused: {complaint}. Answer again, each id once: {_ids(candidates)}."
    return ModelCall(
        role=Role.JUDGE,
        purpose=f"{task.name}/judge",
        unit=unit,
        system=system_prompt(task),
        user=user,
        reply_type=JudgeReply,
        prompt=read_prompt("judge").reference,
        max_output_tokens=max_output_tokens,
    )


def check_ids(reply: JudgeReply, candidates: Sequence[Candidate]) -> dict[str, Verdict]:
    """Verdicts by id, or :class:`ModelFailure` (schema mismatch) when an id is missing, unknown or given twice.

    Two verdicts on one id refuse the batch even when they agree: the model lost count, so no answer can be trusted.
    """
    expected = {candidate.id for candidate in candidates}
    counts = Counter(verdict.id for verdict in reply.verdicts)
    problems = []
    if missing := sorted(expected - set(counts)):
        problems.append(f"no verdict for {', '.join(missing)}")
    if unknown := sorted(set(counts) - expected):
        problems.append(f"unknown id {', '.join(unknown)}")
    if repeated := sorted(name for name, count in counts.items() if count > 1):
        problems.append(f"more than one verdict for {', '.join(repeated)}")
    if problems:
        raise ModelFailure(FailureKind.SCHEMA_MISMATCH, "; ".join(problems))
    return {verdict.id: verdict for verdict in reply.verdicts}


def _ids(candidates: Sequence[Candidate]) -> str:
    return ", ".join(candidate.id for candidate in candidates)
