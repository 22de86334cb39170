"""Finds folded names in text: a dictionary over tokens, with offsets into the text as stored.

A name of several words is looked up by its first two words, which leaves few lengths to try. That reads a paragraph
in one pass, needs no automaton in memory beside the names, and was faster than Aho-Corasick over the same tokens,
whose root has one child per word of the vocabulary.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from starling_assets.ontology.folding import TOKEN, fold_token

#: Raw spellings whose folded form is remembered; bounded, so that a hostile corpus cannot fill the memory.
_CACHE_LIMIT = 400_000
_PIECES = re.compile(f"({TOKEN.pattern})")


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
        self._folded = _Folded()

    def __len__(self) -> int:
        return len(self._positions)

    @property
    def positions(self) -> Mapping[str, int]:
        """Folded name to its position."""
        return self._positions

    def find(self, text: str) -> list[Hit]:
        """All whole-word occurrences, also overlapping ones, ordered by start, then length."""
        # One split in C gives gap, token, gap, token, …, gap; running lengths are the offsets.
        pieces = _PIECES.split(text)
        tokens = pieces[1::2]
        if not tokens:
            return []
        offsets = list(accumulate(map(len, pieces)))
        starts, ends, gaps = offsets[0::2], offsets[1::2], pieces[0::2]
        words = list(map(self._folded.__getitem__, tokens))
        positions, lengths = self._positions, self._lengths
        hits = [
            Hit(starts[index], ends[index], positions[word])
            for index, word in enumerate(words)
            if word in positions and _whole(gaps, index, index, len(words))
        ]
        for first, pair in enumerate(map(" ".join, zip(words, words[1:], strict=False))):
            if pair not in lengths:
                continue
            for length in lengths[pair]:
                last = first + length - 1
                if last < len(words):
                    key = positions.get(" ".join(words[first : last + 1]))
                    if key is not None and _whole(gaps, first, last, len(words)):
                        hits.append(Hit(starts[first], ends[last], key))
        hits.sort()
        return hits


def _whole(gaps: list[str], first: int, last: int, count: int) -> bool:
    """Whether no letter or digit touches the tokens from either side (``gaps[i]`` stands before token ``i``)."""
    return (first == 0 or gaps[first] != "") and (last == count - 1 or gaps[last + 1] != "")


class _Folded(dict[str, str]):
    """Folded form per raw token, filled on demand."""

    def __missing__(self, token: str) -> str:
        folded = fold_token(token)
        if len(self) < _CACHE_LIMIT:
            self[token] = folded
        return folded
