"""The extraction call: reply type made from the task's schema, shared prefix first, passage last."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, create_model

from starling_assets.inference.calls import ModelCall, Role

from .prompting import fence, read_prompt
from .tasks import FieldRule, Task

#: Bounds of a reply. They stand in the JSON schema, so that guided decoding cannot loop; a server without it may
#: exceed them.
MAX_RECORDS = 8
MAX_QUOTE = 400
MAX_ENTITY = 120
MAX_TEXT = 80


def _as_text(value: Any) -> Any:
    # A number where text is asked for is common and harmless: its digits are checked against the quote later.
    if isinstance(value, bool) or value is None:
        return value
    return str(value) if isinstance(value, (int, float)) else value


def _text(limit: int, *, nullable: bool) -> Any:
    schema: dict[str, Any] = {"type": "string", "maxLength": limit}
    if nullable:
        schema = {"anyOf": [schema, {"type": "null"}]}
    base: Any = str | None if nullable else str
    return Annotated[base, BeforeValidator(_as_text), WithJsonSchema(schema)]


def _choice(allowed: list[str], *, nullable: bool) -> Any:
    # The type accepts any text: a value that is not allowed costs one record, with a reason, not the whole reply.
    schema: dict[str, Any] = {"type": "string", "enum": allowed}
    if nullable:
        schema = {"anyOf": [schema, {"type": "null"}]}
    return Annotated[str | None, BeforeValidator(_as_text), WithJsonSchema(schema)]


def _boolean() -> Any:
    return Annotated[bool | str | None, WithJsonSchema({"anyOf": [{"type": "boolean"}, {"type": "null"}]})]


def _number() -> Any:
    return Annotated[float | str | None, WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "null"}]})]


def _list() -> Any:
    schema = {"type": "array", "items": {"type": "string", "maxLength": MAX_TEXT}, "maxItems": MAX_RECORDS}
    return Annotated[list[str] | str | None, WithJsonSchema({"anyOf": [schema, {"type": "null"}]})]


def _annotation(rule: FieldRule) -> Any:
    match rule.type:
        case "enum":
            return _choice(rule.allowed, nullable=True)
        case "boolean":
            return _boolean()
        case "number":
            return _number()
        case "list":
            return _list()
        case _:
            return _text(MAX_TEXT, nullable=True)


class ExtractionReply(BaseModel):
    """What every task's reply has: a list of record objects."""

    model_config = ConfigDict(extra="forbid")

    records: list[Any]

    def objects(self) -> list[dict[str, Any]]:
        """The records as plain dictionaries, in reply order."""
        return [record.model_dump(mode="json") for record in self.records]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid")


def reply_type(task: Task) -> type[ExtractionReply]:
    """The reply type of ``task``: flat records, quote first, every other key nullable. Equal schemas give one type."""
    return _reply_type(task.name, task.record.model_dump_json())


@cache
def _reply_type(name: str, schema_json: str) -> type[ExtractionReply]:
    from .tasks import RecordSchema

    schema = RecordSchema.model_validate_json(schema_json)
    label = _choice(schema.label.allowed, nullable=False) if schema.label.allowed else _text(MAX_TEXT, nullable=True)
    keys: dict[str, Any] = {
        "quote": (_text(MAX_QUOTE, nullable=False), ...),
        "entity": (_text(MAX_ENTITY, nullable=False), ...),
        "label": (label, ...),
        "value_text": (_text(MAX_TEXT, nullable=True), ...),
        "unit": (_text(MAX_TEXT, nullable=True), ...),
    }
    keys |= {rule.name: (_annotation(rule), None) for rule in schema.fields}
    record = create_model(f"{name.title()}Record", __base__=_Record, **keys)
    bounded = Annotated[list[record], Field(json_schema_extra={"maxItems": MAX_RECORDS})]
    return create_model(f"{name.title()}Reply", __base__=ExtractionReply, records=(bounded, ...))


def system_prompt(task: Task) -> str:
    """The prefix that all windows of a task share, byte for byte."""
    schema = task.record
    example = schema.example
    return read_prompt("extract").fill(
        {
            "sentence": task.sentence,
            "counts": bullets(schema.instantiation.counts),
            "not_counts": bullets(schema.instantiation.not_counts),
            "defaults": bullets(schema.instantiation.defaults),
            "entity": schema.entity,
            "label": label_text(task),
            "value": schema.value.description or "the printed number",
            "fields": "\n".join(_field_text(rule) for rule in schema.fields),
            "example_text": example.text if example else "(none)",
            "example_answer": orjson.dumps({"records": [example.record] if example else []}).decode(),
        }
    )


def bullets(lines: list[str]) -> str:
    """Lines as a list."""
    return "\n".join(f"- {line}" for line in lines)


def label_text(task: Task) -> str:
    """The label's meaning and allowed values in one line."""
    label = task.record.label
    allowed = f"; one of {', '.join(label.allowed)}" if label.allowed else ""
    return f"{label.name}, {label.description}{allowed}"


def _field_text(rule: FieldRule) -> str:
    kinds: Mapping[str, str] = {"boolean": "; true or false", "number": "; a number", "list": "; a list"}
    allowed = f"; one of {', '.join(rule.allowed)}" if rule.allowed else kinds.get(rule.type, "")
    return f"- {rule.name}: {rule.description or rule.name}{allowed}"


def extract_call(task: Task, unit: str, passage: str, max_output_tokens: int) -> ModelCall[ExtractionReply]:
    """The call that reads one passage; ``unit`` is the journal unit that pays for it."""
    return ModelCall(
        role=Role.EXTRACTOR,
        purpose=f"{task.name}/extract",
        unit=unit,
        system=system_prompt(task),
        user=fence("PASSAGE", passage),
        reply_type=reply_type(task),
        prompt=read_prompt("extract").reference,
        max_output_tokens=max_output_tokens,
    )
