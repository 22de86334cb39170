"""The entity index of one machine: memory-mapped roaring bitmaps, no server."""

from __future__ import annotations

import os
import shutil
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
import polars as pl
from pyroaring import BitMap

from starling_assets.artifacts.files import StoreError
from starling_assets.artifacts.keys import key_of_name, safe_name
from starling_assets.retrieval.evaluation import evaluate, sample_units
from starling_assets.retrieval.filterspec import ResolvedFilter, Scope

from .shard_file import FORMAT, KEPT_BYTES, ScopeReader, write_shard


@dataclass(frozen=True)
class _Open:
    generation: str
    units: dict[str, int]
    readers: dict[Scope, ScopeReader]


class LocalEntityIndex:
    """:class:`~starling_assets.retrieval.protocols.EntityIndex` over one folder per shard under ``root``.

    Opening reads nothing but a small file per shard asked for; memory does not grow with the entities that no query
    names. Threads may share one object; another process that replaces a shard is noticed at the next query.
    """

    def __init__(self, root: Path, keep: int = KEPT_BYTES) -> None:
        """``keep``: bytes of united posting lists kept in memory per shard and scope."""
        self.root = root
        self._keep = keep
        self._open: dict[str, _Open] = {}
        self._lock = threading.Lock()

    def load(self, shard: str, postings: pl.DataFrame, units: dict[Scope, int]) -> None:
        """Replace a shard; until the last moment the old one is served. Raises StoreError, the old one then stays."""
        write_shard(self.root / safe_name(shard), postings, units)

    def drop(self, shard: str) -> None:
        """Forget a shard; unknown shards are no error."""
        folder = self.root / safe_name(shard)
        (folder / "current.json").unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        with self._lock:
            self._open.pop(shard, None)

    def shards(self) -> list[str]:
        """Loaded shards, sorted."""
        if not self.root.is_dir():
            return []
        with os.scandir(self.root) as folders:
            names = [folder.name for folder in folders if os.path.exists(f"{folder.path}/current.json")]  # noqa: PTH110
        return sorted(key_of_name(name) for name in names)

    def evaluate(self, query: ResolvedFilter, shard: str) -> BitMap:
        """Ordinals of the units of ``shard`` for which the filter is true. Raises StoreError for an unknown shard."""
        # A copy: a filter of one clause is answered with the bitmap that is kept for the next query.
        return self._evaluated(query, shard).copy()

    def _evaluated(self, query: ResolvedFilter, shard: str) -> BitMap:
        opened = self._opened(shard)
        return evaluate(query, opened.units.get(str(query.scope), 0), opened.readers[query.scope].union_of)

    def count(self, query: ResolvedFilter, shards: Sequence[str] | None = None) -> int:
        """Number of matching units; ``shards`` None = all loaded."""
        return sum(len(self._evaluated(query, shard)) for shard in (self.shards() if shards is None else shards))

    def sample(self, query: ResolvedFilter, n: int, seed: int) -> list[tuple[str, int]]:
        """``n`` random (shard, ordinal) matches; the same seed gives the same sample."""
        return sample_units({shard: self.evaluate(query, shard) for shard in self.shards()}, n, seed)

    def top_entities(self, scope: Scope, n: int, entity_type: str | None = None) -> list[tuple[str, int]]:
        """Posting ids with the most units over all shards, most first, ties by id."""
        totals: Counter[str] = Counter()
        for shard in self.shards():
            totals.update(dict(self._opened(shard).readers[scope].counts(entity_type)))
        return sorted(totals.items(), key=lambda item: (-item[1], item[0]))[:n]

    def _opened(self, shard: str) -> _Open:
        folder = self.root / safe_name(shard)
        for _ in range(5):
            try:
                pointer = orjson.loads((folder / "current.json").read_bytes())
                known = self._open.get(shard)
                if known is not None and known.generation == pointer["generation"] and known.units == pointer["units"]:
                    return known
                if pointer["format"] != FORMAT:
                    raise StoreError(f"{folder} was made by another version: materialise entity_index for {shard}")
                readers = {scope: ScopeReader(folder / pointer["generation"], scope, self._keep) for scope in Scope}
            except FileNotFoundError:
                # Replaced between reading the pointer and opening the files: look again.
                if not (folder / "current.json").is_file():
                    break
                continue
            opened = _Open(pointer["generation"], pointer["units"], readers)
            with self._lock:
                self._open[shard] = opened
            return opened
        raise StoreError(f"the entity index has no shard {shard!r} ({folder}): materialise entity_index for it first")
