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
    """All whole-word occurrences of ``form`` in ``text``: those written exactly so, else those of the folded form.

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
    spans = []
    for at in _find(needle, hay.text):
        start, end = hay.starts[at], hay.ends[at + len(needle) - 1]
        if _whole(text, start, end) and _at_edges(hay, at, at + len(needle)):
            spans.append(Span(start, end))
    return spans


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
