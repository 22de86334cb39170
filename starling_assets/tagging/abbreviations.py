"""Abbreviations a paper defines itself: ``blood-brain barrier (BBB)`` and ``BBB (blood-brain barrier)``.

The letters of the short form must occur in order in the long form, the first one at the start of a word
(Schwartz and Hearst, PSB 2003).
"""

from __future__ import annotations

import re
from typing import NamedTuple

_BRACKET = re.compile(r"\(([^()\[\]]{2,80})\)|\[([^()\[\]]{2,80})\]")
_SHORT = re.compile(r"[^\W_][\w+*/.'\-\u2010-\u2015]{0,11}")
_WORD = re.compile(r"\S+")
_CUT = re.compile(r"[;,:]| or | i\.e\.| see ")


class Definition(NamedTuple):
    """``text[long_start:long_end]`` is what ``short`` stands for; ``short_start`` is where it is defined."""

    short: str
    short_start: int
    long_start: int
    long_end: int


def definitions(text: str) -> list[Definition]:
    """All definitions in one paragraph, in order."""
    if "(" not in text and "[" not in text:
        return []
    found: list[Definition] = []
    for match in _BRACKET.finditer(text):
        group = 1 if match.group(1) is not None else 2
        inner, at = match.group(group), match.start(group)
        cut = _CUT.search(inner)
        head = inner[: cut.start()] if cut else inner
        short = head.strip()
        if is_short_form(short):
            start = align(short, text, match.start())
            if start is not None:
                end = match.start()
                while end > start and text[end - 1].isspace():
                    end -= 1
                found.append(Definition(short, at + head.index(short), start, end))
                continue
        found.extend(_reversed(text, match.start(), inner, at))
    return found


def _reversed(text: str, bracket: int, inner: str, at: int) -> list[Definition]:
    words = list(_WORD.finditer(text, max(0, bracket - 40), bracket))
    if not words or text[words[-1].end() : bracket].strip():
        return []
    short = words[-1].group().strip("([,.;:")
    if not is_short_form(short) or len(inner.split()) < 2:
        return []
    if align(short, inner, len(inner)) != 0:
        return []
    return [Definition(short, words[-1].start() + words[-1].group().index(short), at, at + len(inner))]


def is_short_form(value: str) -> bool:
    """2-12 characters, at most two words, with a capital or a digit, and a letter."""
    if not 2 <= len(value) <= 12 or len(value.split()) > 2:
        return False
    if not any(char.isalpha() for char in value) or not (any(char.isupper() or char.isdigit() for char in value)):
        return False
    return bool(_SHORT.fullmatch(value.replace(" ", "-"))) and not value[0].isspace()


def align(short: str, text: str, end: int) -> int | None:
    """Start of the shortest long form of ``short`` that ends at ``text[:end]``, or None."""
    letters = [char.lower() for char in short if char.isalnum()]
    words = min(len(letters) + 5, len(letters) * 2)
    window = _window_start(text, end, words)
    position = end - 1
    for index in range(len(letters) - 1, -1, -1):
        while position >= window and (
            text[position].lower() != letters[index] or (index == 0 and position > 0 and text[position - 1].isalnum())
        ):
            position -= 1
        if position < window:
            return None
        if index:
            position -= 1
    long_form = text[position:end].strip()
    # A long form no longer than its abbreviation, or one that holds it, explains nothing.
    if len(long_form) <= len(short) or short in long_form.split():
        return None
    return position


def _window_start(text: str, end: int, words: int) -> int:
    starts = [match.start() for match in _WORD.finditer(text, max(0, end - 200), end)]
    return starts[-words] if len(starts) >= words else (starts[0] if starts else end)
