"""The compiled lexicon in memory: names to their rows, and which rows a written form really fits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from starling_assets.ontology.folding import dashes, edges_of, gaps_of, spell
from starling_assets.ontology.lexicon import KIND_RANK
from starling_assets.tagging.matching import Hit, TokenMatcher

#: Signs that may not come and go inside a name: "cancer, pain" is not "cancer pain".
_HARD = re.compile(r"[,;:.()\[\]{}+*/<>=%&|]")
_SOFT = re.compile(r"[\s'’`\"-]+")
_DECISIONS = 200_000


class Entry(NamedTuple):
    """One lexicon row."""

    name: str
    concept_id: str
    entity_type: str
    preferred: str
    kind: str
    case_sensitive: bool
    organism: str | None

    @property
    def rank(self) -> int:
        """Strength of the name for its concept; 0 is the concept's own name."""
        return KIND_RANK.get(self.kind, 3)


class Vocabulary:
    """All names of a lexicon, searchable in text."""

    def __init__(self, lexicon: pl.DataFrame, min_name_length: int) -> None:
        frame = lexicon.sort("folded", "entity_type", "concept_id", "name")
        keys = frame["folded"].to_list()
        self._columns = [
            frame[name].to_list()
            for name in ("name", "concept_id", "entity_type", "preferred", "kind", "case_sensitive", "organism")
        ]
        self._names: list[str] = []
        self._bounds: list[int] = []
        for row, key in enumerate(keys):
            if not self._names or self._names[-1] != key:
                self._names.append(key)
                self._bounds.append(row)
        self._bounds.append(len(keys))
        self._min_length = min_name_length
        self._matcher = TokenMatcher(self._names)
        self._fits: dict[tuple[int, str], tuple[list[Entry], bool]] = {}

    def find(self, text: str) -> list[Hit]:
        """Whole-word occurrences of any name."""
        return self._matcher.find(text)

    def rows(self, folded: str) -> list[Entry]:
        """All rows of a folded name."""
        position = self._matcher.positions.get(folded)
        return [] if position is None else self._entries(position)

    def fitting(self, hit: Hit, text: str) -> list[Entry]:
        """The rows that the written form fits: case where it matters, signs inside and around the name."""
        surface = text[hit.start : hit.end]
        found = self._fits.get((hit.key, surface))
        if found is None:
            entries = [entry for entry in self._entries(hit.key) if self._fits_form(entry, surface)]
            found = entries, any(not (entry.name[0].isalnum() and entry.name[-1].isalnum()) for entry in entries)
            if len(self._fits) < _DECISIONS:
                self._fits[hit.key, surface] = found
        entries, with_signs = found
        return [entry for entry in entries if _fits_edges(entry.name, text, hit)] if with_signs else entries

    def _entries(self, position: int) -> list[Entry]:
        columns = self._columns
        return [
            Entry(*(column[row] for column in columns))
            for row in range(self._bounds[position], self._bounds[position + 1])
        ]

    def _fits_form(self, entry: Entry, surface: str) -> bool:
        letters = spell(surface)
        exact = entry.case_sensitive or (len(letters) < self._min_length and not entry.name.islower())
        if exact and letters != spell(entry.name):
            return False
        return not _HARD.search(surface + entry.name) or _hard_gaps(surface) == _hard_gaps(entry.name)


def _hard_gaps(text: str) -> Sequence[str]:
    return [_SOFT.sub("", gap) for gap in gaps_of(text)]


def _fits_edges(name: str, text: str, hit: Hit) -> bool:
    if name[0].isalnum() and name[-1].isalnum():
        return True
    lead, tail = edges_of(name)
    return (not lead or dashes(text[max(0, hit.start - len(lead)) : hit.start]) == lead) and (
        not tail or dashes(text[hit.end : hit.end + len(tail)]) == tail
    )


def full_span(entry: Entry, hit: Hit) -> tuple[int, int]:
    """Span of a mention with the signs that belong to the name, such as the charge of ``Na+``."""
    if entry.name[0].isalnum() and entry.name[-1].isalnum():
        return hit.start, hit.end
    lead, tail = edges_of(entry.name)
    return hit.start - len(lead), hit.end + len(tail)
