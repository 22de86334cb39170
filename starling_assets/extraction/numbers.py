"""Reading printed numbers: signs, decimal marks, powers of ten. The column decides where one cell cannot.

Nothing is guessed: a text that can be read in two ways gives no number and a reason.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Mark = Literal[".", ","]

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_MINUS = str.maketrans({"\u2212": "-", "\ufe63": "-", "\uff0d": "-", "\u00d7": "x", "\u22c5": "x", "\u00b7": "\u00b7"})
#: A number as printed, with an optional power of ten in any of the usual spellings.
NUMBER = re.compile(
    r"(?<![A-Za-z\d])(?P<sign>[-+])?"
    r"(?P<digits>\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?![\d])(?:[.,]\d+)?|\d+(?:[.,]\d+)*|[.,]\d+)"
    r"(?:\s*(?:[eE]\s?(?P<e>[-+]?\d{1,3})|[x*]\s*10\s*(?:\^\s*\(?|\*\*)\s*(?P<power>[-+]?\d{1,3})\)?"
    r"|[x*]\s*10(?P<lost>[-+]?[1-9]\d?)(?![\d.,])))?"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A number with what had to be assumed to read it (None = nothing)."""

    value: float
    assumed: str | None = None


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """No number, and why."""

    reason: str


def plain(text: str) -> str:
    """One spelling of minus, times and superscript exponents; ``10⁻³`` becomes ``10^-3``."""
    text = re.sub(r"(?<=10)[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+", lambda match: "^" + match[0].translate(_SUPERSCRIPTS), text)
    return text.translate(_MINUS)


def decimal_mark(cells: Sequence[str]) -> Mark | None:
    """The decimal mark that a column of printed numbers uses, or None where its cells do not tell.

    A mark followed by other than three digits is decimal; so is the last of two different marks; so is a mark after a
    lone zero (``0,034``). Cells that contradict each other tell nothing.
    """
    votes = {vote for cell in cells for vote in [_vote(plain(cell))] if vote}
    return votes.pop() if len(votes) == 1 else None


def read_number(match: re.Match[str], mark: Mark | None = None) -> Reading | Ambiguous:
    """The value of a :data:`NUMBER` match; ``mark`` is the decimal mark of its column where that is known."""
    digits = re.sub(r"[ \u00a0\u202f]", "", match["digits"])
    base = _read_digits(digits, mark)
    if isinstance(base, Ambiguous):
        return base
    exponent = next((match[name] for name in ("e", "power", "lost") if match[name]), "0")
    # "3 x 106" is what is left of 3 × 10⁶ when the superscript is lost: read so, and said so.
    assumed = base.assumed or ("the exponent lost its superscript" if match["lost"] else None)
    # Through decimal text, since 1.2 * 10 ** -3 is not 0.0012 in binary.
    value = float(f"{base.value:.17g}e{int(exponent)}") if "e" not in f"{base.value:.17g}" else base.value
    if not math.isfinite(value):
        return Ambiguous("not a finite number")
    return Reading(-value if match["sign"] == "-" else value, assumed)


def numbers_in(text: str) -> list[float]:
    """Every number that can be read in ``text``, by either decimal mark: to ask whether a value is printed there."""
    found: list[float] = []
    marks: tuple[Mark, Mark] = (".", ",")
    for match in NUMBER.finditer(plain(text)):
        for mark in marks:
            reading = read_number(match, mark)
            if isinstance(reading, Reading):
                found += [reading.value, abs(reading.value)]
        if re.fullmatch(r"\d+(?:\.\d+)?", match["digits"]) and (match["lost"] or "-").isdigit():
            found.append(float(match["digits"]))  # "3 x 106" may also be three times a hundred and six
    return found


def _read_digits(digits: str, mark: Mark | None) -> Reading | Ambiguous:
    dots, commas = digits.count("."), digits.count(",")
    if not dots and not commas:
        return Reading(float(digits))
    if dots and commas:
        last: Mark = "." if digits.rfind(".") > digits.rfind(",") else ","
        return _with_mark(digits, last) if mark in {None, last} else Ambiguous(f"{digits!r}: the marks contradict")
    only: Mark = "." if dots else ","
    if dots + commas > 1:  # 1,234,567: a mark used twice separates thousands
        groups = digits.split(only)
        if all(len(group) == 3 for group in groups[1:]) and mark != only:
            return Reading(float("".join(groups)))
        return Ambiguous(f"{digits!r} is no number")
    head, tail = digits.split(only)
    if mark is not None:
        return _with_mark(digits, mark)
    if len(tail) != 3 or head in {"", "0", "00"} or len(head) > 3:
        return Reading(float(f"{head or 0}.{tail or 0}"))
    if only == ".":  # the default of scientific English; a column of the other kind must say so
        return Reading(float(digits), "the dot is a decimal mark")
    return Reading(float(head + tail), "the comma separates thousands")


def _with_mark(digits: str, mark: Mark) -> Reading | Ambiguous:
    other = "," if mark == "." else "."
    whole, _, fraction = digits.partition(mark)
    groups = whole.split(other)
    if len(groups) > 1 and not all(len(group) == 3 for group in groups[1:]):
        return Ambiguous(f"{digits!r} does not fit its column")
    if other in fraction or mark in fraction:
        return Ambiguous(f"{digits!r} does not fit its column")
    return Reading(float(f"{''.join(groups) or 0}.{fraction or 0}"))


def _vote(cell: str) -> Mark | None:
    match = NUMBER.search(cell)
    if match is None:
        return None
    digits = re.sub(r"[ \u00a0\u202f]", "", match["digits"])
    dots, commas = digits.count("."), digits.count(",")
    if dots and commas:
        return "." if digits.rfind(".") > digits.rfind(",") else ","
    if dots + commas != 1:
        if dots > 1:
            return ","
        return "." if commas > 1 else None
    mark: Mark = "." if dots else ","
    head, tail = digits.split(mark)
    return mark if len(tail) != 3 or head in {"", "0"} else None
