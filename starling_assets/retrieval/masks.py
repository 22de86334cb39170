"""Masks of papers that a later shard replaced or deleted: closed shards keep their bitmaps, the mask hides the rest."""

from __future__ import annotations

import polars as pl
from pyroaring import BitMap

from .probes import chunks_of_papers


def current_papers(standing: pl.DataFrame, shard: str) -> BitMap:
    """Ordinals of the papers of ``shard`` that still count. ``standing``: columns STANDING (literature.versions)."""
    rows = standing.filter((pl.col("shard") == shard) & pl.col("current"))
    return BitMap(rows["paper_ordinal"].to_numpy())


def superseded_papers(standing: pl.DataFrame, shard: str) -> BitMap:
    """Ordinals of the papers of ``shard`` that a later version, a better source or a deletion masks."""
    rows = standing.filter((pl.col("shard") == shard) & ~pl.col("current"))
    return BitMap(rows["paper_ordinal"].to_numpy())


def without_superseded(chunk_hits: BitMap, standing: pl.DataFrame, shard: str, chunks: pl.DataFrame) -> BitMap:
    """Chunk ordinals without those of superseded papers. ``chunks``: WINDOWS of the shard."""
    masked = superseded_papers(standing, shard)
    return chunk_hits - chunks_of_papers(masked, chunks) if masked else chunk_hits
