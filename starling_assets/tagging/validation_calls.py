"""The call of a validation: frequent names with numbered candidates, one decision per name, ids and numbers checked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from starling_assets.inference.calls import FailureKind, ModelCall, ModelFailure, Role
from starling_assets.inference.prompting import fence, read_prompt_file, visible
from starling_assets.tagging.candidates import Entry, Frequent
from starling_assets.tagging.entity_types import EntityType
from starling_assets.tagging.llm.prompts import FOLDER, type_rules

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


def system_text(entity_type: EntityType) -> str:
    """What all batches of a type begin with."""
    rules = type_rules(entity_type)
    return read_prompt_file(FOLDER / "validate.md").fill({"type": entity_type.value, "definition": rules.definition})


def batch_call(batch: Batch, complaint: str | None = None) -> ModelCall[ValidationReply]:
    """The call for one batch. ``complaint`` tells a second try what was wrong with the first answer."""
    shown = [shown_text(name, question) for name, question in zip(batch.ids, batch.questions, strict=True)]
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


def shown_text(name: str, question: Question) -> str:
    """A question as the model sees it under ``name``, without hidden characters; candidates are numbered from 1."""
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
