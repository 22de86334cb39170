"""The typed calls of schema induction: read freely, unify into a schema."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema

from starling_assets.inference.calls import FailureKind, ModelCall, ModelFailure, Role

from .planning_calls import Passage
from .prompting import fence, read_prompt, visible
from .tasks import FieldRule, Instantiation, LabelRule, RecordSchema, Task, ValueRule


def _text(limit: int) -> dict[str, object]:
    return {"type": "string", "maxLength": limit}


def _texts(limit: int, most: int) -> dict[str, object]:
    return {"type": "array", "maxItems": most, "items": _text(limit)}


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Fact(_Reply):
    """A name and a value that the model chose itself."""

    name: Annotated[str, WithJsonSchema(_text(40))]
    value: Annotated[str, WithJsonSchema(_text(120))]


class FreeRecord(_Reply):
    """A record without a schema."""

    entity: Annotated[str, WithJsonSchema(_text(120))]
    quote: Annotated[str, WithJsonSchema(_text(400))]
    facts: Annotated[list[Fact], Field(json_schema_extra={"maxItems": 10})] = Field(default_factory=list)


class FreeReply(_Reply):
    """All records of a passage."""

    records: Annotated[list[FreeRecord], Field(json_schema_extra={"maxItems": 8})]


class DraftField(_Reply):
    """A proposed field."""

    name: Annotated[str, WithJsonSchema(_text(40))]
    type: Literal["string", "enum", "boolean", "number", "list"]
    allowed: Annotated[list[str], WithJsonSchema(_texts(40, 16))] = Field(default_factory=list)
    description: Annotated[str, WithJsonSchema(_text(120))] = ""


class SchemaDraft(_Reply):
    """A proposed schema, flat enough for guided decoding."""

    entity: Annotated[str, WithJsonSchema(_text(160))]
    label_name: Annotated[str, WithJsonSchema(_text(40))]
    label_description: Annotated[str, WithJsonSchema(_text(200))]
    label_allowed: Annotated[list[str], WithJsonSchema(_texts(40, 16))]
    value: Annotated[str, WithJsonSchema(_text(160))] = ""
    fields: Annotated[list[DraftField], Field(json_schema_extra={"maxItems": 12})]
    counts: Annotated[list[str], WithJsonSchema(_texts(200, 6))]
    not_counts: Annotated[list[str], WithJsonSchema(_texts(200, 6))]
    defaults: Annotated[list[str], WithJsonSchema(_texts(200, 6))] = Field(default_factory=list)

    def schema_of(self, task: Task) -> RecordSchema:
        """The draft as a schema of ``task``; unit rules stay the task's. Raises a schema mismatch if unusable."""
        try:
            return RecordSchema(
                entity=self.entity,
                label=LabelRule(
                    name=self.label_name, description=self.label_description, allowed=_distinct(self.label_allowed)
                ),
                value=ValueRule(
                    description=self.value,
                    target_unit=task.record.value.target_unit,
                    required=task.record.value.required,
                ),
                fields=[
                    FieldRule(
                        name=field.name,
                        type=field.type,
                        allowed=_distinct(field.allowed) if field.type == "enum" else [],
                        description=field.description,
                    )
                    for field in self.fields
                ],
                instantiation=Instantiation(counts=self.counts, not_counts=self.not_counts, defaults=self.defaults),
            )
        except ValidationError as error:
            problems = "; ".join(item["msg"] for item in error.errors())
            raise ModelFailure(FailureKind.SCHEMA_MISMATCH, f"the proposed schema is unusable: {problems}") from None


def free_call(task: Task, passage: Passage, unit: str, max_output_tokens: int) -> ModelCall[FreeReply]:
    """Read one passage without a schema."""
    return ModelCall(
        Role.EXTRACTOR,
        f"{task.name}/discover",
        unit,
        read_prompt("free").fill({"sentence": task.sentence}),
        fence("PASSAGE", visible(passage.text)),
        FreeReply,
        read_prompt("free").reference,
        max_output_tokens,
    )


def unify_call(task: Task, material: str, unit: str, max_output_tokens: int) -> ModelCall[SchemaDraft]:
    """Ask the proposer for a schema; ``material`` holds the facts and what was refused so far."""
    return ModelCall(
        Role.PROPOSER,
        f"{task.name}/unify",
        unit,
        read_prompt("unify").fill({"sentence": task.sentence}),
        fence("FACTS", visible(material)),
        SchemaDraft,
        read_prompt("unify").reference,
        max_output_tokens,
    )


def _distinct(values: list[str]) -> list[str]:
    return list(dict.fromkeys(value.strip() for value in values if value.strip()))
