"""Printed values: qualifier, bounds, spread, unit. The raw text is always kept beside what was read from it (F29)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .numbers import NUMBER, Ambiguous, Mark, decimal_mark, plain, read_number

#: Words and signs before a number that make it a bound or an estimate.
_QUALIFIERS: tuple[tuple[str, str], ...] = (
    (r"<=|=<|≤|⩽|at most|up to|no more than|not more than|maximum of", "<="),
    (r">=|=>|≥|⩾|at least|no less than|not less than|minimum of", ">="),
    (r"<|less than|lower than|smaller than|below|under|fewer than", "<"),
    (r">|greater than|more than|higher than|larger than|above|over|exceeding|exceeds", ">"),
    (r"~|≈|∼|≃|about|approximately|approx\.?|around|circa|ca\.?|nearly|almost|roughly|near to", "~"),
    (r"=|equals?|equal to|is|was|of|:", "="),
)
_PREFIX = re.compile(
    r"^\s*(?:"
    + "|".join(
        f"(?P<q{index}>{pattern})(?![a-z])" if pattern[0].isalpha() else f"(?P<q{index}>{pattern})"
        for index, (pattern, _) in enumerate(_QUALIFIERS)
    )
    + r")\s*",
    re.IGNORECASE,
)
#: What a reading assumes that another column would read otherwise.
_EITHER_WAY = frozenset({"the dot is a decimal mark", "the comma separates thousands"})
_TO = re.compile(r"^\s*(?:[-\u2010-\u2015]|to\b|and\b|[-\u2010-\u2015]\s*fold\s*to)\s*", re.IGNORECASE)
_SPREAD = re.compile(r"^\s*(?:±|\+/-|\(?\s*(?:SD|SEM|SE)\s*[:=]?)\s*", re.IGNORECASE)
_LEADING = re.compile(r"^[\s(\[]*(?:(?:all|between|from|was|were|is|are|the|value|values)\s+)*", re.IGNORECASE)
_NAME = re.compile(
    r"^\s*(?P<log>log\s*(?:10\b|₁₀)?\s*)?(?P<name>[A-Za-z][\w./-]*)?\s*(?:\(\s*(?P<unit>[^()\d]+?)\s*\))?\s*(?=[=<>≤≥~≈:])"
)
_ABSENT = frozenset(
    {"", "null", "none", "n/a", "na", "nan", "nil", "-", "--", "–", "—", "nd", "n.d.", "n.a.", "nr", "not reported",
     "not available", "not applicable", "not stated", "not specified", "not given", "not determined", "not tested",
     "not measured", "unknown", "unspecified"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Quantity:
    """What a printed value says. ``value`` is None for a range or a bound: ``low`` and ``high`` hold those.

    A bound is no value: the mean of ">2000" and "1800" is not 1900.
    """

    text: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    qualifier: str | None = None  # = < <= > >= ~
    unit: str | None = None
    spread: float | None = None  # the number after ±
    flag: str | None = None  # why there is no number, or what was assumed to read it


def is_absent(value: object) -> bool:
    """None, or one of the words that models and tables write for "nothing was reported". Zero is not absence."""
    return value is None or (isinstance(value, str) and value.strip().casefold() in _ABSENT)


def read_quantity(text: str, unit: str | None = None, mark: Mark | None = None) -> Quantity:
    """Read a printed value such as ``<= 5 uM``, ``1–3 mg/kg``, ``63.0 ± 6.5`` or ``greater than 2000 mg/kg``.

    ``unit`` is the unit where it is printed apart from the number; ``mark`` the decimal mark of the column. A text
    without a number, or with one that can be read in two ways, gives a Quantity whose ``flag`` says so.
    """
    raw, rest = text, plain(text)
    unit, rest = _take_name(rest, unit)
    rest = _LEADING.sub("", rest)
    qualifier, rest = _take_qualifier(rest)
    first = NUMBER.match(rest)
    if first is None:
        return _without_number(raw, unit, qualifier, rest)
    low = read_number(first, mark)
    if isinstance(low, Ambiguous):
        return Quantity(raw, unit=unit, flag=low.reason)
    rest = rest[first.end() :]
    high_value, high_unit, rest = _take_upper(rest, mark)
    spread, rest = _take_spread(rest, mark)
    printed = unit or _unit_text(rest) or high_unit
    quantity = Quantity(raw, unit=printed, spread=spread, flag=low.assumed)
    if high_value is not None:
        bounds = sorted((low.value, high_value))
        return replace(quantity, low=bounds[0], high=bounds[1], qualifier=qualifier)
    return _bounded(replace(quantity, value=low.value, qualifier=qualifier or "="))


def read_column(cells: Sequence[str], unit: str | None = None) -> list[Quantity]:
    """Read one column of printed numbers together: the column decides what a comma or a dot means.

    Where it does not tell, a cell that can be read in two ways (``16.000``) is flagged and gets no number.
    """
    return [read_cell(cell, cells, unit) for cell in cells]


def read_cell(text: str, column: Sequence[str], unit: str | None = None) -> Quantity:
    """Read one printed number with the decimal mark of its ``column``; see :func:`read_column`."""
    mark = decimal_mark(column)
    quantity = read_quantity(text, unit, mark)
    if mark is None and len(column) > 1 and quantity.flag in _EITHER_WAY:
        return Quantity(text, unit=quantity.unit, flag="decimal mark or thousands: the column does not tell")
    return quantity


def column_of(table: str, value: str) -> list[str]:
    """Cells of the column that prints ``value`` in a table's text (lines of ``header: cell`` between ``" | "``).

    Empty when no cell of it holds the value.
    """
    cells: dict[str, list[str]] = {}
    for line in table.splitlines():
        for piece in line.split(" | "):
            header, found, cell = piece.rpartition(": ")
            if found:
                cells.setdefault(header, []).append(cell)
    wanted = value.strip()
    return next((column for column in cells.values() if any(wanted in cell for cell in column)), [])


def _take_name(text: str, unit: str | None) -> tuple[str | None, str]:
    """Strip what is measured (``IC50 <``, ``log IC50 (M) =``); a logarithm becomes part of the unit."""
    match = _NAME.match(text)
    if match is None or not (match["name"] or match["log"]):
        return unit, text
    unit = unit or match["unit"]
    return (f"log10({unit or ''})" if match["log"] else unit), text[match.end() :]


def _unit_text(rest: str) -> str | None:
    text = rest.strip(" \t\n.;,").lstrip(")]- ")
    if text.endswith((")", "]")) and not re.search(r"[(\[]", text):
        text = text.rstrip(")] ")
    return text or None


def _bounded(quantity: Quantity) -> Quantity:
    match quantity.qualifier:
        case "<" | "<=":
            return replace(quantity, high=quantity.value, value=None)
        case ">" | ">=":
            return replace(quantity, low=quantity.value, value=None)
        case _:
            return quantity


def _take_qualifier(text: str) -> tuple[str | None, str]:
    qualifier: str | None = None
    while match := _PREFIX.match(text):
        if match.end() == 0:
            break
        index = int(str(match.lastgroup)[1:])
        sign = _QUALIFIERS[index][1]
        qualifier = sign if qualifier in {None, "="} else qualifier
        text = text[match.end() :]
    return qualifier, text


def _take_upper(text: str, mark: Mark | None) -> tuple[float | None, str | None, str]:
    """The upper end of a range, also where the unit stands between: ``1 mg/kg to 3 mg/kg``."""
    direct = _TO.match(text)
    between: str | None = None
    if direct is None:
        spelled = re.match(r"^\s*(?P<unit>[^\s\d][^\s]*)\s+(?:to|and)\s+", text)
        if spelled is None:
            return None, None, text
        between, at = spelled["unit"], spelled.end()
    else:
        at = direct.end()
    match = NUMBER.match(text, at)
    if match is None or match["sign"] == "-":
        return None, None, text
    reading = read_number(match, mark)
    if isinstance(reading, Ambiguous):
        return None, None, text
    return reading.value, between, text[match.end() :]


def _take_spread(text: str, mark: Mark | None) -> tuple[float | None, str]:
    start = _SPREAD.match(text)
    match = NUMBER.match(text, start.end()) if start else None
    if match is None:
        return None, text
    reading = read_number(match, mark)
    return (None if isinstance(reading, Ambiguous) else reading.value), text[match.end() :]


def _without_number(raw: str, unit: str | None, qualifier: str | None, rest: str) -> Quantity:
    # "all over 5000 mg/kg", "F = 12 %": words that are no part of the value stand before it.
    later = NUMBER.search(rest)
    if later is None:
        return Quantity(raw, unit=unit, flag="no number in the text")
    head = rest[: later.start()]
    if re.search(r"\d", head):
        return Quantity(raw, unit=unit, flag="no number in the text")
    signs = [sign for pattern, sign in _QUALIFIERS[:5] if re.search(rf"(?:^|\s)(?:{pattern})\s*$", head, re.IGNORECASE)]
    inner = read_quantity(rest[later.start() :], unit)
    sign = qualifier or (signs[0] if signs else None)
    if sign and inner.value is not None and inner.qualifier == "=":
        inner = _bounded(replace(inner, qualifier=sign))
    return replace(inner, text=raw)
