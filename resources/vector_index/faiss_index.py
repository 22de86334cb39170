"""The vector index of one machine: memory-mapped flat inner product per shard; every answer is exact."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from pyroaring import BitMap

from starling_assets.artifacts.files import StoreError
from starling_assets.artifacts.keys import safe_name
from starling_assets.retrieval.plans import Plan, PlanKind, best, choose_plan, permitted
from starling_assets.settings.model import RetrievalSettings

from . import collection_files as files

_log = logging.getLogger(__name__)
#: Two float32 inner products of unit vectors that differ by less may be the same number, summed in another order.
ROUNDING = 1e-5
#: Below this many allowed vectors a plain product is cheaper than preparing a selector.
_FEW = 2_000


class WrongDimension(StoreError):
    """Vectors or queries of another length than the collection's: not the model it was built with."""


class FaissVectorIndex:
    """:class:`~starling_assets.retrieval.protocols.VectorIndex` in a folder.

    ``model`` pins the collection that is read; None = the active one. Loading another model's vectors leaves the
    active collection as it is until the new one covers the same shards, then switches.
    """

    def __init__(self, root: Path, settings: RetrievalSettings | None = None, model: str | None = None) -> None:
        self.root = root
        self.settings = settings if settings is not None else RetrievalSettings.model_validate({})
        self.model = model
        self._open: dict[tuple[str, str], files.ShardVectors] = {}

    def check(self, model: str, dimension: int) -> None:
        """Raise WrongDimension unless vectors of this model and length fit the collection (F16)."""
        for shard in files.shards_of(self.root, model)[:1]:
            known = self._opened(shard, model).dimension
            if known != dimension:
                raise WrongDimension(
                    f"the collection of {model} holds vectors of length {known}, the model gives {dimension}: give a "
                    "changed model another name"
                )

    def load(self, shard: str, model: str, ordinals: np.ndarray, vectors: np.ndarray) -> None:
        """Replace a shard. ``ordinals`` uint32 (n,), distinct; ``vectors`` float32 (n, d), L2-normalised.

        Raises StoreError, or WrongDimension when the model's other shards have another d; the old shard then stays.
        """
        check_vectors(shard, ordinals, vectors)
        if files.shards_of(self.root, model) != [shard]:
            self.check(model, int(vectors.shape[1]))
        files.write_vectors(self.root, shard, model, ordinals, vectors)
        served = files.active_model(self.root)
        if served is None or set(files.shards_of(self.root, served)) <= set(files.shards_of(self.root, model)):
            files.activate(self.root, model)

    def drop(self, shard: str) -> None:
        """Forget a shard in every model's collection; unknown shards are no error."""
        for path in list(self.root.glob(f"*/{safe_name(shard)}/current.json")):
            path.unlink(missing_ok=True)
            shutil.rmtree(path.parent, ignore_errors=True)

    def shards(self) -> list[str]:
        """Loaded shards of the collection that is read, sorted."""
        model = self.model or files.active_model(self.root)
        return files.shards_of(self.root, model) if model else []

    def search(
        self, shard: str, query: np.ndarray, k: int, allowed: BitMap | None = None, plan: PlanKind | None = None
    ) -> list[tuple[int, float]]:
        """Best ``k`` (chunk ordinal, cosine) of ``query`` (d,), ties by ordinal.

        ``allowed`` None = no restriction, an empty bitmap = no rows. ``plan`` forces a plan; the answer is the same.
        """
        opened = self._served(shard)
        query = self._checked(query.reshape(1, -1), opened, shard)
        places = None if allowed is None else permitted(opened.ordinals, allowed)
        chosen = choose_plan(len(opened.ordinals), None if places is None else len(places), k, self.settings)
        if plan is not None and chosen.kind in {PlanKind.EXACT, PlanKind.OVERFETCH}:
            chosen = Plan(plan, chosen.total, chosen.allowed, min(chosen.total, k * self.settings.overfetch))
        _log.debug("vector search in %s: %s", shard, chosen)
        if chosen.kind is PlanKind.NOTHING:
            return []
        if chosen.kind is PlanKind.EXACT and places is not None and len(places) <= _FEW:
            return best(opened.ordinals[places], cosines(query, opened.vectors[places])[0], k)
        if chosen.kind is PlanKind.OVERFETCH and allowed is not None:
            return _overfetch(opened, query, k, allowed, chosen.fetch)
        return _selected(opened, query, k, places)

    def score(self, shard: str, queries: np.ndarray, ordinals: np.ndarray) -> np.ndarray:
        """Cosines float32 (q, n) of ``queries`` (q, d) with the chunks at ``ordinals``; NaN where one has no vector."""
        opened = self._served(shard)
        scores = np.full((len(queries), len(ordinals)), np.nan, dtype=np.float32)
        if not len(queries) or not len(ordinals) or not len(opened.ordinals):
            return scores
        queries = self._checked(queries, opened, shard)
        wanted = np.asarray(ordinals, dtype=np.uint32)
        places = np.minimum(np.searchsorted(opened.ordinals, wanted), len(opened.ordinals) - 1)
        known = opened.ordinals[places] == wanted
        scores[:, known] = cosines(queries, opened.vectors[places[known]])
        return scores

    def _served(self, shard: str) -> files.ShardVectors:
        model = self.model or files.active_model(self.root)
        if model is None:
            raise StoreError(f"the vector index in {self.root} is empty: materialise vector_index first")
        return self._opened(shard, model)

    def _opened(self, shard: str, model: str) -> files.ShardVectors:
        for _ in range(5):
            generation = files.current_generation(self.root, shard, model)
            if generation is None:
                break
            known = self._open.get((model, shard))
            if known is not None and known.generation == generation:
                return known
            try:
                opened = files.open_vectors(self.root, shard, model, generation)
            except (FileNotFoundError, RuntimeError):
                continue  # replaced between the two reads
            self._open[model, shard] = opened
            return opened
        raise StoreError(
            f"the vector index has no vectors of {model} for shard {shard!r}: materialise vector_index for it first"
        )

    @staticmethod
    def _checked(queries: np.ndarray, opened: files.ShardVectors, shard: str) -> np.ndarray:
        if queries.shape[1] != opened.dimension:
            raise WrongDimension(
                f"the query has {queries.shape[1]} dimensions, the vectors of shard {shard} have {opened.dimension}: "
                "embed with the model that the collection was built with"
            )
        return np.ascontiguousarray(queries, dtype=np.float32)


def check_vectors(shard: str, ordinals: np.ndarray, vectors: np.ndarray) -> None:
    """Raise StoreError unless the vectors are a finite (n, d) matrix with n distinct ordinals."""
    if vectors.ndim != 2 or len(ordinals) != len(vectors):
        raise StoreError(f"shard {shard}: {len(ordinals)} ordinals for vectors of shape {vectors.shape}")
    if len(np.unique(ordinals)) != len(ordinals):
        raise StoreError(f"shard {shard}: an ordinal appears twice")
    if not np.isfinite(vectors).all():
        raise StoreError(f"shard {shard}: a vector holds NaN or infinity: embed the shard again")


def cosines(queries: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Cosines float32 (q, n), summed in float64: the score of a chunk does not depend on what is scored beside it."""
    return np.asarray(queries.astype(np.float64) @ vectors.astype(np.float64).T).astype(np.float32)


def _selected(
    opened: files.ShardVectors, query: np.ndarray, k: int, places: np.ndarray | None
) -> list[tuple[int, float]]:
    """Best of the given places (None = all) by FAISS, scored again the one way, ties complete."""
    import faiss

    library: Any = faiss  # its stubs know the C++ constructors only
    total = len(opened.ordinals)
    parameters = None
    limit = total if places is None else len(places)
    if places is not None:
        bits = np.zeros(total, dtype=bool)
        bits[places] = True
        packed = np.packbits(bits, bitorder="little")
        parameters = library.SearchParameters(sel=library.IDSelectorBitmap(packed))
    fetch = min(limit, k + 16)
    while True:
        rough, found = opened.faiss_index.search(query, fetch, params=parameters)
        scores = cosines(query, opened.vectors[found[0]])[0]
        answer = best(opened.ordinals[found[0]], scores, k)
        # Complete once the worst row fetched lies clearly below the worst row answered.
        if fetch == limit or rough[0, -1] < answer[-1][1] - ROUNDING:
            return answer
        fetch = min(limit, fetch * 4)


def _overfetch(
    opened: files.ShardVectors, query: np.ndarray, k: int, allowed: BitMap, fetch: int
) -> list[tuple[int, float]]:
    total = len(opened.ordinals)
    fetch = min(total, max(fetch, 1))
    while True:
        rough, found = opened.faiss_index.search(query, fetch)
        kept = np.array([place for place in found[0] if int(opened.ordinals[place]) in allowed], dtype=np.int64)
        answer = best(opened.ordinals[kept], cosines(query, opened.vectors[kept])[0], k)
        if fetch == total or (len(answer) == k and rough[0, -1] < answer[-1][1] - ROUNDING):
            return answer
        fetch = min(total, fetch * 4)
