"""What a filter means over a corpus: every term with its concepts and counts, every clause with its matches."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from starling_assets.settings.model import RetrievalSettings

from .filterspec import FilterSpec, ResolvedFilter, Scope, Term
from .grammar import to_text
from .protocols import EntityIndex
from .resolution import ambiguous, resolve
from .vocabulary import Vocabulary


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TermExplained(_Part):
    """One term: what it was taken for and how many units hold it."""

    term: str
    kind: str
    chosen: list[str]
    other_candidates: list[str]
    ambiguous: bool  # meanings of several entity types: look at `chosen`, or name a concept id
    ids: int
    expansion_total: int
    truncated: bool
    units: int  # that hold any of its ids, negated or not


class ClauseExplained(_Part):
    """One group: how many units satisfy it, and how many still pass after it and all earlier ones."""

    text: str
    terms: list[TermExplained]
    units: int
    remaining: int


class FilterExplained(_Part):
    """The whole filter over all loaded shards."""

    text: str
    scope: Scope
    units: int  # in the corpus
    matches: int
    clauses: list[ClauseExplained]
    silent: list[str]  # names of which no unit holds a single one

    @property
    def lines(self) -> list[str]:
        """The explanation as lines for a person."""
        lines = [f"{self.text or '(no condition)'}: {self.matches} of {self.units} {self.scope}s"]
        for clause in self.clauses:
            lines.append(f"  {clause.text}: {clause.units}, still passing {clause.remaining}")
            lines.extend(f"    {_term_line(term)}" for term in clause.terms)
        lines.extend(f'  "{name}" is known, but nothing in the corpus mentions it' for name in self.silent)
        return lines


def explain(
    spec: FilterSpec, vocabulary: Vocabulary, index: EntityIndex, settings: RetrievalSettings
) -> FilterExplained:
    """Resolve ``spec`` and count every part of it. Raises FilterError (see ``resolution.resolve``)."""
    query = resolve(spec, vocabulary, settings)
    counted: dict[str, int] = {}
    clauses = []
    for number, group in enumerate(query.groups):
        for term in group:
            name = term.text.removeprefix("~")
            if name not in counted:
                alone = term.model_copy(update={"negated": False})
                counted[name] = index.count(ResolvedFilter(groups=[[alone]], scope=query.scope))
        clauses.append(
            ClauseExplained(
                text=to_text(spec.model_copy(update={"entity_groups": [[term.text for term in group]]})),
                terms=[_explained(term, counted[term.text.removeprefix("~")], vocabulary) for term in group],
                units=index.count(ResolvedFilter(groups=[group], scope=query.scope)),
                remaining=index.count(ResolvedFilter(groups=query.groups[: number + 1], scope=query.scope)),
            )
        )
    return FilterExplained(
        text=to_text(spec),
        scope=query.scope,
        units=index.count(ResolvedFilter(groups=[], scope=query.scope)),
        matches=clauses[-1].remaining if clauses else index.count(query),
        clauses=clauses,
        silent=sorted(name for name, units in counted.items() if not units),
    )


def _explained(term: Term, units: int, vocabulary: Vocabulary) -> TermExplained:
    return TermExplained(
        term=term.text,
        kind=term.kind,
        chosen=term.chosen,
        other_candidates=[candidate for candidate in term.candidates if candidate not in set(term.chosen)],
        ambiguous=ambiguous(term, vocabulary),
        ids=len(term.ids),
        expansion_total=term.expansion_total,
        truncated=term.truncated,
        units=units,
    )


def _term_line(term: TermExplained) -> str:
    parts = [f"{term.term}: {term.units} hold it"]
    if term.chosen:
        parts.append(f"taken for {', '.join(term.chosen)}")
    if term.ids > 1:
        parts.append(f"{term.ids} ids")
    if term.truncated:
        parts.append(f"cut: {term.ids} of {term.expansion_total} narrower concepts")
    if term.ambiguous:
        others = f"; also {', '.join(term.other_candidates)}" if term.other_candidates else ""
        parts.append(f"ambiguous{others}")
    return "; ".join(parts)
