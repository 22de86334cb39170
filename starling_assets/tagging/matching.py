"""Finds folded names in text: a dictionary over tokens, with offsets into the text as stored.

A name of several words is looked up by its first three words, which leaves few lengths to try. That reads a paragraph
in one pass, needs no automaton in memory beside the names, and was faster than Aho-Corasick over the same tokens,
whose root has one child per word of the vocabulary.
"""

from __future__ import annotations

import re
import sys
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
        # Most triples lead to one of few sets of lengths; one tuple each saves most of the memory.
        shared: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._begins: dict[str, _Seconds] = {}
        for name, position in self._positions.items():
            words = name.split(" ")
            if len(words) == 1:
                continue
            seconds = self._begins.setdefault(words[0], {})
            known, thirds = seconds.get(words[1], (-1, None))
            if len(words) == 2:
                known = position
            else:
                thirds = {} if thirds is None else thirds
                lengths = tuple(sorted({*thirds.get(words[2], ()), len(words)}))
                thirds[sys.intern(words[2])] = shared.setdefault(lengths, lengths)
            seconds[sys.intern(words[1])] = known, thirds
        self._tokens = _Tokens(self._positions, self._begins)

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
        words = list(map(self._tokens.__getitem__, tokens))
        hits: list[Hit] = []
        count = len(words)
        for first, (_, key, seconds) in enumerate(words):
            if key >= 0 and _whole(gaps, first, first, count):
                hits.append(Hit(starts[first], ends[first], key))
            if seconds is None or first + 1 == count:
                continue
            pair = seconds.get(words[first + 1][0])
            if pair is None:
                continue
            key, thirds = pair
            if key >= 0 and _whole(gaps, first, first + 1, count):
                hits.append(Hit(starts[first], ends[first + 1], key))
            if thirds is None or first + 2 == count:
                continue
            for length in thirds.get(words[first + 2][0], ()):
                last = first + length - 1
                if last < count:
                    position = self._positions.get(" ".join([word[0] for word in words[first : last + 1]]))
                    if position is not None and _whole(gaps, first, last, count):
                        hits.append(Hit(starts[first], ends[last], position))
        hits.sort()
        return hits


def _whole(gaps: list[str], first: int, last: int, count: int) -> bool:
    """Whether no letter or digit touches the tokens from either side (``gaps[i]`` stands before token ``i``)."""
    return (first == 0 or gaps[first] != "") and (last == count - 1 or gaps[last + 1] != "")


#: Of names that begin with a word: the second word -> position of the name of these two (-1: none), and the third word
#: -> numbers of words of the names that go on with it.
_Seconds = dict[str, tuple[int, dict[str, tuple[int, ...]] | None]]
#: A token's folded form, its position as a name of one word (-1: none), and what names it begins.
_Token = tuple[str, int, _Seconds | None]


class _Tokens(dict[str, _Token]):
    """What is known of each raw token, filled on demand: one look-up per token of a text, in a small dictionary."""

    def __init__(self, positions: dict[str, int], begins: dict[str, _Seconds]) -> None:
        super().__init__()
        self._positions = positions
        self._begins = begins

    def __missing__(self, token: str) -> _Token:
        folded = fold_token(token)
        known = folded, self._positions.get(folded, -1), self._begins.get(folded)
        if len(self) < _CACHE_LIMIT:
            self[token] = known
        return known
