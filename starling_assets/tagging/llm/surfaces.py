"""Where a written form stands in a stored paragraph: every whole-word occurrence, exact before folded.

The model's own characters are never stored: a form only says where to look, and the mention is the paragraph's own
``text[start:end]``. Offsets count code points of the stored text, whatever folding does to lengths (F27).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from starling_assets.ontology.folding import dashes, fold_token, spell

#: Shorter forms, and those in capitals, keep their case when they are looked for: WAS is not "was".
_FREE_CASE = 5
#: A word goes on in the next line.
_LINE_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010][ \t]*\n\s*(?=[^\W\d_])")
#: Words, numbers and hard signs; what stands between them in a name is soft.
_PARTS = re.compile(r"[^\W\d_]+|\d+|[^\w\s'-]+|_+")
_GREEK = range(0x370, 0x400)
_QUOTES = {"\u2018": "'", "\u2019": "'", "\u2032": "'", "\u201c": '"', "\u201d": '"', "\u00b4": "'"}


class Span(NamedTuple):
    """Half-open offsets into the stored text."""

    start: int
    end: int


class _Folded(NamedTuple):
    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def occurrences(form: str, text: str) -> list[Span]:
    """All whole-word occurrences of ``form`` in ``text``: those written exactly so, else those of the folded form, else
    those that differ in blanks, hyphens and apostrophes between their parts only (``HL 60`` and ``HL-60``).

    Folding unifies compatibility characters, accents, Greek letters and their names, dashes, quote marks and white
    space, drops invisible characters and hyphens at line ends, and ignores the case of longer forms that are not in
    capitals. A form without a letter or digit stands nowhere.
    """
    form = form.strip()
    if not any(char.isalnum() for char in form):
        return []
    exact = [Span(at, at + len(form)) for at in _find(form, text) if _whole(text, at, at + len(form))]
    if exact:
        return exact
    letters = spell(form)
    free = len(letters) >= _FREE_CASE and not letters.isupper()
    needle, hay = _fold(form, free).text.strip(), _fold(text, free)
    if not any(char.isalnum() for char in needle):
        return []
    return _spans(re.escape(needle), hay, text) or _spans(_loose(needle), hay, text)


def _spans(pattern: str, hay: _Folded, text: str) -> list[Span]:
    """Stored spans of ``pattern`` in folded text, as far as they are whole words and whole characters there."""
    spans = []
    for found in re.finditer(pattern, hay.text):
        start, end = hay.starts[found.start()], hay.ends[found.end() - 1]
        if _whole(text, start, end) and _at_edges(hay, found.start(), found.end()):
            spans.append(Span(start, end))
    return spans


def _loose(needle: str) -> str:
    """A pattern for ``needle`` with any soft signs between its parts, or none between a letter and a digit.

    Two words or two numbers stay apart: "1 2" is not "12".
    """
    pattern, before = "", ""
    for part in _PARTS.findall(needle):
        same = before and before[-1].isalpha() == part[0].isalpha() and before[-1].isdigit() == part[0].isdigit()
        pattern += ("" if not before else r"[-' ]{1,2}" if same else r"[-' ]{0,2}") + re.escape(part)
        before = part
    return pattern


@lru_cache(maxsize=2_048)
def _fold(text: str, free_case: bool) -> _Folded:
    chars: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    dropped = {
        at for found in _LINE_HYPHEN.finditer(text) if text[found.end()].islower() for at in range(*found.span())
    }
    for start, end in _clusters(text):
        if start in dropped:
            continue
        for char in _fold_cluster(text[start:end], free_case):
            blank = char.isspace()
            if blank and chars and chars[-1] == " ":
                ends[-1] = end
                continue
            chars.append(" " if blank else char)
            starts.append(start)
            ends.append(end)
    return _Folded("".join(chars), tuple(starts), tuple(ends))


def _fold_cluster(cluster: str, free_case: bool) -> str:
    if cluster.isascii():
        return cluster.lower() if free_case else cluster
    plain = unicodedata.normalize("NFKD", cluster)
    kept = (char for char in plain if not unicodedata.combining(char) and unicodedata.category(char) != "Cf")
    folded = "".join(fold_token(char) if ord(char) in _GREEK else _QUOTES.get(char, char) for char in kept)
    return dashes(folded.casefold() if free_case else folded)


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """A character with the marks that belong to it."""
    start = 0
    for index in range(1, len(text) + 1):
        if index == len(text) or not unicodedata.combining(text[index]):
            yield start, index
            start = index


def _find(needle: str, hay: str) -> Iterator[int]:
    at = hay.find(needle)
    while at >= 0:
        yield at
        at = hay.find(needle, at + 1)


def _whole(text: str, start: int, end: int) -> bool:
    """Whether no letter or digit of the text touches a letter or digit of the span from outside."""
    before = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    after = end < len(text) and text[end].isalnum() and text[end - 1].isalnum()
    return not before and not after and not unicodedata.combining(text[end : end + 1] or " ")


def _at_edges(hay: _Folded, first: int, last: int) -> bool:
    """Whether the span takes whole stored characters: half a ligature is no occurrence."""
    left = first == 0 or hay.starts[first - 1] != hay.starts[first] or hay.ends[first - 1] != hay.ends[first]
    right = last == len(hay.text) or hay.starts[last] != hay.starts[last - 1] or hay.ends[last] != hay.ends[last - 1]
    return left and right
