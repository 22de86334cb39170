"""Probes: named filters of a task, and the chunks they match whatever unit they are stated over."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field
from pyroaring import BitMap

from starling_assets.settings.model import RetrievalSettings

from .filterspec import FilterSpec, ResolvedFilter, Scope
from .postings import chunk_members
from .protocols import EntityIndex
from .resolution import resolve
from .vocabulary import Vocabulary


class Probe(BaseModel):
    """A named filter of a task."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1)
    filter: FilterSpec


class ResolvedProbe(BaseModel):
    """A probe whose terms are resolved; ``semantic_query`` is never empty."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    semantic_query: str
    resolved: ResolvedFilter


def resolve_probe(probe: Probe, vocabulary: Vocabulary, settings: RetrievalSettings) -> ResolvedProbe:
    """Resolve a probe. Without a semantic query its names stand in. Raises FilterError (see resolution.resolve)."""
    names = [term for group in probe.filter.entity_groups for term in group if not term.startswith("~")]
    return ResolvedProbe(
        name=probe.name,
        semantic_query=probe.filter.semantic_query.strip() or ", ".join(dict.fromkeys(names)) or probe.name,
        resolved=resolve(probe.filter, vocabulary, settings),
    )


def run_probe(
    probe: ResolvedProbe,
    index: EntityIndex,
    shard: str,
    chunks: pl.DataFrame,
    papers: Iterable[int] | None = None,
) -> BitMap:
    """Ordinals of the chunks of ``shard`` that the probe matches.

    ``chunks``: columns WINDOWS of that shard. ``papers``: paper ordinals that may match; None = all, empty = none.
    """
    found = probe_chunks(index.evaluate(probe.resolved, shard), probe.resolved.scope, chunks)
    return found if papers is None else found & chunks_of_papers(papers, chunks)


def probe_chunks(matches: BitMap, scope: Scope, chunks: pl.DataFrame) -> BitMap:
    """Chunks of matching units: those that hold a matching paragraph, or all chunks of a matching paper."""
    if scope is Scope.CHUNK:
        return matches
    if scope is Scope.PAPER:
        return chunks_of_papers(matches, chunks)
    members = chunk_members(chunks)
    hit = members.filter(_contains(members["para_ordinal"], matches))["ordinal"]
    return BitMap(hit.unique().to_numpy())


def chunks_of_papers(papers: Iterable[int], chunks: pl.DataFrame) -> BitMap:
    """Ordinals of all chunks of the papers with these ordinals; unknown ordinals match nothing."""
    wanted = papers if isinstance(papers, BitMap) else BitMap([paper for paper in papers if 0 <= paper < 2**32])
    return BitMap(chunks.filter(_contains(chunks["paper_ordinal"], wanted))["ordinal"].to_numpy())


def silent_terms(query: ResolvedFilter, index: EntityIndex) -> list[str]:
    """Terms of which no loaded shard holds a single unit: the reason of an unexpectedly empty answer (FC-08)."""
    terms = {term.text.removeprefix("~"): term for group in query.groups for term in group}
    silent = []
    for name, term in terms.items():
        alone = term.model_copy(update={"negated": False})
        if index.count(ResolvedFilter(groups=[[alone]], scope=query.scope)) == 0:
            silent.append(name)
    return silent


def _contains(column: pl.Series, units: BitMap) -> pl.Series:
    ordinals = np.asarray(units.to_array(), dtype=np.uint32)
    return column.cast(pl.UInt32).is_in(pl.Series(ordinals, dtype=pl.UInt32).implode())
