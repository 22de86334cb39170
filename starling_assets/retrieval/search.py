"""Search: the passages closest to a query among those that a resolved filter lets through, over all shards."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from starling_assets.artifacts.store import Store
from starling_assets.literature.chunk_text import window_texts

from .filterspec import ResolvedFilter
from .masks import without_superseded
from .probes import probe_chunks
from .protocols import Embedder, EntityIndex, VectorIndex


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage. ``similarity`` is the cosine of query and chunk."""

    shard: str
    paper_id: str
    first_para: int
    n: int
    section: str
    similarity: float
    text: str


def search_shards(
    query: ResolvedFilter,
    words: str,
    k: int,
    store: Store,
    entities: EntityIndex,
    vectors: VectorIndex,
    embedder: Embedder,
    standing: pl.DataFrame,
    shards: Sequence[str] | None = None,
) -> list[Hit]:
    """The best ``k`` chunks, ties by shard and chunk ordinal. ``shards`` None = all loaded ones.

    ``standing`` (columns STANDING) hides papers that a later shard replaced. A shard is searched by itself: the filter
    gives its allowed chunks, the vector index the best of those, and only the winners' texts are read.
    """
    loaded = [shard for shard in entities.shards() if shards is None or shard in set(shards)]
    vector = embedder.embed([words])[0]
    best: list[tuple[float, str, int]] = []
    for shard in loaded:
        chunks = store.read("chunks", shard)
        matching = probe_chunks(entities.evaluate(query, shard), query.scope, chunks)
        found = vectors.search(shard, vector, k, without_superseded(matching, standing, shard, chunks))
        best += [(-similarity, shard, ordinal) for ordinal, similarity in found]
    return [_hit(store, shard, ordinal, -negative) for negative, shard, ordinal in heapq.nsmallest(k, best)]


def _hit(store: Store, shard: str, ordinal: int, similarity: float) -> Hit:
    chunks = store.read("chunks", shard)
    row = chunks.filter(chunks["ordinal"] == ordinal)
    (text,) = window_texts(store.read("papers", shard, table="blocks"), row)
    found = row.row(0, named=True)
    return Hit(
        shard, found["paper_id"], found["first_para"], found["n"], found["section_kind"], round(similarity, 6), text
    )
