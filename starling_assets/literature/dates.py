"""When a paper can have become public: two bounds and a precision, never an invented day.

A paper may be searched under a cutoff only if its *latest* possible public date is on or before the cutoff. A part of a
date that the source leaves out stays unknown: it widens the bounds, it is never filled in.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Literal

Precision = Literal["day", "month", "year", "range", "season", "unknown"]

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan january ene enero gennaio janvier",
            "feb february fev fevereiro febrero",
            "mar march marzo mars",
            "apr april abr abril avril",
            "may mai mayo maio maggio",
            "jun june juin junio junho",
            "jul july juil juillet julio julho",
            "aug august ago agosto aout",
            "sep sept september set setembro septiembre",
            "oct october okt oktober out outubro octubre",
            "nov november novembre noviembre novembro",
            "dec december dez dezember dic diciembre dezembro",
        ),
        start=1,
    )
    for name in names.split()
}
_SEASONS = frozenset({"spring", "summer", "fall", "autumn", "winter", "easter", "christmas"})
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|2[01]\d\d)(?!\d)")
_WORD = re.compile(r"[^\W\d_]+|\d+")


@dataclass(frozen=True, order=True)
class PublicDate:
    """Earliest and latest day on which something can have become public; ``text`` is what the source says."""

    earliest: date | None
    latest: date | None
    precision: Precision
    text: str = ""

    def public_by(self, cutoff: date) -> bool:
        """Whether it was certainly public on ``cutoff``; an unknown date never is."""
        return self.latest is not None and self.latest <= cutoff


UNKNOWN = PublicDate(None, None, "unknown")


@lru_cache(maxsize=16_384)  # a file of citations names few days, often
def of_parts(
    year: str | None, month: str | None = None, day: str | None = None, season: str | None = None
) -> PublicDate:
    """A date from its written parts. Impossible parts (month 13, 31 September) widen the bounds instead of failing."""
    text = " ".join(part.strip() for part in (year, season or month, day) if part and part.strip())
    year_number = _year(year)
    if year_number is None:
        return free_text(text) if text and _YEAR.search(text) else PublicDate(None, None, "unknown", text)
    if season and season.strip() and not (month and month.strip()):
        months = [_MONTHS[word] for word in _words(season) if word in _MONTHS]
        if months:  # "Jan-Feb" travels in the season element of some publishers
            return _months(year_number, min(months), year_number, max(months), text)
        return PublicDate(date(year_number, 1, 1), date(year_number, 12, 31), "season", text)
    month_number = _month(month)
    if month_number is None:
        return _whole_year(year_number, text)
    last = calendar.monthrange(year_number, month_number)[1]
    day_number = int(day) if day and day.strip().isdecimal() else 0
    if 1 <= day_number <= last:
        found = date(year_number, month_number, day_number)
        return PublicDate(found, found, "day", text)
    return PublicDate(date(year_number, month_number, 1), date(year_number, month_number, last), "month", text)


@lru_cache(maxsize=4_096)
def free_text(text: str) -> PublicDate:
    """A date from prose such as PubMed's ``MedlineDate``: ``1998 Dec-1999 Jan``, ``2022 Jan-Feb 01``, ``Fall 2016``."""
    text = " ".join(text.split())
    marks: list[tuple[int, int | None, int | None]] = []  # year, month, day in the order written
    year: int | None = None
    months: list[int] = []
    season = False
    pending_months: list[int] = []
    for word in _words(text):
        if _YEAR.fullmatch(word):
            year = int(word)
            marks.extend((year, month, None) for month in pending_months)
            if not pending_months:
                marks.append((year, None, None))
            pending_months = []
        elif word in _MONTHS:
            months.append(_MONTHS[word])
            if year is None:
                pending_months.append(_MONTHS[word])
            else:
                marks.append((year, _MONTHS[word], None))
        elif word in _SEASONS:
            season = True
        elif word.isdecimal() and 1 <= int(word) <= 31 and marks and marks[-1][1] is not None:
            marks.append((*marks[-1][:2], int(word)))
    if not marks:
        return PublicDate(None, None, "unknown", text)
    return _spanned(marks, season, text)


def _spanned(marks: list[tuple[int, int | None, int | None]], season: bool, text: str) -> PublicDate:
    # A year that a month of its own follows was only its heading.
    with_month = [mark for mark in marks if mark[1] is not None]
    years = {mark[0] for mark in with_month}
    with_day = {mark[:2] for mark in with_month if mark[2] is not None}
    useful = [
        mark
        for mark in marks
        if (mark[1] is not None or mark[0] not in years) and (mark[2] is not None or mark[:2] not in with_day)
    ]
    bounds = [_bounds(*mark) for mark in useful]
    earliest, latest = min(low for low, _ in bounds), max(high for _, high in bounds)
    if len(useful) > 1:
        return PublicDate(earliest, latest, "range", text)
    _, month, day = useful[0]
    precision: Precision = "day" if day and earliest == latest else "month" if month else "season" if season else "year"
    return PublicDate(earliest, latest, precision, text)


def earliest_of(dates: Iterable[PublicDate]) -> PublicDate:
    """The date of first publication among several: electronic publication counts as publication.

    The paper was certainly public by the smallest of the latest bounds, and cannot have been before the smallest of the
    earliest bounds. A vague date (``2018``) beside a day inside it (``2018-03-01``) adds nothing and is dropped.
    """
    known = [found for found in dates if found.earliest is not None and found.latest is not None]
    if not known:
        return UNKNOWN
    return min(known, key=lambda found: (found.latest, -_ordinal(found.earliest)))


def _ordinal(day: date | None) -> int:
    return day.toordinal() if day else 0


def _bounds(year: int, month: int | None, day: int | None) -> tuple[date, date]:
    if month is None:
        return date(year, 1, 1), date(year, 12, 31)
    last = calendar.monthrange(year, month)[1]
    if day is not None and day <= last:
        return date(year, month, day), date(year, month, day)
    return date(year, month, 1), date(year, month, last)


def _months(year: int, month: int, last_year: int, last_month: int, text: str) -> PublicDate:
    low, high = _bounds(year, month, None)[0], _bounds(last_year, last_month, None)[1]
    return PublicDate(low, high, "month" if (year, month) == (last_year, last_month) else "range", text)


def _whole_year(year: int, text: str) -> PublicDate:
    return PublicDate(date(year, 1, 1), date(year, 12, 31), "year", text)


def _year(text: str | None) -> int | None:
    found = _YEAR.fullmatch((text or "").strip())
    return int(found.group()) if found else None


def _month(text: str | None) -> int | None:
    word = (text or "").strip().rstrip(".").casefold()
    if word.isdecimal():
        return int(word) if 1 <= int(word) <= 12 else None
    return _MONTHS.get(word)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
