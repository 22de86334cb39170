"""The reply of dots.ocr: a JSON list of elements, checked one by one, salvaged where the list is damaged."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from starling_assets.inference.strict_json import StrictJsonError, parse, salvage_objects

Category = Literal[
    "Caption", "Footnote", "Formula", "List-item", "Page-footer", "Page-header", "Picture", "Section-header", "Table",
    "Text", "Title",
]  # fmt: skip
#: A box may reach this many pixels past the picture's edge: the model counts in steps.
_SLACK = 28
_REASON = 120


class Element(BaseModel):
    """One element as the model gives it; the box in pixels of the picture it saw."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    bbox: Annotated[list[float], Field(min_length=4, max_length=4)]
    category: Category
    text: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """The elements that can be used, in the model's order, and why the others cannot.

    ``damage`` says what is wrong with the list as a whole; empty for a list that is what it should be.
    """

    elements: tuple[Element, ...]
    lost: tuple[str, ...] = ()
    damage: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether nothing was lost."""
        return not self.lost and not self.damage

    def trouble(self) -> str:
        """What was lost, in one line."""
        parts = [self.damage] if self.damage else []
        if self.lost:
            parts.append(f"{len(self.lost)} of {len(self.lost) + len(self.elements)} elements unusable: {self.lost[0]}")
        return "; ".join(parts)


def read_layout(reply: str, width: int, height: int) -> Layout:
    """The layout that ``reply`` holds, for a picture of that size in pixels."""
    damage = ""
    try:
        value = parse(reply)
    except StrictJsonError as error:
        found = salvage_objects(reply)
        value = [*found.objects, *(item.text for item in found.rejected)]
        damage = f"{error.reason}, {len(found.objects)} finished elements"
    if not isinstance(value, list):
        return Layout((), (), "the reply is no list of elements")
    elements: list[Element] = []
    lost: list[str] = []
    for item in value:
        element = _element(item)
        problem = element if isinstance(element, str) else _misplaced(element, width, height)
        if problem:
            lost.append(problem[:_REASON])
        elif isinstance(element, Element) and element not in elements[-1:]:  # the same twice in a row is once
            elements.append(element)
    return Layout(tuple(elements), tuple(lost), damage)


def _element(item: Any) -> Element | str:
    """The element, or why it is none."""
    if not isinstance(item, dict):
        return "not an object"
    if item.get("text") is None:
        item = {name: value for name, value in item.items() if name != "text"}
    try:
        return Element.model_validate_json(json.dumps(item, ensure_ascii=False), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"


def _misplaced(element: Element, width: int, height: int) -> str:
    left, top, right, bottom = element.bbox
    if right <= left or bottom <= top:
        return f"bbox {element.bbox} has no area"
    if left >= width or top >= height or right > width + _SLACK or bottom > height + _SLACK or min(left, top) < -_SLACK:
        return f"bbox {element.bbox} lies outside the picture of {width} × {height}"
    if not element.text.strip() and element.category != "Picture":
        return f"a {element.category} without text"
    return ""
