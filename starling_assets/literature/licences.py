"""Licence of a paper, read from the paper itself, with the words it was read from.

Statements may conflict, be nested (a figure against the article) or stand in the prose only: the most restrictive
reading wins, and without any statement the class is ``UNKNOWN``. Never "open" by default.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

#: Classes from the freest to the most restrictive.
CLASSES = (
    "CC0",
    "US-GOV",
    "CC-BY",
    "CC-BY-SA",
    "CC-BY-ND",
    "CC-BY-NC",
    "CC-BY-NC-SA",
    "CC-BY-NC-ND",
    "AUTHOR-MANUSCRIPT",
    "PUBLISHER-OPEN",
    "UNKNOWN",
    "ALL-RIGHTS-RESERVED",
)
_RANK = {name: rank for rank, name in enumerate(CLASSES)}
#: Classes whose texts may be shown and exported beyond short quotations.
REDISTRIBUTABLE = frozenset({"CC0", "US-GOV", "CC-BY", "CC-BY-SA"})
_EVIDENCE = 240

_URL = re.compile(r"creativecommons\.org/(?:licen[cs]es|publicdomain)/([a-z+-]+)(?:/(\d\.\d))?", re.IGNORECASE)
#: Upper case, or hyphenated: "cc by hand" is no licence.
_SHORT = re.compile(
    r"\bCC[\s-]*(?:BY(?:[\s-]*(?:NC|ND|SA))*|0|[Zz]ero)(?=\W|\d|$)|\b[Cc][Cc]-(?:[Bb][Yy](?:-(?:nc|nd|sa|NC|ND|SA))*|zero)\b|\b[Cc][Cc]0\b"
)
_NON_COMMERCIAL = re.compile(r"non-?\s?commercial", re.IGNORECASE)
_NO_DERIVATIVES = re.compile(r"no\s?-?\s?deriv|NoDerivs|without (?:any )?(?:modification|alteration)", re.IGNORECASE)
_SHARE_ALIKE = re.compile(r"share-?\s?alike", re.IGNORECASE)
_ATTRIBUTION = re.compile(
    r"creative\s*commons\s*(?:\(?\s*CC\s*\)?\s*)?(?:deed,?\s*)?(?:attribution|by\b)|attribution (?:license|licence)",
    re.IGNORECASE,
)
_FREE_USE = re.compile(
    r"permits (?:unrestricted|any)|use, distribution,? and reproduction in any medium|"
    r"free(?:ly)? (?:available )?(?:to|for) "
    r"(?:copy|use|any)|verbatim copying and redistribution of this article are permitted in all media",
    re.IGNORECASE,
)
_PUBLIC_DOMAIN = re.compile(
    r"public[\s-]domain|work of the (?:U\.?S\.?|United States) government|"
    r"not (?:be )?(?:subject to|protected by) (?:U\.?S\.? )?copyright",
    re.IGNORECASE,
)
_MANUSCRIPT = re.compile(r"author(?:'s|’s)? manuscript|accepted manuscript|NIHMS|available in PMC \d{4}", re.IGNORECASE)
_OPEN = re.compile(
    r"open[\s-]access|free to read|made available (?:via|through)|under the (?:COVID|terms)", re.IGNORECASE
)
_RESERVED = re.compile(
    r"all rights? reserved|no part of this|permission (?:from|of) the publisher|subscription", re.IGNORECASE
)


@dataclass(frozen=True)
class Licence:
    """A licence class of :data:`CLASSES` and the words of the document that say so (empty when none do)."""

    name: str
    evidence: str = ""

    @property
    def redistributable(self) -> bool:
        """Whether the text may be handed on in full."""
        return self.name in REDISTRIBUTABLE


UNKNOWN = Licence("UNKNOWN")


def classify(statements: Iterable[str]) -> Licence:
    """The most restrictive class that any of ``statements`` (licence texts, URLs, licence types) states.

    A statement that says nothing recognisable does not count; with none left the class is ``UNKNOWN``.
    """
    found = [licence for statement in statements if (licence := read_statement(statement)) is not None]
    return max(found, key=lambda licence: _RANK[licence.name], default=UNKNOWN)


def read_statement(statement: str) -> Licence | None:
    """The class that one statement grants, the most restrictive where it names several; None when it names none."""
    statement = " ".join(statement.split())
    names = [
        _by_parts(match.group(1).lower(), "publicdomain" in match.group().lower()) for match in _URL.finditer(statement)
    ]
    names += [_by_parts(_after_cc(match.group()), False) for match in _SHORT.finditer(statement)]
    prose = _prose_class(statement)
    if prose is not None and (not names or prose not in {"PUBLISHER-OPEN", "ALL-RIGHTS-RESERVED"}):
        names.append(prose)
    if not names:
        return None
    name = max(names, key=lambda candidate: _RANK[candidate])
    return Licence(name, _window(statement, name))


def _prose_class(statement: str) -> str | None:
    if _ATTRIBUTION.search(statement):
        return _by_parts(
            "by"
            + ("-nc" if _NON_COMMERCIAL.search(statement) else "")
            + ("-nd" if _NO_DERIVATIVES.search(statement) else "")
            + ("-sa" if _SHARE_ALIKE.search(statement) else ""),
            False,
        )
    for name, pattern in (
        ("US-GOV", _PUBLIC_DOMAIN),
        ("AUTHOR-MANUSCRIPT", _MANUSCRIPT),
        ("PUBLISHER-OPEN", _FREE_USE),
        ("PUBLISHER-OPEN", _OPEN),
        ("ALL-RIGHTS-RESERVED", _RESERVED),
    ):
        if pattern.search(statement):
            return name
    return None


def _by_parts(code: str, public_domain: bool) -> str:
    parts = set(re.split(r"[-+\s]+", code))
    if public_domain or parts & {"0", "zero", "cc0", "mark"}:
        return "CC0"
    name = "CC-BY"
    if "nc" in parts:
        name += "-NC"
    if "nd" in parts:
        return f"{name}-ND"
    return f"{name}-SA" if "sa" in parts else name


def _after_cc(text: str) -> str:
    return re.sub(r"^cc[\s-]*", "", text.lower()).replace(" ", "-")


def _window(statement: str, name: str) -> str:
    for pattern in (_URL, _SHORT, _ATTRIBUTION, _PUBLIC_DOMAIN, _MANUSCRIPT, _FREE_USE, _OPEN, _RESERVED):
        match = pattern.search(statement)
        if match:
            start = max(0, min(match.start() - 40, len(statement) - _EVIDENCE))
            return statement[start : start + _EVIDENCE].strip()
    return statement[:_EVIDENCE] or name
