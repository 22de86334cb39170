"""Where gold records stand in a corpus, and which predictions match them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tests.scripted.gold import GoldRecord, load_gold, numbers, squeeze


@dataclass(frozen=True)
class Located:
    """A gold record at the paragraph that holds its quote."""

    record: GoldRecord
    paper_id: str
    para_idx: int

    def matches(self, row: dict[str, Any]) -> bool:
        """Same paper, entity and label; for a value task (LD50) the same number too."""
        if row["paper_id"] != self.paper_id or row["label"] not in self.record.labels:
            return False
        names = {squeeze(name).casefold() for name in self.record.names}
        if not names & {squeeze(row[key] or "").casefold() for key in ("entity", "concept_name")}:
            return False
        return self.record.task != "ld50" or bool(set(numbers(row["value_text"])) & set(self.record.numbers))

    @property
    def fact(self) -> tuple[str, str]:
        """Key of the fact: restatements count once."""
        return self.paper_id, self.record.cluster


def locate(folder: Path, task: str, blocks: pl.DataFrame) -> list[Located]:
    """Gold records of ``task`` whose quote stands in ``blocks``, at the first paragraph that holds it."""
    texts = [
        (paper, para, text, squeeze(text))
        for paper, para, text in blocks.filter(pl.col("para_idx").is_not_null())
        .select("paper_id", "para_idx", "text")
        .iter_rows()
    ]
    found = []
    for record in load_gold(folder).of(task):
        for paper, para, text, squeezed in texts:
            if record.squeezed in squeezed and record.stands_in(text):
                found.append(Located(record, paper, para))
                break
    return found


def score(records: pl.DataFrame, gold: Sequence[Located], reachable: Sequence[Located]) -> dict[str, Any]:
    """Precision over ``records``, recall of sure facts over all gold and over what stood in windows that were read."""
    rows = records.to_dicts()
    right = wrong = neutral = 0
    for row in rows:
        matched = [item for item in gold if item.matches(row)]
        if any(item.record.sure for item in matched):
            right += 1
        elif matched:
            neutral += 1
        else:
            wrong += 1
    hit, wanted = _facts(gold, rows)
    hit_read, wanted_read = _facts(reachable, rows)
    return {
        "right": right,
        "wrong": wrong,
        "neutral": neutral,
        "precision": _share(right, right + wrong),
        "facts": wanted,
        "facts_found": hit,
        "recall": _share(hit, wanted),
        "facts_in_read_windows": wanted_read,
        "recall_in_read_windows": _share(hit_read, wanted_read),
    }


def _facts(gold: Iterable[Located], rows: list[dict[str, Any]]) -> tuple[int, int]:
    wanted: dict[tuple[str, str], list[Located]] = {}
    for item in gold:
        if item.record.sure:
            wanted.setdefault(item.fact, []).append(item)
    return sum(any(item.matches(row) for item in items for row in rows) for items in wanted.values()), len(wanted)


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
