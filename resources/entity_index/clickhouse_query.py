"""A resolved filter as one ClickHouse query: a conditional bitmap merge per clause over the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from starling_assets.retrieval.filterspec import ResolvedFilter, Term


class FilterQuery:
    """The SQL of a filter. Ids, shards and scope travel as parameters or rows, never inside the text."""

    def __init__(self, query: ResolvedFilter) -> None:
        self._query = query
        self._clauses: list[list[str]] = []
        self._expression = self._combine()

    @property
    def size(self) -> int:
        """Number of ids that the query has to carry."""
        return sum(len(clause) for clause in self._clauses)

    def sql(
        self, shards: Sequence[str] | None, answer: str, stored_as: str | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Text and parameters; one row (shard, answer) per shard, where ``answer`` is SQL over ``found``.

        ``stored_as``: name under which ``id_rows`` were inserted, for filters that are too long for parameters.
        """
        parameters: dict[str, Any] = {"scope": str(self._query.scope)}
        merges = []
        if "units" in self._expression:
            merges.append("groupBitmapMergeStateIf(ordinals, posting_id = '') AS units")
        for number, clause in enumerate(self._clauses):
            if stored_as is None:
                parameters[f"ids{number}"] = clause
                member = f"posting_id IN {{ids{number}:Array(String)}}"
            else:
                member = f"posting_id IN ({_STORED} AND clause = {number})"
            merges.append(f"groupBitmapMergeStateIf(ordinals, {member}) AS clause{number}")
        if stored_as is None:
            # Every id travels and is parsed once.
            lists = ", ".join(["['']", *(f"{{ids{number}:Array(String)}}" for number in range(len(self._clauses)))])
            wanted = f"posting_id IN arrayConcat({lists})"
        else:
            parameters["filter"] = stored_as
            wanted = f"(posting_id = '' OR posting_id IN ({_STORED}))"
        where = f"scope = {{scope:String}} AND {wanted}"
        if shards is not None:
            parameters["shards"] = list(shards)
            where += " AND shard IN {shards:Array(String)}"
        text = (
            f"SELECT shard, {answer} AS answer FROM ("  # noqa: S608 - made of fixed parts
            f"SELECT {', '.join(['shard', *merges])}, {self._expression} AS found "
            f"FROM entity_bitmaps WHERE {where} GROUP BY shard HAVING countIf(posting_id = '') > 0"
            ") ORDER BY shard"
        )
        return text, parameters

    def id_rows(self, name: str) -> pl.DataFrame:
        """Rows of ``entity_filter_ids`` for this filter."""
        parts = [
            pl.DataFrame({"clause": [number] * len(clause), "posting_id": clause}, schema=_ID_ROWS)
            for number, clause in enumerate(self._clauses)
        ]
        return pl.concat(parts).select(pl.lit(name).alias("filter"), "clause", "posting_id")

    def _combine(self) -> str:
        found: str | None = None
        subtracted = []
        for group in self._query.groups:
            positive = [term for term in group if not term.negated]
            if len(group) == 1 and not positive:
                # NOT is taken away at the end: cheaper than a complement of the whole shard.
                subtracted.append(self._clause([group[0]]))
                continue
            expression = self._group(group, positive)
            found = expression if found is None else f"bitmapAnd({found}, {expression})"
        expression = found or "units"
        for name in subtracted:
            expression = f"bitmapAndnot({expression}, {name})"
        return expression

    def _group(self, group: Sequence[Term], positive: Sequence[Term]) -> str:
        # Without a positive term the clause of no ids is the empty bitmap: an OR of nothing is false.
        expression = self._clause(positive)
        for term in group:
            if term.negated:
                expression = f"bitmapOr({expression}, bitmapAndnot(units, {self._clause([term])}))"
        return expression

    def _clause(self, terms: Sequence[Term]) -> str:
        self._clauses.append(sorted({identifier for term in terms for identifier in term.ids}))
        return f"clause{len(self._clauses) - 1}"


_STORED = "SELECT posting_id FROM entity_filter_ids WHERE filter = {filter:String}"
_ID_ROWS = {"clause": pl.UInt32, "posting_id": pl.String}
