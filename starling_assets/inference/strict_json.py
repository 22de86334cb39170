"""Strict JSON (RFC 8259) for model output: what a lenient reader would wave through is refused with its reason.

Refused are NaN and infinities, a key given twice with different values, text around the JSON, a second value after the
first, lone surrogates, and nesting without end. Of a list that was cut off, the finished objects can be salvaged, and
the counts say what became of each.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

NOT_JSON = "not JSON"
TEXT_AROUND = "text around the JSON"
MORE_THAN_ONE = "more than one JSON value"
NOT_FINITE = "not a finite number"
KEY_TWICE = "the same key twice with different values"
BAD_CHARACTER = "half of a surrogate pair"
TOO_DEEP = "nested too deeply"
NOT_AN_OBJECT = "not an object"
WRONG_SHAPE = "not of the asked shape"

#: Words that models write for "nothing was reported". Compared without case and outer blanks; nothing else is absence.
ABSENT_WORDS = frozenset(
    {
        "",
        "null",
        "none",
        "n/a",
        "na",
        "nan",
        "nil",
        "-",
        "--",
        "\u2013",
        "\u2014",
        "not reported",
        "not available",
        "unknown",
    }
)
MAX_DEPTH = 64
_LIST_OF_OBJECTS = re.compile(r"\[\s*\{")
_SURROGATE = re.compile("[\ud800-\udfff]")


class StrictJsonError(ValueError):
    """The text is not the one JSON value it should be. ``reason`` is one of this module's constants."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Rejected:
    """An object that was finished but cannot be used, with the reason and its text."""

    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What a cut-off list holds: ``seen`` objects = ``objects`` + ``rejected`` + ``unfinished`` (0 or 1)."""

    objects: tuple[dict[str, Any], ...] = ()
    rejected: tuple[Rejected, ...] = ()
    unfinished: int = 0

    @property
    def seen(self) -> int:
        """All objects that were begun."""
        return len(self.objects) + len(self.rejected) + self.unfinished


def parse(text: str) -> Any:
    """The one JSON value that ``text`` is, blanks around it aside. Raises :class:`StrictJsonError`."""
    body = text.strip(" \t\r\n")
    if not body:
        raise StrictJsonError(NOT_JSON, "empty")
    try:
        value, end = _DECODER.raw_decode(body)
    except StrictJsonError:
        raise
    except json.JSONDecodeError as error:
        around = _holds_json_elsewhere(body)
        raise StrictJsonError(TEXT_AROUND if around else NOT_JSON, f"{error.msg} at character {error.pos}") from None
    except RecursionError:
        raise StrictJsonError(TOO_DEEP) from None
    except ValueError as error:  # an integer with more digits than Python converts
        raise StrictJsonError(NOT_FINITE, str(error)[:80]) from None
    if end != len(body):
        rest = body[end:].lstrip()
        reason = MORE_THAN_ONE if rest[:1] in tuple('{["') else TEXT_AROUND
        raise StrictJsonError(reason, f"{rest[:40]!r} follows it")
    _check(value, 0)
    return value


def salvage_objects(text: str) -> Salvaged:
    """The finished objects of the first list of objects in ``text``, which may be cut off and have prose around it."""
    start = _LIST_OF_OBJECTS.search(text)
    if start is None:
        return Salvaged()
    objects: list[dict[str, Any]] = []
    rejected: list[Rejected] = []
    position = start.start() + 1
    while position < len(text):
        character = text[position]
        if character == "]":
            break
        if character in " \t\r\n,":
            position += 1
            continue
        end = _end_of_item(text, position)
        if end is None:
            return Salvaged(tuple(objects), tuple(rejected), 1)
        end = max(end, position + 1)  # a bracket that closes nothing is an item of its own: the scan always moves on
        item, position = text[position:end], end
        try:
            value = parse(item)
        except StrictJsonError as error:
            rejected.append(Rejected(error.reason, item))
            continue
        if isinstance(value, dict):
            objects.append(value)
        else:
            rejected.append(Rejected(NOT_AN_OBJECT, item))
    return Salvaged(tuple(objects), tuple(rejected), 0)


def salvage_items[T: BaseModel](text: str, item_type: type[T]) -> tuple[list[T], Salvaged]:
    """As :func:`salvage_objects`, keeping only objects that validate as ``item_type``; the others are rejected."""
    found = salvage_objects(text)
    values: list[T] = []
    objects: list[dict[str, Any]] = []
    rejected = list(found.rejected)
    for item in found.objects:
        written = json.dumps(item, ensure_ascii=False)
        try:
            values.append(item_type.model_validate_json(written, strict=True))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "object"
            rejected.append(Rejected(f"{WRONG_SHAPE}: {where}: {first['msg']}", written))
        else:
            objects.append(item)
    return values, Salvaged(tuple(objects), tuple(rejected), found.unfinished)


def absent_to_none(value: Any) -> Any:
    """``None`` for a word that means absence (``null``, ``N/A``), else ``value``.

    Meant as a ``BeforeValidator`` of nullable fields.
    """
    if not isinstance(value, str):
        return value
    word = value.strip()
    return None if word.casefold() in ABSENT_WORDS and word != "Na" else value  # Na is sodium


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        # Compared as text: 1, 1.0 and true are equal to Python but not the same answer.
        if key in found and json.dumps(found[key], sort_keys=True) != json.dumps(value, sort_keys=True):
            raise StrictJsonError(KEY_TWICE, repr(key)[:60])
        found[key] = value
    return found


def _constant(name: str) -> Any:
    raise StrictJsonError(NOT_FINITE, name)


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise StrictJsonError(NOT_FINITE, text[:40])
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_number)


def _check(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise StrictJsonError(TOO_DEEP)
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise StrictJsonError(BAD_CHARACTER)
    elif isinstance(value, dict):
        for key, inner in value.items():
            _check(key, depth)
            _check(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check(inner, depth + 1)


def _holds_json_elsewhere(body: str) -> bool:
    """Whether prose or a code fence comes before something that looks like JSON."""
    return body[0] not in '{["' and re.search(r"[{\[]", body) is not None


def _end_of_item(text: str, start: int) -> int | None:
    """Where the item that begins at ``start`` ends, minding strings and nesting; ``None`` when the text ends first."""
    depth, in_string, escaped = 0, False, False
    for position in range(start, len(text)):
        character = text[position]
        if in_string:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                in_string = False
        elif character == '"':
            in_string = True
        elif character in "{[":
            depth += 1
        elif character in "}]":
            if depth == 0:  # the list's own bracket ends a bare word
                return position
            depth -= 1
            if depth == 0:
                return position + 1
        elif character == "," and depth == 0:
            return position
    return None
