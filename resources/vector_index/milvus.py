"""The vector index of a cluster: one Milvus collection per embedding model, a partition per group of shards."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from pyroaring import BitMap

from starling_assets.artifacts.files import StoreError
from starling_assets.artifacts.keys import content_key
from starling_assets.retrieval.plans import Plan, PlanKind, best, choose_plan
from starling_assets.settings.model import RetrievalSettings

from .faiss_index import ROUNDING, WrongDimension, check_vectors, cosines
from .milvus_catalogue import Catalogue, ShardEntry
from .milvus_door import MilvusDoor

_log = logging.getLogger(__name__)
GROUPS = 64  # partitions per collection: Milvus bounds their number, shards are many more
FEW = 1_000  # allowed vectors that are fetched and scored by us
LIST_LIMIT = 10_000  # ids that a filter may list before Milvus becomes slow
TOP_LIMIT = 16_384  # rows that Milvus returns at most
_INSERT_ROWS = 5_000
ABANDONED = 86_400  # seconds after which a load that never ended was killed: younger ones may still run


@dataclass
class _Candidates:
    ordinals: np.ndarray
    scores: np.ndarray
    complete: bool  # nothing was left out that could score as well as the worst row here
    floor: float  # rough score of the worst row


class MilvusVectorIndex:
    """:class:`~starling_assets.retrieval.protocols.VectorIndex` on a Milvus server or a Milvus Lite file.

    Every load writes its rows under a new generation number and then switches the catalogue to it, so a reader, or a
    kill, sees the old shard or the new one. With ``index_type`` FLAT answers are exact; with HNSW the unfiltered and
    over-fetch plans are approximate. ``strong`` waits until a search sees every earlier write.
    """

    def __init__(
        self,
        door: MilvusDoor,
        settings: RetrievalSettings | None = None,
        model: str | None = None,
        *,
        index_type: str = "FLAT",
        strong: bool = True,
    ) -> None:
        self._door = door
        self._settings = settings if settings is not None else RetrievalSettings.model_validate({})
        self._model = model
        self._index_type = index_type
        self._consistency = "Strong" if strong else "Bounded"
        self._catalogue = Catalogue(door)

    def check(self, model: str, dimension: int) -> None:
        """Raise StoreError unless vectors of this model could be loaded; costs one small query (F16)."""
        known = next(iter(self._catalogue.entries(model).values()), None)
        if known is not None and known.dimension != dimension:
            raise WrongDimension(
                f"the collection of {model} holds vectors of length {known.dimension}, the model gives {dimension}: "
                "give a changed model another name"
            )

    def load(self, shard: str, model: str, ordinals: np.ndarray, vectors: np.ndarray) -> None:
        """Replace a shard. ``ordinals`` uint32 (n,), distinct; ``vectors`` float32 (n, d), L2-normalised."""
        check_vectors(shard, ordinals, vectors)
        self.check(model, int(vectors.shape[1]))
        collection, partition = self._collection(model, int(vectors.shape[1])), _partition(shard)
        generation = secrets.randbits(62)
        entry = ShardEntry(model, shard, generation, len(ordinals), int(vectors.shape[1]))
        purpose = f"load shard {shard}"
        self._sweep()
        self._catalogue.begin(entry, int(time.time()))
        if not self._door.call(purpose, lambda client: client.has_partition(collection, partition)):
            self._door.call(purpose, lambda client: client.create_partition(collection, partition))
        for places in _parts(np.arange(len(ordinals)), _INSERT_ROWS):
            rows = [
                {
                    "key": f"{generation:016x}-{ordinal:08x}",
                    "generation": generation,
                    "ordinal": ordinal,
                    "vector": vector,
                }
                for ordinal, vector in zip(ordinals[places].tolist(), vectors[places], strict=True)
            ]
            self._insert(purpose, collection, partition, rows)
        old = self._catalogue.entries(model).get(shard)
        self._catalogue.put(entry)
        self._catalogue.end(entry)
        if old is not None:
            self._forget(old)
        self._switch(model)

    def drop(self, shard: str) -> None:
        """Forget a shard in every model's collection; unknown shards are no error."""
        for entry in self._catalogue.all_entries():
            if entry.shard == shard:
                self._catalogue.remove(entry)
                self._forget(entry)

    def shards(self) -> list[str]:
        """Loaded shards of the collection that is read, sorted."""
        model = self._model or self._catalogue.active()
        return sorted(self._catalogue.entries(model)) if model else []

    def search(self, shard: str, query: np.ndarray, k: int, allowed: BitMap | None = None) -> list[tuple[int, float]]:
        """Best ``k`` (chunk ordinal, cosine) of ``query`` (d,), ties by ordinal.

        ``allowed`` None = no restriction, an empty bitmap = no rows.
        """
        entry = self._entry(shard, query.shape[0])
        plan = self._plan(entry, k, allowed)
        _log.debug("vector search in %s: %s", shard, plan)
        if plan.kind is PlanKind.NOTHING:
            return []
        if plan.kind is PlanKind.EXACT and allowed is not None:
            return self._exact(entry, query, k, allowed)
        fetch = min(entry.rows, TOP_LIMIT, max(plan.fetch, k) + 16)
        while True:
            found = self._nearest(entry, query, fetch, "")
            kept = np.ones(len(found.ordinals), dtype=bool)
            if allowed is not None:
                kept = np.array([int(ordinal) in allowed for ordinal in found.ordinals], dtype=bool)
            answer = best(found.ordinals[kept], found.scores[kept], k)
            if found.complete or (len(answer) == k and found.floor < answer[-1][1] - ROUNDING):
                return answer
            if fetch == TOP_LIMIT:
                # More ties or misses than Milvus can return: list the allowed ones in parts instead.
                return self._exact(entry, query, k, BitMap(self._ordinals(entry)) if allowed is None else allowed)
            fetch = min(entry.rows, TOP_LIMIT, fetch * 4)

    def score(self, shard: str, queries: np.ndarray, ordinals: np.ndarray) -> np.ndarray:
        """Cosines float32 (q, n) of ``queries`` (q, d) with the chunks at ``ordinals``; NaN where one has no vector."""
        entry = self._entry(shard, queries.shape[1])
        scores = np.full((len(queries), len(ordinals)), np.nan, dtype=np.float32)
        if not len(queries):
            return scores
        wanted = np.unique(np.asarray(ordinals, dtype=np.uint32))
        places: dict[int, list[int]] = {}
        for place, ordinal in enumerate(np.asarray(ordinals).tolist()):
            places.setdefault(int(ordinal), []).append(place)
        for found, vectors in self._vectors(entry, wanted):
            values = cosines(queries, vectors)
            for column, ordinal in enumerate(found):
                scores[:, places[ordinal]] = values[:, [column]]
        return scores

    def _plan(self, entry: ShardEntry, k: int, allowed: BitMap | None) -> Plan:
        if allowed is None:
            return choose_plan(entry.rows, None, k, self._settings)
        inside = min(len(allowed), entry.rows)
        if len(allowed) <= LIST_LIMIT:
            return Plan(PlanKind.EXACT if entry.rows and inside and k else PlanKind.NOTHING, entry.rows, inside, k)
        return choose_plan(entry.rows, inside, k, self._settings, looked_at=LIST_LIMIT / max(entry.rows, 1))

    def _exact(self, entry: ShardEntry, query: np.ndarray, k: int, allowed: BitMap) -> list[tuple[int, float]]:
        if len(allowed) <= FEW:
            # Scored here: exact whatever the kind of index.
            wanted = np.asarray(allowed.to_array(), dtype=np.uint32)
            known = [
                (np.array(found, dtype=np.uint32), cosines(query.reshape(1, -1), vectors)[0])
                for found, vectors in self._vectors(entry, wanted)
            ]
            return (
                best(np.concatenate([o for o, _ in known]), np.concatenate([s for _, s in known]), k) if known else []
            )
        ordinals: list[np.ndarray] = []
        scores: list[np.ndarray] = []
        for part in _parts(np.asarray(allowed.to_array(), dtype=np.uint32), LIST_LIMIT):
            inside = f" and ordinal in {part.tolist()}"
            fetch = min(len(part), TOP_LIMIT, k + 16)
            while True:
                found = self._nearest(entry, query, fetch, inside)
                answer = best(found.ordinals, found.scores, k)
                if found.complete or fetch == len(part) or found.floor < answer[-1][1] - ROUNDING:
                    break
                fetch = min(len(part), TOP_LIMIT, fetch * 4)
            ordinals.append(found.ordinals)
            scores.append(found.scores)
        return best(np.concatenate(ordinals), np.concatenate(scores), k)

    def _nearest(self, entry: ShardEntry, query: np.ndarray, fetch: int, condition: str) -> _Candidates:
        (hits,) = self._door.call(
            f"search shard {entry.shard}",
            lambda client: client.search(
                _name(entry.model),
                data=[query.astype(np.float32).tolist()],
                limit=fetch,
                filter=f"generation == {entry.generation}{condition}",
                partition_names=[_partition(entry.shard)],
                output_fields=["ordinal", "vector"],
                consistency_level=self._consistency,
            ),
            reads=_name(entry.model),
        )
        ordinals = np.array([hit["entity"]["ordinal"] for hit in hits], dtype=np.uint32)
        vectors = np.array([hit["entity"]["vector"] for hit in hits], dtype=np.float32).reshape(len(hits), -1)
        scores = cosines(query.reshape(1, -1), vectors)[0] if len(hits) else np.zeros(0, dtype=np.float32)
        floor = float(hits[-1]["distance"]) if len(hits) else -np.inf
        return _Candidates(ordinals, scores, complete=len(hits) < fetch or fetch >= entry.rows, floor=floor)

    def _vectors(self, entry: ShardEntry, ordinals: np.ndarray) -> Iterator[tuple[list[int], np.ndarray]]:
        for part in _parts(ordinals, _INSERT_ROWS):
            rows = self._query(entry, f" and ordinal in {part.tolist()}", ["ordinal", "vector"])
            if rows:
                yield [int(row["ordinal"]) for row in rows], np.array([row["vector"] for row in rows], dtype=np.float32)

    def _ordinals(self, entry: ShardEntry) -> list[int]:
        found: list[int] = []
        while len(found) < entry.rows:
            after = f" and ordinal > {found[-1]}" if found else ""
            rows = self._query(entry, after, ["ordinal"])
            if not rows:
                break
            found.extend(sorted(int(row["ordinal"]) for row in rows))
        return found

    def _query(self, entry: ShardEntry, condition: str, fields: list[str]) -> list[Any]:
        rows = self._door.call(
            f"read vectors of shard {entry.shard}",
            lambda client: client.query(
                _name(entry.model),
                filter=f"generation == {entry.generation}{condition}",
                partition_names=[_partition(entry.shard)],
                output_fields=fields,
                limit=TOP_LIMIT,
                consistency_level=self._consistency,
            ),
            reads=_name(entry.model),
        )
        return list(rows)

    def _entry(self, shard: str, dimension: int) -> ShardEntry:
        model = self._model or self._catalogue.active()
        entry = self._catalogue.entries(model).get(shard) if model else None
        if entry is None:
            raise StoreError(
                f"the vector index has no vectors of {model or 'any model'} for shard {shard!r}: materialise "
                "vector_index for it first"
            )
        if entry.dimension != dimension:
            raise WrongDimension(
                f"the query has {dimension} dimensions, the vectors of shard {shard} have {entry.dimension}: embed "
                "with the model that the collection was built with"
            )
        return entry

    def _collection(self, model: str, dimension: int) -> str:
        name = _name(model)
        if not self._door.call("look for the collection", lambda client: client.has_collection(name)):
            self._door.call(f"create the collection of {model}", lambda client: self._create(client, name, dimension))
        return name

    def _create(self, client: Any, name: str, dimension: int) -> None:
        from pymilvus import DataType

        schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("key", DataType.VARCHAR, is_primary=True, max_length=32)
        schema.add_field("generation", DataType.INT64)
        schema.add_field("ordinal", DataType.INT64)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
        index = client.prepare_index_params()
        parameters = {"M": 16, "efConstruction": 200} if self._index_type == "HNSW" else {}
        index.add_index("vector", index_type=self._index_type, metric_type="IP", params=parameters)
        client.create_collection(name, schema=schema, index_params=index, consistency_level="Strong")

    def _insert(self, purpose: str, collection: str, partition: str, rows: list[dict[str, Any]]) -> None:
        # Sent again after a broken connection, a row must not be there twice.
        self._door.call(purpose, lambda client: client.upsert(collection, rows, partition_name=partition))

    def _forget(self, entry: ShardEntry) -> None:
        self._door.call(
            f"forget the old vectors of shard {entry.shard}",
            lambda client: client.delete(
                _name(entry.model), filter=f"generation == {entry.generation}", partition_name=_partition(entry.shard)
            ),
        )

    def _sweep(self) -> None:
        """Delete the rows of loads that were killed a day ago or earlier."""
        served = {entry.generation for entry in self._catalogue.all_entries()}
        for entry in self._catalogue.begun_before(int(time.time()) - ABANDONED):
            # A kill right after the switch leaves only the note behind.
            if entry.generation not in served:
                self._forget(entry)
            self._catalogue.end(entry)

    def _switch(self, model: str) -> None:
        active = self._catalogue.active()
        if active is None or set(self._catalogue.entries(active)) <= set(self._catalogue.entries(model)):
            self._catalogue.activate(model)


def _name(model: str) -> str:
    return f"starling_{content_key(model)}"


def _partition(shard: str) -> str:
    return f"group_{int(content_key(shard), 16) % GROUPS:02d}"


def _parts(values: np.ndarray, size: int) -> Iterator[np.ndarray]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
