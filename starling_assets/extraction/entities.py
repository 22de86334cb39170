"""Who is the record about: where the entity's name stands in the window, and which tagged entity that is.

Identity (concept, structure, sequence) comes from the tags and their links, never from the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from .grounding import fold, places
from .windows import Segment, Window

#: No similarity reaches this: names are found exactly or folded, never fuzzily.
_NEVER = 2.0


@dataclass(frozen=True, slots=True)
class Spot:
    """A place of the entity's name in a stored block: half-open offsets."""

    block_key: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Identity:
    """What the tags know about the entity; every field may be None."""

    entity_key: str | None = None
    entity_type: str | None = None
    concept_id: str | None = None
    concept_name: str | None = None
    smiles: str | None = None
    inchikey: str | None = None
    parent_inchikey: str | None = None
    sequence: str | None = None


@dataclass(frozen=True, slots=True)
class _Mention:
    start: int
    end: int
    entity_key: str
    entity_type: str


class Entities:
    """The tagged entities of a shard: TAGS, MENTIONS and LINKS frames, looked up by paper, block and name."""

    def __init__(self, tags: pl.DataFrame, mentions: pl.DataFrame, links: pl.DataFrame, types: Sequence[str]) -> None:
        self._types = {name: rank for rank, name in enumerate(types)}
        self._links: dict[str, dict[str, Any]] = {row["entity_key"]: row for row in links.iter_rows(named=True)}
        self._mentions: dict[tuple[str, str], list[_Mention]] = {}
        columns = ("paper_id", "block_key", "start", "end", "entity_key", "entity_type")
        for paper, block, start, end, key, kind in mentions.select(columns).iter_rows():
            self._mentions.setdefault((paper, block), []).append(_Mention(start, end, key, kind))
        self._names: dict[tuple[str, str], set[str]] = {}
        self._kinds: dict[str, str] = {}
        for row in tags.iter_rows(named=True):
            self._kinds[row["entity_key"]] = row["entity_type"]
            for name in _names(row):
                self._names.setdefault((row["paper_id"], fold(name).text), set()).add(row["entity_key"])

    def spots(self, window: Window, entity: str) -> list[Spot]:
        """Places of ``entity`` in the window as a whole word, else mentions there of the entity that it names."""
        found = [
            Spot(segment.block_key, segment.start + place.start, segment.start + place.end)
            for segment in window.segments
            for place in places(entity, segment.text, _NEVER)
            if is_whole_word(segment.text, place.start, place.end)
        ]
        if found:
            return found
        keys = self._names.get((window.paper_id, fold(entity).text), set())
        return [
            Spot(segment.block_key, mention.start, mention.end)
            for segment in window.segments
            for mention in self._within(window.paper_id, segment)
            if mention.entity_key in keys
        ]

    def identity(self, window: Window, entity: str, spots: Iterable[Spot]) -> Identity:
        """The tagged entity that the name stands for: by the mention at a spot, else by the paper's names of it.

        Of several the one of the task's own types wins, then the one with a concept, then the closest in length.
        """
        ranked: list[tuple[tuple[int, bool, int, str], str]] = []
        for spot in spots:
            for mention in self._mentions.get((window.paper_id, spot.block_key), ()):
                overlap = min(mention.end, spot.end) - max(mention.start, spot.start)
                # A tag on a part of the name ("benzene" in "benzene sulfonamide") is another substance.
                if overlap * 10 >= 9 * max(spot.end - spot.start, mention.end - mention.start):
                    difference = abs((mention.end - mention.start) - (spot.end - spot.start))
                    ranked.append((self._rank(mention.entity_key, mention.entity_type, difference), mention.entity_key))
        named = self._names.get((window.paper_id, fold(entity).text), ())
        ranked += [(self._rank(key, self._kinds[key], 0), key) for key in named]
        return self._identity(min(ranked)[1]) if ranked else Identity()

    def _rank(self, key: str, kind: str, difference: int) -> tuple[int, bool, int, str]:
        link = self._links.get(key)
        return self._types.get(kind, len(self._types)), not (link and link["concept_id"]), difference, key

    def _identity(self, key: str) -> Identity:
        link = self._links.get(key)
        if link is None:
            return Identity(entity_key=key, entity_type=self._kinds.get(key))
        return Identity(
            key,
            link["entity_type"],
            link["concept_id"],
            link["concept_name"],
            link["smiles"],
            link["inchikey"],
            link["parent_inchikey"],
            link["sequence"],
        )

    def _within(self, paper_id: str, segment: Segment) -> Iterable[_Mention]:
        end = segment.start + len(segment.text)
        for mention in self._mentions.get((paper_id, segment.block_key), ()):
            if mention.start >= segment.start and mention.end <= end:
                yield mention


def is_whole_word(text: str, start: int, end: int) -> bool:
    """Whether the span neither begins nor ends inside a word: "ion" is not in "station"; a plural s may follow."""
    before, after = text[start - 1 : start], text[end : end + 2]
    if before.isalnum() and text[start : start + 1].isalnum():
        return False
    if not after[:1].isalnum() or not text[end - 1 : end].isalnum():
        return True
    return after[:1] == "s" and not after[1:].isalnum()


def _names(row: dict[str, Any]) -> list[str]:
    lists = [*(row["synonyms"] or ()), *(row["surface_forms"] or ())]
    return [name for name in (row["canonical_name"], row["alias"], row["resolved_name"], *lists) if name]
