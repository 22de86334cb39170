"""Terms to posting ids: candidates, the choice, narrower concepts. What cannot be resolved fails by name."""

from __future__ import annotations

import polars as pl

from starling_assets.settings.model import RetrievalSettings

from .filterspec import FilterSpec, ResolvedFilter, Term
from .grammar import FilterError, Literal, validate
from .vocabulary import Vocabulary, spelling


class UnresolvedTerms(FilterError):
    """Names of a filter that no vocabulary knows."""

    def __init__(self, suggestions: dict[str, list[str]]) -> None:
        """``suggestions``: near spellings per unresolved name."""
        self.suggestions = suggestions
        lines = [
            f'no vocabulary knows "{name}"' + (f"; did you mean {' or '.join(f'"{s}"' for s in near)}?" if near else "")
            for name, near in suggestions.items()
        ]
        super().__init__("\n".join(lines))


def resolve(spec: FilterSpec, vocabulary: Vocabulary, settings: RetrievalSettings) -> ResolvedFilter:
    """Resolve every term of ``spec``.

    A name takes every concept of that name, whatever the ontology: case, dashes and spaces do not count, and when
    nothing is written so, neither do other signs and Greek letters against their names. Only when the concepts are of
    several entity types and some are written exactly like the term ("CAT" the gene, "cat" the animal) are the other
    types left out. ``candidates`` lists every concept either way, ``chosen`` what was taken, so that a choice between
    meanings is on record (F21); a concept id (``HGNC:1516``) as term chooses one meaning.
    Raises :class:`FilterError` for a term that is
    malformed and :class:`UnresolvedTerms` naming all unknown names at once.
    """
    groups = validate(spec)
    names = list(dict.fromkeys(literal.name for group in groups for literal in group if not literal.is_type))
    matches = vocabulary.matches(names)
    unknown = [name for name in names if name not in matches]
    if unknown:
        raise UnresolvedTerms({name: vocabulary.suggestions(name) for name in unknown})
    terms: dict[str, Term] = {}
    for literal in dict.fromkeys(literal for group in groups for literal in group):
        terms[literal.text] = _term(literal, matches.get(literal.name), vocabulary, settings, expand=spec.expand)
    return ResolvedFilter(groups=[[terms[literal.text] for literal in group] for group in groups], scope=spec.scope)


def ambiguous(term: Term, vocabulary: Vocabulary) -> bool:
    """Whether the name has meanings of more than one entity type, so that a person should look at the choice."""
    if term.kind == "type":
        return False
    name = term.text.removeprefix("~")
    rows = vocabulary.matches([name]).get(name)
    return rows is not None and rows["entity_type"].n_unique() > 1


def _term(
    literal: Literal, rows: pl.DataFrame | None, vocabulary: Vocabulary, settings: RetrievalSettings, *, expand: bool
) -> Term:
    if literal.is_type or rows is None:
        return Term(text=literal.text, negated=literal.negated, kind="type", ids=[f"type:{literal.name}"])
    taken = _taken(literal.name, rows)
    roots = taken["posting_id"].unique().sort().to_list()
    ids, total = roots, len(roots)
    if expand:
        ids, total = vocabulary.hierarchy.narrower(roots, settings.expansion_depth, settings.expansion_cap)
    return Term(
        text=literal.text,
        negated=literal.negated,
        kind="entity",
        ids=sorted(ids),
        candidates=_listed(rows),
        chosen=_listed(taken),
        truncated=len(ids) < total,
        expansion_total=total,
    )


def _taken(name: str, rows: pl.DataFrame) -> pl.DataFrame:
    near = rows.filter(spelling(pl.col("name")) == spelling(pl.lit(name)))
    rows = near if not near.is_empty() else rows
    types = rows.filter(pl.col("name") == name)["entity_type"].unique().to_list()
    return rows.filter(pl.col("entity_type").is_in(types)) if types else rows


def _listed(rows: pl.DataFrame) -> list[str]:
    ordered = rows.select("posting_id", "label").unique().sort("posting_id", "label")
    return [f"{posting_id} {label}" for posting_id, label in ordered.iter_rows()]
