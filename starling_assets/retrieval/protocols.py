"""What retrieval needs from stores. Implementations live in ``resources`` and pass one contract suite each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import polars as pl
from pyroaring import BitMap

from .filterspec import ResolvedFilter, Scope


class EntityIndex(Protocol):
    """Postings of entities over the units (paragraphs, chunks, papers) of shards."""

    def load(self, shard: str, postings: pl.DataFrame, units: dict[Scope, int]) -> None:
        """Replace a shard. ``postings``: columns POSTINGS (see tables.py); ``units``: number of units per scope."""
        ...

    def drop(self, shard: str) -> None:
        """Forget a shard; unknown shards are no error."""
        ...

    def shards(self) -> list[str]:
        """Loaded shards, sorted."""
        ...

    def evaluate(self, query: ResolvedFilter, shard: str) -> BitMap:
        """Ordinals of the units of ``shard`` for which the filter is true."""
        ...

    def count(self, query: ResolvedFilter, shards: Sequence[str] | None = None) -> int:
        """Number of matching units; ``shards`` None = all loaded."""
        ...

    def sample(self, query: ResolvedFilter, n: int, seed: int) -> list[tuple[str, int]]:
        """``n`` random (shard, ordinal) matches; the same seed gives the same sample."""
        ...

    def top_entities(self, scope: Scope, n: int, entity_type: str | None = None) -> list[tuple[str, int]]:
        """Posting ids with the most units."""
        ...


class VectorIndex(Protocol):
    """Unit vectors of chunks, per shard and embedding model."""

    def check(self, model: str, dimension: int) -> None:
        """Raise StoreError unless vectors of this model and length could be loaded; asked before they are paid for."""
        ...

    def load(self, shard: str, model: str, ordinals: np.ndarray, vectors: np.ndarray) -> None:
        """Replace a shard. ``ordinals`` uint32 (n,), ``vectors`` float32 (n, d), L2-normalised."""
        ...

    def drop(self, shard: str) -> None:
        """Forget a shard; unknown shards are no error."""
        ...

    def shards(self) -> list[str]:
        """Loaded shards, sorted."""
        ...

    def search(self, shard: str, query: np.ndarray, k: int, allowed: BitMap | None = None) -> list[tuple[int, float]]:
        """Best ``k`` (chunk ordinal, cosine) of ``query`` (d,), ties by ordinal. ``allowed`` None = no restriction,
        an empty bitmap = no rows."""
        ...

    def score(self, shard: str, queries: np.ndarray, ordinals: np.ndarray) -> np.ndarray:
        """Cosines (q, n) of ``queries`` (q, d) with the chunks at ``ordinals``; NaN where a chunk has no vector."""
        ...


class Embedder(Protocol):
    """Texts to unit vectors."""

    @property
    def name(self) -> str:
        """Model name and version; part of every vector's identity."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """float32 (n, dimension), L2-normalised."""
        ...
