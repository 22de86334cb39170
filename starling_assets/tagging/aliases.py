"""Labels of medicinal chemistry: ``compound 6f`` and, once introduced, ``6f`` alone, valid within one paper."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_HEAD = (
    r"(?:[Cc]ompounds?|[Aa]nalog(?:ue)?s?|[Dd]erivatives?|[Ii]nhibitors?|[Ll]igands?|[Hh]ybrids?|[Ii]ntermediates?"
    r"|[Pp]roducts?)"
)
_LABEL = r"\d{1,3}[a-z]{0,2}"
_INTRODUCED = re.compile(
    rf"\b{_HEAD}\s+(?P<list>{_LABEL}(?:\s*(?:,|and|or|,\s*and|&)\s*{_LABEL})*)(?![\w%-]|\.\d|\s?%)"
)
_DIGIT = re.compile(r"\d")
_ONE = re.compile(rf"(?<![\w.]){_LABEL}(?![\w])")
_BARE = re.compile(r"(?<![\w.,/%-])\(?(\d{1,3}[a-z])\)?(?![\w%-])")
#: What looks like a label after a number is more often a unit or a panel of a figure.
_NOT_LABELS = {"h", "s", "d", "g", "m", "l", "min", "mg", "ml", "kg", "nm", "cm", "mm", "x", "v", "w"}
_FIGURE = re.compile(
    r"(?:Fig(?:ure|s|\.)?|Table|Scheme|Section|Eq\.?|panel)s?\.?\s*(?:\S+\s*(?:,|and|-|–)\s*)*$", re.IGNORECASE
)


class Label(NamedTuple):
    """``text[start:end]`` is the label."""

    start: int
    end: int
    label: str


def introduced(text: str) -> list[Label]:
    """Labels written after a word for a compound. A plain number counts only here."""
    if not _DIGIT.search(text):
        return []
    found = []
    for match in _INTRODUCED.finditer(text):
        for part in _ONE.finditer(match.group("list")):
            if _is_label(part.group()):
                at = match.start("list")
                found.append(Label(at + part.start(), at + part.end(), part.group()))
    return found


def repeated(text: str, known: Iterable[str]) -> list[Label]:
    """Later bare uses of labels that hold a letter and were introduced in this paper."""
    wanted = {label for label in known if label[-1].isalpha()}
    if not wanted:
        return []
    return [
        Label(match.start(1), match.end(1), match.group(1))
        for match in _BARE.finditer(text)
        if match.group(1) in wanted and not _FIGURE.search(text, max(0, match.start() - 40), match.start())
    ]


def _is_label(value: str) -> bool:
    letters = value.lstrip("0123456789")
    return letters not in _NOT_LABELS and value != "0"
