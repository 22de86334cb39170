"""Words of a PDF made whole: divided at line ends, written with ligatures, or with signs hidden behind accents."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from .pdf_lines import HYPHENS

_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_SUSPENDED = re.compile(r"(?:and|or|to|und|oder|et|y|e)\b")
#: First parts after which a hyphen at a line's end is taken for the word's own.
_HYPHENATED_TEXT = """self non post pre anti cross well high low long short blood half dose time double two three
one single age body cell drug case follow health placebo meta gene protein receptor water
intra inter multi evidence quality"""
_HYPHENATED = frozenset(_HYPHENATED_TEXT.split())
_SPACING_ACCENT = re.compile("[ˆ˝´˘ˇ`¨˜]")
_SIGNS = (
    (re.compile(r"(?<=[\d)])\s?ˆ\s?(?=[\d(])"), " × "),
    (re.compile(r"\s?˝(?=\s?[CF]\b)"), " °"),
    (re.compile(r"(?<=\d)˝"), "°"),
    (re.compile(r"(?<=[\d\w)\]]) ´ (?=[\d\w(])"), " − "),
    (re.compile(r"(?<=10)´(?=\d)|(?<=[\s(])´(?=\d)"), "−"),
    (re.compile(r"(?<=\d)\s?˘\s?(?=\d)"), " ± "),
)
_COMBINING = {"ˇ": "\u030c", "´": "\u0301", "`": "\u0300", "¨": "\u0308", "ˆ": "\u0302", "˜": "\u0303"}
_APART = re.compile("(?<=[^\\W\\d_])([ˇ´`¨ˆ˜])([^\\W\\d_])")


def join_lines(lines: Sequence[str]) -> str:
    """Lines as running text: divided words made whole, ligatures spelled out."""
    text = ""
    for line in lines:
        line = line.translate(_LIGATURES).strip()
        if not line:
            continue
        if not text:
            text = line
        elif text[-1] in HYPHENS or (text[-1] == "-" and text[-2:-1].isalnum()):
            text = _divided(text, line)
        else:
            text = f"{text} {line}"
    if text and text[-1] in HYPHENS:
        text = text[:-1] + "-"
    # A mark inside the text is a word that pdfium itself has put together.
    return mended("".join(character for character in text if character not in HYPHENS))


def mended(text: str) -> str:
    """Signs that some mathematical fonts hide behind accents (``1 ˆ 10``, ``37 ˝C``), and accents that stand apart."""
    if not _SPACING_ACCENT.search(text):
        return text
    for pattern, sign in _SIGNS:
        text = pattern.sub(sign, text)
    return _APART.sub(lambda match: unicodedata.normalize("NFC", match.group(2) + _COMBINING[match.group(1)]), text)


def _divided(text: str, following: str) -> str:
    """``text`` ends with a hyphen: part of the word (``blood-brain``), or only of the line (``transcrip-tion``)?"""
    start = text[:-1]
    if _SUSPENDED.match(following):
        return f"{start}- {following}"  # "pre- and post-treatment"
    if start.endswith("-"):
        return start + following
    word = start.rsplit(" ", 1)[-1]
    belongs = (
        not following[0].islower()
        or not following[1:2].isalpha()
        or "-" in word
        or word.lower() in _HYPHENATED
        or any(letter.isdigit() for letter in word)
    )
    return f"{start}-{following}" if belongs else start + following
