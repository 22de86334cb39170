"""Folding of names and running text into comparable tokens, with offsets into the text as it is stored.

A token is a run of letters, one Greek letter, or a run of digits. So ``TNF-α``, ``TNFα`` and ``TNF-alpha`` give the
same tokens, and so do ``HL60`` and ``HL-60``. Offsets count code points of the text that was given; the text itself
is never changed, so a length that changes under case folding or NFKC cannot shift anything (FC-03).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

#: Marks and invisible characters that belong to the letter before them: accents, soft hyphen, joiners.
_MARKS = "\u0300-\u036f\u00ad\u200b-\u200d\u2060\ufeff"
#: Greek letters, the micro sign and the mathematical Greek alphabets outside the basic plane.
_GREEK = "\u00b5\u0370-\u03ff\u1f00-\u1fff\U0001d6a8-\U0001d7cb"
_RAISED = "\u00b2\u00b3\u00b9\u2070-\u2079\u2080-\u2089"

TOKEN = re.compile(
    # Plain ASCII runs first: most of a text, and much faster than the general classes below.
    r"[A-Za-z]++(?![^\x00-\x7f])|[0-9]++(?![^\x00-\x7f])"
    rf"|[^\W\d_{_GREEK}{_RAISED}](?:[^\W\d_{_GREEK}{_RAISED}]|[{_MARKS}])*"
    rf"|[{_GREEK}][{_MARKS}]*"
    rf"|[\d{_RAISED}]+"
)

_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d", "-"))
_GREEK_NAMES = {
    letter: unicodedata.name(letter).rsplit(" ", 1)[-1].lower().replace("lamda", "lambda")
    for letter in "αβγδεζηθικλμνξοπρςστυφχψω"
}
_GREEK_NAMES["ς"] = "sigma"


@lru_cache(maxsize=500_000)
def fold_token(token: str) -> str:
    """One token in comparable form: no accents, no case, compatibility characters resolved, Greek spelled out."""
    if token.isascii():
        return token.lower()
    plain = "".join(
        char
        for char in unicodedata.normalize("NFKD", token)
        if not unicodedata.combining(char) and unicodedata.category(char) != "Cf"
    ).casefold()
    return "".join(_GREEK_NAMES.get(char, char) for char in plain)


def fold(text: str) -> str:
    """The tokens of ``text``, folded and joined by one space: the key under which a name is stored and found."""
    return " ".join(map(fold_token, TOKEN.findall(text)))


def spell(text: str) -> str:
    """Letters and digits of ``text`` with case kept: what a case-sensitive name is compared by."""
    return "".join(map(_spell_token, TOKEN.findall(text)))


@lru_cache(maxsize=200_000)
def _spell_token(token: str) -> str:
    if token.isascii():
        return token
    plain = "".join(
        char
        for char in unicodedata.normalize("NFKD", token)
        if not unicodedata.combining(char) and unicodedata.category(char) != "Cf"
    )
    return "".join(_GREEK_NAMES.get(char.lower(), char) for char in plain)


def dashes(text: str) -> str:
    """``text`` with every kind of dash and minus as ``-``; the length does not change."""
    return text if text.isascii() else text.translate(_DASHES)


def edges_of(name: str) -> tuple[str, str]:
    """Signs before the first and after the last token of a name: ``(+)-`` of ``(+)-catechin``, ``+`` of ``Na+``."""
    matches = list(TOKEN.finditer(name))
    if not matches:
        return dashes(name), ""
    return dashes(name[: matches[0].start()]), dashes(name[matches[-1].end() :])


def gaps_of(text: str) -> list[str]:
    """What stands between the tokens of ``text``, with dashes unified."""
    matches = list(TOKEN.finditer(text))
    return [dashes(text[left.end() : right.start()]) for left, right in pairwise(matches)]
