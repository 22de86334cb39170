"""Gold records and the comparison of texts without white space."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent
BUNDLED = TESTS / "data" / "gold"
#: What a gold label of null stands for, by task.
NO_LEVEL = {"oral": "relative"}
_SHINGLE = 12


@dataclass(frozen=True)
class GoldRecord:
    """One hand-read record. ``labels`` holds the label and the further ones to accept."""

    record_id: str
    task: str
    paper_id: str
    paragraph: str
    quote: str
    entity: str
    names: tuple[str, ...]
    labels: tuple[str, ...]
    value_text: str | None
    numbers: tuple[float, ...]
    sure: bool
    cluster: str
    kind: str
    fields: dict[str, Any] = field(default_factory=dict)

    @property
    def squeezed(self) -> str:
        return squeeze(self.quote)

    def stands_in(self, text: str) -> bool:
        """Whether ``text`` (a paragraph, or a table that holds the row) is where the record was read."""
        squeezed = squeeze(text)
        if self.squeezed not in squeezed:
            return False
        own = squeeze(self.paragraph)
        if own in squeezed or squeezed in own:
            return True
        pieces = [own[at : at + _SHINGLE] for at in range(0, max(1, len(own) - _SHINGLE), _SHINGLE)]
        return sum(piece in squeezed for piece in pieces) * 3 >= len(pieces)


@dataclass(frozen=True)
class Gold:
    """All gold records by task."""

    records: tuple[GoldRecord, ...]

    def of(self, task: str) -> list[GoldRecord]:
        return [record for record in self.records if record.task == task]


@cache
def load_gold(folder: Path | None = None) -> Gold:
    """The records of ``folder``, or the bundled ones with the shared ones where there are any."""
    folders = [folder] if folder else [BUNDLED, *_shared()]
    found: dict[str, GoldRecord] = {}
    for base in folders:
        for path in sorted(base.glob("*/records.jsonl")):
            for line in path.read_text(encoding="utf-8").splitlines():
                record = _record(json.loads(line))
                found.setdefault(record.record_id, record)
    return Gold(tuple(found.values()))


def squeeze(text: str) -> str:
    """``text`` without white space, and without the signs by which readers of papers mark superscripts and notes."""
    return "".join(char for char in text if _counts(char))


def _counts(char: str) -> bool:
    return not char.isspace() and char not in "^[]"


def original(squeezed: str, text: str) -> str | None:
    """The stretch of ``text`` that squeezes to ``squeezed``; None if there is none."""
    places = [index for index, char in enumerate(text) if _counts(char)]
    at = squeeze(text).find(squeezed)
    return text[places[at] : places[at + len(squeezed) - 1] + 1] if at >= 0 and squeezed else None


def numbers(text: str | None) -> tuple[float, ...]:
    """Plain numbers of ``text``, for comparing values."""
    return tuple(float(found) for found in re.findall(r"(?<![A-Za-z\d.])\d+(?:\.\d+)?", (text or "").replace(",", "")))


def _shared() -> Iterable[Path]:
    named = os.environ.get("STARLING_TEST_SHARED")
    folder = (Path(named) if named else TESTS.parent.parent / "shared" / "data") / "gold_records"
    return [folder] if folder.is_dir() else []


def _record(row: dict[str, Any]) -> GoldRecord:
    task, entity = row["task"], row["entity"]
    inner = re.findall(r"\(([^()]+)\)", entity)
    names = [
        entity,
        row.get("entity_resolved"),
        re.sub(r"\s*\([^()]*\)", "", entity),
        *inner,
        *re.split(r"\s+", entity)[:1],
    ]
    label = row.get("label")
    if task == "ld50":
        label = {"lethal_dose": "lethal_dose"}.get(row.get("metric"), row.get("metric") or "LD50")
    label = label or NO_LEVEL.get(task, "unclear")
    return GoldRecord(
        record_id=row["record_id"],
        task=task,
        paper_id=row["paper_id"],
        paragraph=row["paragraph"],
        quote=row["quote"],
        entity=entity,
        names=tuple(dict.fromkeys(name for name in names if name)),
        labels=(label, *(row.get("label_alt") or ())),
        value_text=row.get("value_text"),
        numbers=numbers(row.get("value_text")),
        sure=row.get("confidence") == "sure",
        cluster=row.get("same_as") or row["record_id"],
        kind=row.get("paragraph_kind") or "",
        fields={**(row.get("conditions") or {}), "claim_source": row.get("claim_source")},
    )
