"""A strong model decides what frequent entities are: one of ten vocabulary entries, or none of them.

Batches of entities are journalled units, answers are checked id by id, and a batch that cannot be trusted is refused
and asked for once more: no decision is lost silently and none is taken from a reply that lost count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from starling_assets.artifacts.journal import Journal, Outcome, Tally
from starling_assets.artifacts.keys import content_key
from starling_assets.inference.calls import UNUSABLE, FailureKind, ModelCall, ModelClient, ModelFailure, Role, Usage
from starling_assets.inference.prompting import fence, read_prompt_file, visible
from starling_assets.inference.stopping import Stop
from starling_assets.journalled import OnProgress, failed_outcome, run_journalled
from starling_assets.tagging.candidates import Entry, Frequent
from starling_assets.tagging.entity_types import EntityType
from starling_assets.tagging.llm.prompts import FOLDER, type_rules

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
_MAX_WHY = 120
_MOST_DECISIONS = 24
_SHOWN_FORMS = 4
_SHOWN_NAMES = 4
#: What one batch may answer, per entity in it.
TOKENS_PER_ENTITY = 70


class Decision(BaseModel):
    """Which candidate an entity is; 0 for none."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, WithJsonSchema({"type": "string", "maxLength": 8})]
    choice: int
    why: Annotated[
        str | None, WithJsonSchema({"anyOf": [{"type": "string", "maxLength": _MAX_WHY}, {"type": "null"}]})
    ] = None


class ValidationReply(BaseModel):
    """One decision per id."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    decisions: Annotated[list[Decision], Field(json_schema_extra={"maxItems": _MOST_DECISIONS})]


@dataclass(frozen=True, slots=True)
class Question:
    """An entity, its candidates and a sentence in which it stands (may be empty)."""

    entity: Frequent
    candidates: tuple[Entry, ...]
    example: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some questions of one type, asked in one call; they are named ``e1``, ``e2`` …"""

    unit: str
    entity_type: EntityType
    questions: tuple[Question, ...]

    @property
    def ids(self) -> list[str]:
        """Names of the questions within the call."""
        return [f"e{number}" for number in range(1, len(self.questions) + 1)]


def plan_batches(entity_type: EntityType, questions: Sequence[Question], model: str, size: int) -> list[Batch]:
    """Batches of questions that have candidates. A unit's key is made of all that the model sees, and the model."""
    asked = [question for question in questions if question.candidates]
    batches = []
    for start in range(0, len(asked), size):
        part = tuple(asked[start : start + size])
        shown = [_shown(f"e{number}", question) for number, question in enumerate(part, start=1)]
        batches.append(Batch(content_key(system_text(entity_type), shown, model), entity_type, part))
    return batches


def system_text(entity_type: EntityType) -> str:
    """What all batches of a type begin with."""
    rules = type_rules(entity_type)
    return read_prompt_file(FOLDER / "validate.md").fill({"type": entity_type.value, "definition": rules.definition})


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


def batch_call(batch: Batch, complaint: str | None = None) -> ModelCall[ValidationReply]:
    """The call for one batch. ``complaint`` tells a second try what was wrong with the first answer."""
    shown = [_shown(name, question) for name, question in zip(batch.ids, batch.questions, strict=True)]
    user = fence("NAMES", "\n\n".join(shown))
    if complaint:
        user += f"\nYour last answer was refused: {complaint}. Answer again, each id once: {', '.join(batch.ids)}."
    return ModelCall(
        role=Role.VALIDATOR,
        purpose="tagging/validate",
        unit=batch.unit,
        system=system_text(batch.entity_type),
        user=user,
        reply_type=ValidationReply,
        prompt=read_prompt_file(FOLDER / "validate.md").reference,
        max_output_tokens=100 + TOKENS_PER_ENTITY * len(batch.questions),
    )


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


def checked(reply: ValidationReply, batch: Batch) -> list[Decision]:
    """Decisions in the order of the questions, or :class:`ModelFailure` (schema mismatch) saying what is wrong."""
    given = Counter(decision.id for decision in reply.decisions)
    known = dict(zip(batch.ids, batch.questions, strict=True))
    problems = [f"no decision for {name}" for name in batch.ids if not given[name]]
    problems += [f"more than one decision for {name}" for name, count in sorted(given.items()) if count > 1]
    problems += [f"unknown id {name[:20]}" for name in sorted(given) if name not in known]
    problems += [
        f"{decision.id} has no candidate {decision.choice}"
        for decision in reply.decisions
        if decision.id in known and not 0 <= decision.choice <= len(known[decision.id].candidates)
    ]
    if problems:
        raise ModelFailure(FailureKind.SCHEMA_MISMATCH, "; ".join(problems[:6]))
    by_id = {decision.id: decision for decision in reply.decisions}
    return [by_id[name] for name in batch.ids]


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


def _shown(name: str, question: Question) -> str:
    entity = question.entity
    forms = "; ".join(_line(form) for form in entity.forms[:_SHOWN_FORMS])
    lines = [f"id: {name}", f"name: {_line(entity.name)}", f"printed as: {forms}"]
    if entity.organism:
        lines.append(f"species: {entity.organism}")
    if question.example:
        lines.append(f"sentence: {_line(question.example)}")
    for number, entry in enumerate(question.candidates, start=1):
        others = f" (also: {'; '.join(_line(one) for one in entry.names[:_SHOWN_NAMES])})" if entry.names else ""
        lines.append(f"{number}: {_line(entry.name)}{others}")
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(visible(text).split())


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
