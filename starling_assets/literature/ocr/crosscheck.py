"""Is a reading what stands on the page? Held against the page's ink and, where there is one, its text layer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby, pairwise

_WORD = re.compile(r"[^\W\d_]{3,}")
_ENOUGH = 30
_SHARED = 0.6
#: A doubled text layer may hold a draft or a second page besides what is printed.
_COVERED = 0.35
_IN_ORDER = 0.5
#: A letter covers more points than this, even in small print at the coarsest resolution used here (seen: 10-55).
_POINTS_PER_LETTER = 4


def disagreement(text: str, layer: str, ink_points: float) -> str:
    """Why ``text`` cannot be the reading of a page; empty when nothing speaks against it.

    ``layer`` is the page's text layer, empty where it says nothing; ``ink_points`` how many points of the picture are
    not paper.
    """
    letters = sum(not character.isspace() for character in text)
    if letters * _POINTS_PER_LETTER > ink_points:
        return f"{letters:,} letters on a page with ink for at most {int(ink_points / _POINTS_PER_LETTER):,}"
    expected, found = words_of(layer), words_of(text)
    if len(expected) < _ENOUGH:
        return ""
    if len(found) < _ENOUGH // 2:
        return f"{len(found)} words read where the text layer has {len(expected)}"
    known = set(expected)
    true = sum(word in known for word in found) / len(found)
    if true < _SHARED:
        return f"{1 - true:.0%} of the words read are not in the text layer"
    read = set(found)
    covered = sum(word in read for word in known) / len(known)
    if covered < _COVERED:
        return f"{1 - covered:.0%} of the words of the text layer were not read"
    pairs = set(pairwise(expected))
    in_order = sum(pair in pairs for pair in pairwise(found)) / max(len(found) - 1, 1)
    if in_order < _IN_ORDER:
        return f"only {in_order:.0%} of neighbouring words are neighbours in the text layer: columns are mixed"
    return ""


def words_of(text: str) -> list[str]:
    """The words of ``text`` of three letters or more, without case; a word repeated at once stands once."""
    return [word for word, _ in groupby(_casefolded(_WORD.findall(text)))]


def _casefolded(words: Iterable[str]) -> Iterable[str]:
    return (word.casefold() for word in words)
