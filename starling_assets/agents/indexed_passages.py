"""The corpus as the probe loop sees it: passages are the chunks of loaded shards, found through both indexes."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from pyroaring import BitMap

from starling_assets.literature.chunk_text import window_texts
from starling_assets.retrieval.filterspec import FilterSpec
from starling_assets.retrieval.grammar import FilterError
from starling_assets.retrieval.probes import Probe, ResolvedProbe, chunks_of_papers, resolve_probe, run_probe
from starling_assets.retrieval.protocols import Embedder, EntityIndex, VectorIndex
from starling_assets.retrieval.vocabulary import Vocabulary
from starling_assets.settings.model import RetrievalSettings

from .planning_calls import Passage

#: Characters of a passage that are shown to a model.
SHOWN = 1_800


@dataclass(frozen=True)
class ShardPassages:
    """Tables of one shard: BLOCKS, PAPERS and the chunks (WINDOWS) that the indexes were loaded with.

    ``current``: ordinals of the papers that count; None = all. Replaced and deleted papers are in no answer.
    """

    blocks: pl.DataFrame
    papers: pl.DataFrame
    chunks: pl.DataFrame
    current: BitMap | None = None


class IndexedPassages:
    """A :class:`PassageSource` over an entity index, a vector index and the shards' tables."""

    def __init__(
        self,
        shards: Mapping[str, ShardPassages],
        entities: EntityIndex,
        vectors: VectorIndex,
        embedder: Embedder,
        vocabulary: Vocabulary,
        settings: RetrievalSettings,
    ) -> None:
        self._shards = dict(sorted(shards.items()))
        self._entities = entities
        self._vectors = vectors
        self._embedder = embedder
        self._vocabulary = vocabulary
        self._settings = settings

    @property
    def size(self) -> int:
        """Passages in all shards, those of replaced papers too."""
        return sum(tables.chunks.height for tables in self._shards.values())

    def problems(self, spec: FilterSpec) -> str | None:
        """Why the filter cannot be used: an unknown or malformed term, an empty group."""
        try:
            self._resolved(spec)
        except FilterError as error:
            return str(error)
        return None

    def keys(self, spec: FilterSpec) -> frozenset[str]:
        """``shard:chunk ordinal`` of every match."""
        return frozenset(f"{shard}:{ordinal}" for shard, hits in self._hits(spec).items() for ordinal in hits)

    def sample(self, spec: FilterSpec, n: int, seed: int) -> list[Passage]:
        """At most ``n`` random matches; the same seed gives the same sample."""
        matches = [(shard, ordinal) for shard, hits in self._hits(spec).items() for ordinal in hits]
        return [self._passage(*place) for place in random.Random(seed).sample(matches, min(n, len(matches)))]  # noqa: S311

    def search(self, query: str, n: int, spec: FilterSpec | None = None) -> list[Passage]:
        """The ``n`` passages nearest to ``query``, best first."""
        (vector,) = self._embedder.embed([query])
        allowed = self._hits(spec) if spec is not None else self._counted()
        found = [
            (-similarity, shard, ordinal)
            for shard in self._shards
            for ordinal, similarity in self._vectors.search(
                shard, vector, n, None if allowed is None else allowed[shard]
            )
        ]
        return [self._passage(shard, ordinal) for _, shard, ordinal in sorted(found)[:n]]

    def outside(self, specs: list[FilterSpec], n: int) -> list[Passage]:
        """The best passage of each of the ``n`` best papers of which no chunk passes any filter."""
        queries = [spec.semantic_query for spec in specs if spec.semantic_query]
        if not queries:
            return []
        vectors = self._embedder.embed(queries)
        hits = [self._hits(spec) for spec in specs]
        ranked: list[tuple[float, str, int]] = []
        for shard, tables in self._shards.items():
            chunks = tables.chunks
            matched = BitMap.union(*[found[shard] for found in hits])
            ordinals = chunks["ordinal"].to_numpy().astype(np.uint32)
            inside = set(chunks.filter(pl.col("ordinal").is_in(list(matched)))["paper_ordinal"].to_list())
            if tables.current is not None:
                inside |= set(chunks["paper_ordinal"].to_list()) - set(tables.current)
            scores = np.nan_to_num(self._vectors.score(shard, vectors, ordinals), nan=-1.0).max(axis=0, initial=-1.0)
            best: dict[int, tuple[float, str, int]] = {}
            for paper, ordinal, score in zip(chunks["paper_ordinal"], chunks["ordinal"], scores, strict=True):
                entry = (-float(score), shard, int(ordinal))
                if paper not in inside and entry < best.get(paper, (2.0, "", 0)):
                    best[paper] = entry
            ranked += best.values()
        return [self._passage(shard, ordinal) for _, shard, ordinal in sorted(ranked)[:n]]

    def _resolved(self, spec: FilterSpec) -> ResolvedProbe:
        return resolve_probe(Probe(name="probe", filter=spec), self._vocabulary, self._settings)

    def _hits(self, spec: FilterSpec) -> dict[str, BitMap]:
        probe = self._resolved(spec)
        return {
            shard: run_probe(probe, self._entities, shard, tables.chunks, tables.current)
            for shard, tables in self._shards.items()
        }

    def _counted(self) -> dict[str, BitMap] | None:
        """Chunks of the papers that count; None where no paper is masked."""
        if all(tables.current is None for tables in self._shards.values()):
            return None
        return {
            shard: BitMap(tables.chunks["ordinal"].to_list())
            if tables.current is None
            else chunks_of_papers(tables.current, tables.chunks)
            for shard, tables in self._shards.items()
        }

    def _passage(self, shard: str, ordinal: int) -> Passage:
        tables = self._shards[shard]
        row = tables.chunks.filter(pl.col("ordinal") == ordinal)
        (text,) = window_texts(tables.blocks, row)
        paper = row["paper_ordinal"][0]
        titles = tables.papers.filter(pl.col("paper_ordinal") == paper)["title"].to_list()
        title = f"{titles[0]}\n" if titles and titles[0] else ""
        return Passage(key=f"{shard}:{ordinal}", paper_id=row["paper_id"][0], text=f"{title}{text}"[:SHOWN])
