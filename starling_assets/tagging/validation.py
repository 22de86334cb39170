"""A strong model decides what frequent entities are: one of ten vocabulary entries, or none of them.

Batches of entities are journalled units, answers are checked id by id, and a batch that cannot be trusted is refused
and asked for once more: no decision is lost silently and none is taken from a reply that lost count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from starling_assets.artifacts.journal import Journal, Outcome, Tally
from starling_assets.artifacts.keys import content_key
from starling_assets.inference.calls import UNUSABLE, FailureKind, ModelClient, ModelFailure, Usage
from starling_assets.inference.prompting import read_prompt_file
from starling_assets.inference.stopping import Stop
from starling_assets.journalled import OnProgress, failed_outcome, run_journalled
from starling_assets.tagging.entity_types import EntityType
from starling_assets.tagging.llm.prompts import FOLDER
from starling_assets.tagging.validation_calls import (
    Batch,
    Decision,
    Question,
    batch_call,
    checked,
    shown_text,
    system_text,
)

#: One row per frequent entity and what became of it.
DECISIONS: dict[str, pl.DataType | type[pl.DataType]] = {
    "entity_type": pl.String,
    "entity_key": pl.String,
    "canonical_name": pl.String,
    "organism": pl.String,
    "forms": pl.List(pl.String),
    "papers": pl.UInt32,
    "paragraphs": pl.UInt32,
    "status": pl.String,  # chosen | rejected | no_candidate | failed
    "concept_id": pl.String,
    "concept_name": pl.String,
    "names": pl.List(pl.String),  # the entry's other names
    "candidates": pl.List(pl.Struct({"concept_id": pl.String, "name": pl.String})),
    "why": pl.String,
    "model": pl.String,
    "prompt": pl.String,
}


def plan_batches(entity_type: EntityType, questions: Sequence[Question], model: str, size: int) -> list[Batch]:
    """Batches of questions that have candidates. A unit's key is made of all that the model sees, and the model."""
    asked = [question for question in questions if question.candidates]
    batches = []
    for start in range(0, len(asked), size):
        part = tuple(asked[start : start + size])
        shown = [shown_text(f"e{number}", question) for number, question in enumerate(part, start=1)]
        batches.append(Batch(content_key(system_text(entity_type), shown, model), entity_type, part))
    return batches


def validate(
    batches: Sequence[Batch],
    client: ModelClient,
    journal: Journal,
    in_flight: int,
    on_progress: OnProgress | None = None,
    stop: Stop | None = None,
) -> Tally:
    """Ask every batch that has no outcome yet; fatal failures are raised after everything paid for is stored."""

    async def ask(batch: Batch) -> tuple[Outcome, Usage]:
        return await ask_batch(batch, client)

    return run_journalled(batches, ask, journal, in_flight, on_progress, stop)


async def ask_batch(batch: Batch, client: ModelClient) -> tuple[Outcome, Usage]:
    """The outcome of one batch; an unusable reply, or one with wrong ids or numbers, is refused and asked for again."""
    paid = Usage()
    complaint: str | None = None
    refused = ModelFailure(FailureKind.SCHEMA_MISMATCH, "no answer")
    for _ in range(2):
        try:
            reply = await client.complete(batch_call(batch, complaint))
            paid += reply.usage
            decisions = checked(reply.value, batch)
        except ModelFailure as failure:
            paid += failure.usage
            if failure.kind not in UNUSABLE:
                raise ModelFailure(failure.kind, failure.message, paid, failure.raw) from failure
            refused, complaint = failure, failure.message
        else:
            return _outcome(batch, decisions, reply.model, paid), paid
    return failed_outcome(batch.unit, refused, paid), paid


def decision_rows(
    entity_type: EntityType, questions: Sequence[Question], batches: Sequence[Batch], outcomes: Mapping[str, Outcome]
) -> pl.DataFrame:
    """DECISIONS: one row per question, in their order. What failed or was not asked yet is ``failed``."""
    answers: dict[str, tuple[Outcome, int]] = {
        question.entity.entity_key: (outcomes[batch.unit], place)
        for batch in batches
        if batch.unit in outcomes
        for place, question in enumerate(batch.questions)
    }
    rows = [_row(entity_type, question, answers.get(question.entity.entity_key)) for question in questions]
    return pl.DataFrame(rows, schema=DECISIONS)


def _row(entity_type: EntityType, question: Question, answer: tuple[Outcome, int] | None) -> dict[str, Any]:
    entity = question.entity
    row: dict[str, Any] = {
        **dict.fromkeys(DECISIONS),
        "entity_type": entity_type.value,
        "entity_key": entity.entity_key,
        "canonical_name": entity.name,
        "organism": entity.organism,
        "forms": list(entity.forms),
        "papers": entity.papers,
        "paragraphs": entity.paragraphs,
        "status": "failed" if question.candidates else "no_candidate",
        "names": [],
        "candidates": [{"concept_id": entry.concept_id, "name": entry.name} for entry in question.candidates],
    }
    if answer is None or answer[0].status == "failed":
        return row
    outcome, place = answer
    decision = outcome.payload["decisions"][place]
    row |= {"status": "rejected", "why": decision["why"]}
    row |= {name: outcome.payload[name] for name in ("model", "prompt")}
    if decision["choice"]:
        entry = question.candidates[decision["choice"] - 1]
        row |= {
            "status": "chosen",
            "concept_id": entry.concept_id,
            "concept_name": entry.name,
            "names": list(entry.names),
        }
    return row


def _outcome(batch: Batch, decisions: Sequence[Decision], model: str, usage: Usage) -> Outcome:
    return Outcome(
        unit=batch.unit,
        status="ok",
        payload={
            "decisions": [{"choice": item.choice, "why": item.why} for item in decisions],
            "model": model,
            "prompt": read_prompt_file(FOLDER / "validate.md").reference,
        },
        usage=usage.as_dict(),
    )
