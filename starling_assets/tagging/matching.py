"""Finds folded names in text: a dictionary over tokens, with offsets into the text as stored.

A name of several words is looked up by its first two words, which leaves few lengths to try. That reads a paragraph
in one pass, needs no automaton in memory beside the names, and was faster than Aho-Corasick over the same tokens,
whose root has one child per word of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from starling_assets.ontology.folding import TOKEN, fold_token

#: Raw spellings whose folded form is remembered; bounded, so that a hostile corpus cannot fill the memory.
_CACHE_LIMIT = 400_000


class Hit(NamedTuple):
    """A name found at ``text[start:end]``; ``key`` is its position in the list given to the matcher."""

    start: int
    end: int
    key: int


class TokenMatcher:
    """All of ``names`` at once. A name matches whole words only: never a part of a word or of a number."""

    def __init__(self, names: Sequence[str]) -> None:
        self._positions = {name: position for position, name in enumerate(names)}
        lengths: dict[str, set[int]] = {}
        for name in names:
            words = name.split(" ")
            if len(words) > 1:
                lengths.setdefault(f"{words[0]} {words[1]}", set()).add(len(words))
        # Most pairs share one of few sets of lengths; one tuple each saves most of the memory.
        shared: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._lengths = {
            pair: shared.setdefault(key, key) for pair, values in lengths.items() for key in [tuple(sorted(values))]
        }
        self._cache: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._positions)

    @property
    def positions(self) -> Mapping[str, int]:
        """Folded name to its position."""
        return self._positions

    def find(self, text: str) -> list[Hit]:
        """All whole-word occurrences, also overlapping ones, ordered by start, then length."""
        starts: list[int] = []
        ends: list[int] = []
        words: list[str] = []
        cache = self._cache
        for match in TOKEN.finditer(text):
            token = match.group()
            words.append(cache.get(token) or self._fold(token))
            starts.append(match.start())
            ends.append(match.end())
        hits: list[Hit] = []
        positions, pairs = self._positions, self._lengths
        last = len(words) - 1
        for first, word in enumerate(words):
            if first and ends[first - 1] == starts[first]:
                continue
            key = positions.get(word)
            if key is not None and not (first < last and ends[first] == starts[first + 1]):
                hits.append(Hit(starts[first], ends[first], key))
            if first == last:
                break
            for length in pairs.get(f"{word} {words[first + 1]}", ()):
                end = first + length - 1
                if end > last or (end < last and ends[end] == starts[end + 1]):
                    continue
                key = positions.get(" ".join(words[first : end + 1]))
                if key is not None:
                    hits.append(Hit(starts[first], ends[end], key))
        return hits

    def _fold(self, token: str) -> str:
        folded = fold_token(token)
        if len(self._cache) < _CACHE_LIMIT:
            self._cache[token] = folded
        return folded
