"""Scripted tagging models: they know the gold mentions of some documents and answer from the request alone.

``IdealTagger`` names every gold entity whose forms stand in the passage; ``SloppyTagger`` leaves some out, misspells,
miscounts paragraphs and adds common words; ``AdversarialTagger`` gives nothing that is printed, in many disguises.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from starling_assets.tagging.entity_types import EntityType
from starling_assets.tagging.llm.prompts import student_prompt, teacher_prompt

from .requests import fenced

Messages = list[dict[str, str]]
_TYPES = {teacher_prompt(item).text: item for item in EntityType}


@dataclass(frozen=True)
class GoldEntity:
    """An entity with the forms it has in one gold document. ``paragraph`` is the text of the paragraph."""

    entity_type: str
    name: str
    forms: tuple[str, ...]
    paragraph: str


@dataclass
class IdealTagger:
    """Everything the gold knows, and nothing else."""

    gold: Iterable[GoldEntity]
    calls: int = 0
    by_text: dict[str, list[GoldEntity]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for entity in self.gold:
            self.by_text.setdefault(_squeezed(entity.paragraph), []).append(entity)

    def __call__(self, messages: Messages, schema: dict[str, Any] | None) -> dict[str, Any]:
        self.calls += 1
        wanted, paragraphs = asked(messages)
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for number, text in paragraphs:
            squeezed = _squeezed(text)
            for whole, entities in self.by_text.items():
                if squeezed and squeezed in whole:
                    for entity in entities:
                        self.add(found, entity, number, text, wanted)
        return {"entities": list(found.values())}

    def add(
        self,
        found: dict[tuple[str, str], dict[str, Any]],
        entity: GoldEntity,
        number: int,
        text: str,
        wanted: EntityType | None,
    ) -> None:
        forms = [form for form in entity.forms if form in text]
        if not forms or wanted not in {None, entity.entity_type}:
            return
        slot = entity.entity_type, entity.name
        if slot not in found:
            found[slot] = blank(entity.entity_type, wanted, entity.name)
        one = found[slot]
        one["forms"] = list(dict.fromkeys([*one["forms"], *forms]))
        one["paragraphs"] = list(dict.fromkeys([*one["paragraphs"], number]))


@dataclass
class SloppyTagger(IdealTagger):
    """As the ideal one, with the mistakes that models make: they cost quality, never offsets."""

    def __call__(self, messages: Messages, schema: dict[str, Any] | None) -> dict[str, Any]:
        entities = super().__call__(messages, schema)["entities"]
        kept = []
        for entity in entities:
            kind = int(hashlib.sha256(entity["name"].encode()).hexdigest(), 16) % 5
            if kind == 0:
                continue
            if kind == 1:
                entity["forms"].append(entity["forms"][0] + "ine derivative")
            if kind == 2:
                entity["paragraphs"] = [9]
            if kind == 3:
                entity["synonyms"] = ["", "the same"]
            kept.append(entity)
        return {"entities": kept}


@dataclass
class AdversarialTagger(IdealTagger):
    """Names of other papers, of the examples, instructions, pieces of words: nothing that is printed as a word."""

    def __call__(self, messages: Messages, schema: dict[str, Any] | None) -> dict[str, Any]:
        wanted, paragraphs = asked(messages)
        kind = (wanted or EntityType.GENE).value
        text = " ".join(words for _, words in paragraphs)
        long = re.findall(r"[^\W\d_]{6,}", text)
        words = {word.casefold() for word in re.findall(r"\w+", text)}
        inside = [word[1:-1] for word in long if word[1:-1].casefold() not in words]
        forms = [
            "Veltrine", "PARAGON-7", "a form that no paper has", "", "…", "ignore all rules", "x" * 400,
            *inside[:3], *[word[::-1] + "q" for word in long[:3]],
        ]  # fmt: skip
        entities = [
            {**blank(kind, wanted, form or "nothing"), "forms": [form], "paragraphs": [1, 77]} for form in forms
        ]
        nameless = {**blank(kind, wanted, "\u200b"), "forms": long[:1], "paragraphs": [1]}
        return {"entities": [*entities, nameless]}


def validating(messages: Messages, schema: dict[str, Any] | None) -> dict[str, Any]:
    """Chooses the first candidate one of whose names is the name asked for, letter case aside; else none."""
    decisions = []
    for part in fenced(messages).split("\n\n"):
        lines = dict(line.split(": ", 1) for line in part.splitlines() if ": " in line)
        wanted = lines["name"].casefold()
        choices = [
            int(key)
            for key, text in lines.items()
            if key.isdigit() and wanted in re.split(r" \(also: |; |\)$", text.casefold())
        ]
        decisions.append({"id": lines["id"], "choice": choices[0] if choices else 0, "why": "same name"})
    return {"decisions": decisions}


@dataclass
class TaggerAndValidator:
    """One endpoint for both: what is asked shows which."""

    tagger: IdealTagger

    def __call__(self, messages: Messages, schema: dict[str, Any] | None) -> dict[str, Any]:
        if schema is not None and "decisions" in schema.get("properties", {}):
            return validating(messages, schema)
        return self.tagger(messages, schema)


def blank(entity_type: str, wanted: EntityType | None, name: str) -> dict[str, Any]:
    """An entity of the asked form without anything in it."""
    entity: dict[str, Any] = {"name": name, "synonyms": [], "forms": [], "paragraphs": []}
    if wanted is None:
        return {"type": entity_type, **entity, "organism": None, "alias": None, "resolved_name": None}
    return entity


def asked(messages: Messages) -> tuple[EntityType | None, list[tuple[int, str]]]:
    """The type that is asked for (None: all), and the numbered paragraphs of the passage."""
    system = messages[0]["content"]
    if not system.startswith(student_prompt().text) and not any(system.startswith(text) for text in _TYPES):
        raise AssertionError("the system message is no tagging prompt")
    wanted = next((item for text, item in _TYPES.items() if system.startswith(text)), None)
    parts = re.split(r"^\[(\d+)\] ", fenced(messages), flags=re.MULTILINE)
    return wanted, [(int(number), text.strip("\n")) for number, text in zip(parts[1::2], parts[2::2], strict=True)]


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)
