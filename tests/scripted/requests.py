"""Reading a request as a model would: task, passage, records to judge. Knows the prompts' outward form only."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_FENCE = re.compile(r"^<<<(?P<kind>[A-Z]+) (?P<key>[0-9a-f]+)\n(?P<text>.*?)\n(?P=key) (?P=kind)>>>", re.DOTALL)
_TASKS = {
    "blood-brain barrier": "bbb",
    "oral bioavailability": "oral",
    "lethal dose": "ld50",
    "associat": "gda",
    "subcellular": "psl",
}


@dataclass(frozen=True)
class Passage:
    """The passage of an extraction request."""

    title: str
    paragraphs: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join([self.title, *self.paragraphs])


def task_of(messages: list[dict[str, str]]) -> str:
    """The task's name, from the sentence in the system message."""
    system = next(message["content"] for message in messages if message["role"] == "system")
    sentence = next(line for line in system.splitlines() if line.startswith("Task: "))
    return next(name for words, name in _TASKS.items() if words in sentence.lower())


def fenced(messages: list[dict[str, str]]) -> str:
    """The data between the markers; a request without them is a mistake."""
    user = messages[-1]["content"]
    match = _FENCE.match(user)
    if match is None:
        raise AssertionError(f"the request has no fence: {user[:200]!r}")
    return match["text"]


def passage_of(messages: list[dict[str, str]]) -> Passage:
    text = fenced(messages)
    title = next((line.removeprefix("Title: ") for line in text.splitlines() if line.startswith("Title: ")), "")
    parts = re.split(r"^\[\d+\] ", text, flags=re.MULTILINE)[1:]
    return Passage(title, tuple(re.sub(r"\nSection: [^\n]*\n?$", "", part).strip("\n") for part in parts))


def candidates_of(messages: list[dict[str, str]]) -> list[tuple[str, dict[str, Any], str]]:
    """(id, record, paper text) of each record in a judge request."""
    found = re.findall(
        r"^id: (r\d+)\npaper: [^\n]*\nrecord: ([^\n]+)\npaper text: ([^\n]*)$", fenced(messages), re.MULTILINE
    )
    return [(name, json.loads(record), text) for name, record, text in found]


def is_judging(schema: dict[str, Any] | None) -> bool:
    return schema is not None and "verdicts" in schema.get("properties", {})


def record_keys(schema: dict[str, Any]) -> dict[str, Any]:
    """The properties of one record object in an extraction schema."""
    items = schema["properties"]["records"]["items"]
    if "$ref" in items:
        items = schema["$defs"][items["$ref"].rsplit("/", 1)[-1]]
    return items["properties"]
