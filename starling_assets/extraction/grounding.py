"""Where a quote stands in the stored text: exact, folded, or fuzzy with the same numbers and negations.

The model's words are never stored: the evidence is the stored block's own text at the place found, and
``block text[start:end] == quote`` holds by construction. Offsets count code points.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

Alignment = Literal["exact", "folded", "fuzzy"]

_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"), "-")
_QUOTES = {0x2018: "'", 0x2019: "'", 0x201A: "'", 0x2032: "'", 0x201C: '"', 0x201D: '"', 0x201E: '"', 0x2033: '"'}
_MARK = re.compile(r"^\s*\[\d{1,2}\]\s*")
_CRITICAL = re.compile(
    r"\d+(?:[.,]\d+)*|[<>=≤≥±]|\b(?:not|no|non|none|nor|never|neither|without|un(?:able|likely|detectable)|"
    r"cannot|can't|doesn't|didn't|isn't|wasn't|fail(?:s|ed)?|absen(?:t|ce)|lack(?:s|ed)?|increase[sd]?|decrease[sd]?|higher|lower|"
    r"high|low|im\w+able|greater|less)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Folded:
    """Text for comparison, with the stored span of each folded character."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Stored offsets of folded characters ``start`` to ``end`` (half-open, not empty)."""
        return self.starts[start], self.ends[end - 1]


@dataclass(frozen=True, slots=True)
class Place:
    """A place in one text: half-open offsets and how it was found."""

    start: int
    end: int
    alignment: Alignment
    similarity: float = 1.0


@lru_cache(maxsize=1024)
def fold(text: str) -> Folded:
    """Case, compatibility forms, dashes and quote marks unified; white space and invisible characters dropped.

    A hyphen between a letter and white space followed by a letter (a line end) is dropped with it.
    """
    chars: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end in _clusters(text):
        cluster = text[start:end]
        if _is_line_hyphen(text, start, end):
            continue
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFC", cluster)).casefold()
        for char in folded.translate(_DASHES).translate(_QUOTES):
            if char.isspace() or unicodedata.category(char) in {"Cf", "Cc"}:
                continue
            chars.append(char)
            starts.append(start)
            ends.append(end)
    return Folded("".join(chars), tuple(starts), tuple(ends))


def places(quote: str, text: str, fuzzy: float) -> list[Place]:
    """Every place of ``quote`` in ``text``, by the first of exact, folded, fuzzy that finds one; empty if none does.

    ``fuzzy`` is the least similarity (1 - edits per folded character) of a fuzzy place. A fuzzy place must hold the
    same numbers, comparison signs, negations and directions: they decide the meaning, and an altered quote is no
    quote (F32).
    """
    quote = _MARK.sub("", quote).strip()
    if not any(char.isalnum() for char in quote):
        return []
    exact = [Place(start, start + len(quote), "exact") for start in _find(quote, text)]
    if exact:
        return [place for place in exact if _whole_numbers(text, place)]
    needle, hay = fold(quote), fold(text)
    if not needle.text:
        return []
    folded = [Place(*hay.span(at, at + len(needle.text)), "folded") for at in _find(needle.text, hay.text)]
    if folded:
        return [place for place in folded if _whole_numbers(text, place)]
    place = _fuzzy(needle, hay, fuzzy) if fuzzy <= 1 else None
    if place is None or critical(quote) != critical(text[place.start : place.end]):
        return []
    return [place]


def critical(text: str) -> Counter[str]:
    """Numbers, comparison signs, negations and directions of ``text``, for comparing two readings."""
    plain = unicodedata.normalize("NFKC", text).translate(_DASHES)
    return Counter(match[0].casefold() for match in _CRITICAL.finditer(plain))


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for index in range(1, len(text) + 1):
        if index == len(text) or not unicodedata.combining(text[index]):
            yield start, index
            start = index


def _is_line_hyphen(text: str, start: int, end: int) -> bool:
    if text[start:end] not in {"-", "\u2010", "\u00ad"} or start == 0 or not text[start - 1].isalpha():
        return False
    rest = text[end : end + 8]
    return "\n" in rest[: len(rest) - len(rest.lstrip())] and rest.lstrip()[:1].islower()


def _find(needle: str, hay: str) -> Iterator[int]:
    at = hay.find(needle)
    while at >= 0:
        yield at
        at = hay.find(needle, at + 1)


def _whole_numbers(text: str, place: Place) -> bool:
    """A place must not begin or end inside a number: "5 nM" is not a quote of "12.5 nM" with the blank removed."""
    before, after = text[place.start - 1 : place.start], text[place.end : place.end + 1]
    first, last = text[place.start : place.start + 1], text[place.end - 1 : place.end]
    return not (before.isdigit() and first.isdigit()) and not (after.isdigit() and last.isdigit())


def _fuzzy(needle: Folded, hay: Folded, least: float) -> Place | None:
    """Best semi-global alignment of ``needle`` inside ``hay`` by edit distance, leftmost of equals."""
    size = len(needle.text)
    if size < 12 or not hay.text:  # too short: one edit would change what it says
        return None
    distance, end = _best_end(needle.text, hay.text)
    similarity = 1 - distance / size
    if similarity < least:
        return None
    _, back = _best_end(needle.text[::-1], hay.text[:end][::-1])
    start = end - back
    if start >= end:
        return None
    return Place(*hay.span(start, end), "fuzzy", round(similarity, 4))


def _best_end(needle: str, hay: str) -> tuple[int, int]:
    """Least edits of ``needle`` against a substring of ``hay``, and where the first best substring ends."""
    codes = np.frombuffer(hay.encode("utf-32-le"), dtype=np.uint32)
    steps = np.arange(codes.size + 1, dtype=np.int32)
    row = np.zeros(codes.size + 1, dtype=np.int32)
    for count, char in enumerate(needle, start=1):
        step = np.empty_like(row)
        step[0] = count
        np.minimum(row[:-1] + (codes != ord(char)), row[1:] + 1, out=step[1:])
        row = np.minimum.accumulate(step - steps) + steps
    end = int(row.argmin())
    return int(row[end]), end
