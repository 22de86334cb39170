"""One object of a reply: what it says, checked key by key against the task's schema and the words of its quote.

Every object becomes a :class:`Draft` or a :class:`Refused` with a reason; nothing is mended in silence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from starling_assets.agents.tasks import FieldRule, Task

from .entities import Entities, Spot
from .grounding import Place, fold, places
from .numbers import NUMBER, Ambiguous, numbers_in, plain, read_number
from .values import Quantity, column_of, is_absent, read_cell, read_quantity
from .windows import Segment, Window

#: Keys that a salvaged object may lack, and those without which there is nothing to check.
_TEXT_KEYS = ("quote", "entity")


class Refused(Exception):
    """An object that becomes no record. ``reason`` is a fixed word, ``detail`` a line for a person."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Draft:
    """A checked object: grounded quote, entity, label, value and fields."""

    segment: Segment
    start: int  # of the stored block
    end: int
    quote: str  # the stored text
    alignment: str
    entity: str
    spots: tuple[Spot, ...]
    label: str | None
    quantity: Quantity | None
    unit_in_text: bool
    fields: dict[str, Any]
    note: str | None = None


def check_object(
    task: Task,
    window: Window,
    item: Mapping[str, Any],
    entities: Entities,
    fuzzy: float,
    used: Mapping[tuple[str, int, int], str],
) -> Draft:
    """Check one object; ``used`` maps evidence places already taken by this reply to their entity.

    Two objects that cite the same words do not share the first place: each gets the place nearest its entity, and
    of equally near ones a free one. Raises :class:`Refused`.
    """
    for key in _TEXT_KEYS:
        if is_absent(item.get(key)) or not isinstance(item.get(key), str):
            raise Refused("absent", f"{key} is missing")
    quote, entity = item["quote"].strip(), item["entity"].strip()
    label = _label(task, item.get("label"))
    fields = {rule.name: _field(rule, item.get(rule.name)) for rule in task.record.fields}
    spots = entities.spots(window, entity)
    if not spots and not _in_title(window, entity):
        raise Refused("entity_not_in_window", f"{entity!r} is not named in the passage")
    for rule in task.record.fields:
        if rule.grounded:
            _stands_in(window, rule.name, fields[rule.name])
    segment, place = _ground(window, quote, entity, spots, fuzzy, used)
    stored = segment.text[place.start : place.end]
    draft = Draft(
        segment,
        segment.start + place.start,
        segment.start + place.end,
        stored,
        place.alignment,
        entity,
        tuple(spots),
        label,
        None,
        False,
        fields,
    )
    return _with_value(task, draft, item)


def _label(task: Task, value: Any) -> str | None:
    rule = task.record.label
    if is_absent(value):
        raise Refused("absent", f"the label ({rule.name}) is missing")
    return _allowed(str(value), rule.allowed, rule.aliases, rule.name) if rule.allowed else str(value).strip()


def _allowed(value: str, allowed: list[str], aliases: Mapping[str, str], name: str) -> str:
    known = {option.casefold(): option for option in allowed}
    known |= {alias.casefold(): option for alias, option in aliases.items()}
    option = known.get(value.strip().casefold())
    if option is None:
        raise Refused("not_allowed", f"{name}: {value!r} is none of {', '.join(allowed)}")
    return option


def _field(rule: FieldRule, value: Any) -> Any:
    if is_absent(value):
        if not rule.nullable:
            raise Refused("absent", f"{rule.name} is missing")
        return None
    match rule.type:
        case "enum":
            return _allowed(str(value), rule.allowed, rule.aliases, rule.name)
        case "boolean":
            known = {True: True, False: False, "true": True, "false": False, "yes": True, "no": False}
            key = value.strip().casefold() if isinstance(value, str) else value
            if not isinstance(key, (bool, str)) or key not in known:
                raise Refused("not_allowed", f"{rule.name}: {value!r} is neither true nor false")
            return known[key]
        case "number":
            return _finite(rule.name, value)
        case "list":
            items = value if isinstance(value, list) else [value]
            return [str(item).strip() for item in items if not is_absent(item)] or None
        case _:
            return str(value).strip()


def _finite(name: str, value: Any) -> float:
    if isinstance(value, str):
        match = NUMBER.fullmatch(plain(value.strip()))
        reading = read_number(match) if match else Ambiguous("no number")
        value = math.nan if isinstance(reading, Ambiguous) else reading.value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise Refused("not_finite", f"{name}: {value!r} is not a finite number")
    return float(value)


def _stands_in(window: Window, name: str, value: Any) -> None:
    shown = "\n".join([window.title, *(segment.text for segment in window.segments)])
    for text in value if isinstance(value, list) else [value]:
        if text is not None and fold(str(text)).text not in fold(shown).text:
            raise Refused("field_not_in_window", f"{name}: {text!r} does not stand in the passage")


def _in_title(window: Window, entity: str) -> bool:
    needle = fold(entity).text
    return len(needle) > 2 and needle in fold(window.title).text


def _ground(
    window: Window,
    quote: str,
    entity: str,
    spots: list[Spot],
    fuzzy: float,
    used: Mapping[tuple[str, int, int], str],
) -> tuple[Segment, Place]:
    found = [(segment, place) for segment in window.segments for place in places(quote, segment.text, fuzzy)]
    if not found:
        raise Refused("ungrounded", f"the passage does not hold {quote[:120]!r}")

    def order(pair: tuple[Segment, Place]) -> tuple[int, int, bool, int, int]:
        segment, place = pair
        start, end = segment.start + place.start, segment.start + place.end
        taken = used.get((segment.block_key, start, end), entity) != entity
        quality = ("exact", "folded", "fuzzy").index(place.alignment)
        return quality, _distance(segment.block_key, start, end, spots), taken, segment.para_idx, start

    return min(found, key=order)


def _distance(block_key: str, start: int, end: int, spots: list[Spot]) -> int:
    """Characters from the entity's nearest name; one that follows the quote is worth half of one before it."""
    best = 1_000_000
    for spot in spots:
        if spot.block_key != block_key:
            continue
        if spot.end <= start:
            best = min(best, 2 * (start - spot.end))
        elif spot.start >= end:
            best = min(best, 4 * (spot.start - end) + 1)
        else:
            best = 0
    return best


def _with_value(task: Task, draft: Draft, item: Mapping[str, Any]) -> Draft:
    rule = task.record.value
    raw, unit = item.get("value_text"), item.get("unit")
    if is_absent(raw):
        if rule.required:
            raise Refused("absent", "no value was reported")
        return draft
    text = str(raw).strip()
    apart = None if is_absent(unit) else str(unit).strip()
    column = column_of(draft.segment.text, text) if draft.segment.kind == "table" else []
    quantity = read_cell(text, column, apart) if column else read_quantity(text, apart)
    printed = numbers_in(draft.quote)
    wanted = [abs(number) for number in _numbers_of(text)]
    if not wanted:
        if fold(text).text in fold(draft.quote).text:
            return draft if not rule.required else _no_number(text)
        return _no_number(text) if rule.required else replace(draft, note=f"value {text!r} is not in the quote")
    missing = [number for number in wanted if not any(math.isclose(number, abs(other)) for other in printed)]
    if missing:
        raise Refused("value_not_in_quote", f"{text!r} cannot be read in {draft.quote[:120]!r}")
    known = quantity.unit is None or fold(quantity.unit).text in fold(draft.segment.text).text
    return replace(draft, quantity=quantity, unit_in_text=known)


def _no_number(text: str) -> Draft:
    raise Refused("absent", f"{text!r} holds no number")


def _numbers_of(text: str) -> list[float]:
    readings = [read_number(match) for match in NUMBER.finditer(plain(text))]
    return [reading.value for reading in readings if not isinstance(reading, Ambiguous)]
