"""The filter language: strict terms, and a readable text form that round-trips with ``entity_groups``.

Text form::

    filter  = group { "AND" group }            (an empty text is the filter without a condition)
    group   = literal | "(" literal { "OR" literal } ")"
    literal = [ "NOT" ] name
    name    = a bare word, or text between double quotes (\\" and \\\\ are escapes)

``AND``, ``OR`` and ``NOT`` are key words in capitals only. In JSON a leading ``~`` is ``NOT``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from starling_assets.tagging.entity_types import EntityType

from .filterspec import FilterSpec, Scope

MAX_TERMS = 1_000  # names a filter may hold; a hierarchy is written as its broadest name, not as a list
MAX_TERM_LENGTH = 500
_TYPES = {entity_type.value for entity_type in EntityType}
_TYPES_FOLDED = {name.casefold(): name for name in _TYPES}
_KEYWORDS = {"AND", "OR", "NOT"}
_BARE = re.compile(r"[\w/:.+'-]+")
_TOKEN = re.compile(r'\s*(?:(?P<paren>[()])|"(?P<quoted>(?:[^"\\]|\\["\\])*)"|(?P<bare>[\w/:.+\'-]+))')


class FilterError(ValueError):
    """A filter was refused; the message names the term or group and says what to write instead."""


@dataclass(frozen=True)
class Literal:
    """One term of a group, checked: its name, whether it is negated, whether it names a type."""

    name: str
    negated: bool
    is_type: bool

    @property
    def text(self) -> str:
        """The term as it is written in ``entity_groups``."""
        return f"~{self.name}" if self.negated else self.name


def parse_term(term: str) -> Literal:
    """Check one term of ``entity_groups``; raises :class:`FilterError` naming it (F20)."""
    negated = term.startswith("~")
    name = term[1:] if negated else term
    shown = _shown(term)
    if not name.strip():
        raise FilterError(f"the term {shown} names nothing: write a type or an entity name, or leave the term out")
    if name.startswith("~"):
        raise FilterError(f"the term {shown} is negated twice: one ~ in front of a name means NOT")
    if name != name.strip():
        raise FilterError(f"the term {shown} begins or ends with white space: remove it")
    if len(name) > MAX_TERM_LENGTH:
        raise FilterError(f"the term {shown} has {len(name)} characters; at most {MAX_TERM_LENGTH} are accepted")
    if any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in name):
        raise FilterError(f"the term {shown} holds a control character: remove it")
    proper = _TYPES_FOLDED.get(name.casefold())
    if proper is not None and proper != name:
        raise FilterError(f"the term {shown} looks like the type {proper}: types are written exactly so")
    return Literal(name=name, negated=negated, is_type=proper is not None)


def validate(spec: FilterSpec) -> list[list[Literal]]:
    """Every group of ``spec`` with its terms checked, in order, repeated terms of a group dropped.

    No groups is a filter without a condition. A group without terms is refused, since an OR of nothing is false and
    is never what was meant (FC-08).
    """
    total = sum(len(group) for group in spec.entity_groups)
    if total > MAX_TERMS:
        first = next(term for group in spec.entity_groups for term in group)
        raise FilterError(
            f"the filter holds {total} terms (the first is {_shown(first)}); at most {MAX_TERMS} are accepted. Name a "
            "broader concept: its narrower ones are included by themselves"
        )
    groups = []
    for number, group in enumerate(spec.entity_groups, start=1):
        if not group:
            raise FilterError(
                f"entity_groups: group {number} of {len(spec.entity_groups)} is empty: remove it or add a term"
            )
        groups.append(list(dict.fromkeys(parse_term(term) for term in group)))
    return groups


def to_text(spec: FilterSpec) -> str:
    """The text form of the filter's groups; checks them first."""
    return " AND ".join(_group_text(group) for group in validate(spec))


def parse_text(text: str, *, semantic_query: str = "", scope: Scope = Scope.CHUNK, expand: bool = True) -> FilterSpec:
    """The FilterSpec of a text form. Raises :class:`FilterError` with the column of what was not understood."""
    tokens = list(_tokens(text))
    groups: list[list[str]] = []
    position = 0
    while position < len(tokens):
        group, position = _parse_group(tokens, position, text)
        groups.append(group)
        if position < len(tokens):
            _expect(tokens, position, "AND", text)
            position += 1
            if position == len(tokens):
                raise FilterError(f"the filter ends after AND: {_shown(text)}")
    spec = FilterSpec(entity_groups=groups, semantic_query=semantic_query, scope=scope, expand=expand)
    validate(spec)
    return spec


@dataclass(frozen=True)
class _Token:
    kind: str  # paren | name | keyword
    value: str
    column: int


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    end = len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise FilterError(
                f"column {position + 1} of the filter is not understood: {_shown(text[position : position + 20])}. "
                'Put names that hold spaces or signs between double quotes, as in "blood-brain barrier"'
            )
        position = match.end()
        if match["paren"]:
            yield _Token("paren", match["paren"], match.start("paren") + 1)
        elif match["bare"]:
            word = match["bare"]
            yield _Token("keyword" if word in _KEYWORDS else "name", word, match.start("bare") + 1)
        else:
            name = re.sub(r'\\(["\\])', r"\1", match["quoted"])
            if name.startswith("~"):
                raise FilterError(f"column {match.start('quoted')}: write NOT in front of the name instead of ~")
            yield _Token("name", name, match.start("quoted"))


def _parse_group(tokens: list[_Token], position: int, text: str) -> tuple[list[str], int]:
    if tokens[position].value != "(" or tokens[position].kind != "paren":
        term, position = _parse_literal(tokens, position, text)
        return [term], position
    group = []
    position += 1
    while True:
        term, position = _parse_literal(tokens, position, text)
        group.append(term)
        if position < len(tokens) and tokens[position] == _Token("paren", ")", tokens[position].column):
            return group, position + 1
        _expect(tokens, position, "OR", text)
        position += 1


def _parse_literal(tokens: list[_Token], position: int, text: str) -> tuple[str, int]:
    negation = ""
    if position < len(tokens) and tokens[position] == _Token("keyword", "NOT", tokens[position].column):
        negation = "~"
        position += 1
    if position >= len(tokens):
        raise FilterError(f"the filter ends where a name is expected: {_shown(text)}")
    token = tokens[position]
    if token.kind != "name":
        raise FilterError(f"column {token.column}: a name is expected, not {token.value}")
    return negation + token.value, position + 1


def _expect(tokens: list[_Token], position: int, keyword: str, text: str) -> None:
    if position >= len(tokens):
        raise FilterError(f"a parenthesis is not closed: {_shown(text)}")
    token = tokens[position]
    if (token.kind, token.value) != ("keyword", keyword):
        raise FilterError(
            f"column {token.column}: {keyword} is expected, not {_shown(token.value)}. A name of several words stands "
            "between double quotes, and OR stands only between parentheses"
        )


def _group_text(group: list[Literal]) -> str:
    terms = [_literal_text(literal) for literal in group]
    # A lone type keeps its parentheses, as in the paper-style notation (SmallMolecule) AND …; both forms are read.
    if len(group) == 1 and (group[0].negated or not group[0].is_type):
        return terms[0]
    return f"({' OR '.join(terms)})"


def _literal_text(literal: Literal) -> str:
    bare = _BARE.fullmatch(literal.name) is not None and literal.name not in _KEYWORDS
    escaped = literal.name.replace("\\", "\\\\").replace('"', '\\"')
    name = literal.name if bare else f'"{escaped}"'
    return f"NOT {name}" if literal.negated else name


def _shown(term: str) -> str:
    text = term if len(term) <= 60 else term[:57] + "…"
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text) + '"'
