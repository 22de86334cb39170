"""From the text of a reply to a value of the asked type, or to the class of failure it is (F6)."""

from __future__ import annotations

import json
import re

from pydantic import BaseModel, ValidationError

from .calls import FailureKind, ModelFailure, Usage
from .schemas import misfit, reply_schema
from .strict_json import StrictJsonError, parse

#: So many blanks in a row are no formatting: the model is looping inside guided decoding.
LOOP_LENGTH = 200
_BLANKS = re.compile(rf"\s{{{LOOP_LENGTH},}}")


def read_reply[T: BaseModel](
    text: str | None, finish_reason: str | None, reply_type: type[T], usage: Usage | None = None
) -> T:
    """The value of ``reply_type`` that ``text`` holds, or :class:`ModelFailure` with ``usage`` and the raw text.

    A reply that was cut off is a failure even where its text happens to parse: what follows the cut is unknown. Numbers
    written as text, missing keys and unknown keys are a schema mismatch; nothing is coerced.
    """
    raw = text or ""
    kind_and_message = _unusable(raw, finish_reason)
    if kind_and_message is None:
        try:
            value = parse(raw)
        except StrictJsonError as error:
            kind_and_message = (
                (FailureKind.WHITESPACE_LOOP, _loop_message(raw))
                if _BLANKS.search(raw)
                else (FailureKind.MALFORMED, str(error))
            )
        else:
            problem = misfit(value, reply_schema(reply_type))
            if problem is None:
                try:
                    return reply_type.model_validate_json(json.dumps(value), strict=True)
                except ValidationError as error:
                    problem = _first_problem(error)
            kind_and_message = (FailureKind.SCHEMA_MISMATCH, problem)
    kind, message = kind_and_message
    raise ModelFailure(kind, message, usage, raw)


def _unusable(raw: str, finish_reason: str | None) -> tuple[FailureKind, str] | None:
    """The failure that shows before the text is parsed."""
    blank = not raw.strip()
    if finish_reason == "content_filter":
        return FailureKind.EMPTY, "the endpoint's content filter withheld the reply"
    if blank and (finish_reason == "length" or len(raw) >= LOOP_LENGTH):
        return FailureKind.WHITESPACE_LOOP, _loop_message(raw)
    if blank:
        return FailureKind.EMPTY, "the reply holds no text"
    if finish_reason == "length":
        if _BLANKS.search(raw):
            return FailureKind.WHITESPACE_LOOP, _loop_message(raw)
        return FailureKind.TRUNCATED, f"the reply was cut off at the token limit after {len(raw)} characters"
    return None


def _loop_message(raw: str) -> str:
    return f"the reply ends in blanks without end ({len(raw)} characters, {len(raw.strip())} of them text)"


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "reply"
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return f"{where}: {first['msg']}{more}"
