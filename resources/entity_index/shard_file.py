"""One shard of the local entity index on disk: sorted posting ids, sizes and roaring bitmaps, all memory-mapped.

A shard is a folder with ``current.json``, which names the generation folder in use. A generation is written beside
the old one and switched to by replacing that small file, so a reader sees the old shard or the new one and a kill
at any point leaves the old one served. A generation holds::

    <scope>.hash   uint64, the 128-bit BLAKE2b of each posting id, which stands for the id: all first halves, sorted,
                   then all second halves
    <scope>.ids    the posting ids in the order of the hashes, UTF-8, end to end
    <scope>.ends   uint64 pairs (end in .ids, end in .maps), one per posting id, after a leading pair of zeros
    <scope>.units  uint32: number of units of each posting id
    <scope>.type   uint8: entity type of each posting id; 255 for `type:` ids
    <scope>.maps   the posting lists, end to end, each from a multiple of four bytes: plain uint32 ordinals where there
                   are at most SHORT, a roaring bitmap where there are more; written here and nowhere else (F37)

Most ids of a filter are rare. Their lists are gathered with one copy, sorted together and made one bitmap, which costs
less than a bitmap object for each of them.
"""

from __future__ import annotations

import array
import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl
from pyroaring import BitMap

from starling_assets.artifacts.files import StoreError, write_bytes
from starling_assets.retrieval.filterspec import Scope
from starling_assets.retrieval.postings import grouped_ordinals
from starling_assets.tagging.entity_types import EntityType

FORMAT = 2
SHORT = 512  # ordinals; above, a bitmap is smaller and quicker to unite
KEPT_BYTES = 16_000_000  # of united posting lists per shard and scope
_ENTRY_BYTES = 200  # what keeping a union costs besides its ordinals, and about what an id of its key does
TYPES = [entity_type.value for entity_type in EntityType]
_NO_TYPE = 255


def id_hashes(posting_ids: Sequence[str]) -> np.ndarray:
    """The numbers that posting ids are filed under: uint64 (2, n), the 128 bits that all content keys here have."""
    digests = b"".join(hashlib.blake2b(name.encode("utf-8"), digest_size=16).digest() for name in posting_ids)
    return np.ascontiguousarray(np.frombuffer(digests, dtype="<u8").reshape(-1, 2).T)


@lru_cache(maxsize=64)
def _hashes_of_clause(posting_ids: tuple[str, ...]) -> np.ndarray:
    """The same, made once for a clause that is asked of shard after shard. Callers must not write into it."""
    return id_hashes(posting_ids)


def write_shard(folder: Path, postings: pl.DataFrame, units: dict[Scope, int]) -> None:
    """Replace the shard in ``folder`` by ``postings`` (columns POSTINGS). Raises StoreError; then the old one stays."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(dir=folder, prefix=".gen-"))
    except OSError as error:
        raise StoreError(
            f"cannot write the entity index in {folder}: {error.strerror}. The old shard stays."
        ) from error
    try:
        digest = hashlib.blake2b(digest_size=12)
        for scope in Scope:
            _write_scope(work, scope, postings.filter(pl.col("scope") == str(scope)), int(units.get(scope, 0)), digest)
        name = f"gen-{digest.hexdigest()}"
        if (folder / name).is_dir():
            shutil.rmtree(
                work
            )  # the same postings are there already, whole: the rename below is what makes a generation
        else:
            os.replace(work, folder / name)
    except OSError as error:
        shutil.rmtree(work, ignore_errors=True)
        raise StoreError(
            f"cannot write the entity index in {folder}: {error.strerror}. The old shard stays."
        ) from error
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    pointer = {"format": FORMAT, "generation": name, "units": {str(scope): int(units.get(scope, 0)) for scope in Scope}}
    write_bytes(folder / "current.json", orjson.dumps(pointer, option=orjson.OPT_SORT_KEYS))
    for old in folder.iterdir():
        if old.is_dir() and old.name != name:
            # Readers that have mapped these files keep them until they close.
            shutil.rmtree(old, ignore_errors=True)


def _write_scope(folder: Path, scope: Scope, postings: pl.DataFrame, units: int, digest: hashlib.blake2b) -> None:
    groups = grouped_ordinals(postings)
    hashes = id_hashes([posting_id for _, posting_id, _, _ in groups])
    order = np.lexsort((hashes[1], hashes[0]))
    hashes, groups = hashes[:, order], [groups[place] for place in order.tolist()]
    ends = np.zeros((len(groups) + 1, 2), dtype=np.uint64)
    sizes = np.array([len(ordinals) for *_, ordinals in groups], dtype=np.uint32)
    types = np.array([TYPES.index(kind) if kind else _NO_TYPE for _, _, kind, _ in groups], dtype=np.uint8)
    ids_end = maps_end = 0
    with (folder / f"{scope}.ids").open("wb") as ids, (folder / f"{scope}.maps").open("wb") as maps:
        for place, (_, posting_id, _, ordinals) in enumerate(groups, start=1):
            if len(ordinals) and int(ordinals[-1]) >= units:
                raise StoreError(
                    f"{posting_id} is posted at {scope} {int(ordinals[-1])}, but the shard has {units}: "
                    "make the postings again from the tags"
                )
            raw, name = _packed(ordinals), posting_id.encode("utf-8")
            ids_end += ids.write(name)
            maps_end += maps.write(raw)
            digest.update(raw)
            digest.update(name + b"\0")
            ends[place] = ids_end, maps_end
        for handle in (ids, maps):
            handle.flush()
            os.fsync(handle.fileno())
    for suffix, column in (("hash", hashes), ("ends", ends), ("units", sizes), ("type", types)):
        with (folder / f"{scope}.{suffix}").open("wb") as handle:
            handle.write(column.tobytes())
            handle.flush()
            os.fsync(handle.fileno())
        digest.update(column.tobytes())
    digest.update(f"{scope}:{units}\0".encode())


def _packed(ordinals: np.ndarray) -> bytes:
    """A posting list as it stands in ``.maps``; ``ordinals`` uint32, sorted, distinct."""
    if len(ordinals) <= SHORT:
        return ordinals.astype("<u4").tobytes()
    bitmap = _bitmap(ordinals)
    bitmap.run_optimize()
    raw = bitmap.serialize()
    return raw + bytes(-len(raw) % 4)


def _bitmap(ordinals: np.ndarray) -> BitMap:
    """The bitmap of sorted ordinals uint32. From an array of C it is taken in one piece, from NumPy's one by one."""
    return BitMap(array.array("I", ordinals.astype(np.uint32, copy=False).tobytes()))


class ScopeReader:
    """The posting lists of one scope of one generation; touches only the pages of the ids it is asked for.

    ``keep``: bytes of unions that stay in memory, since agents ask the same clauses again and again.
    """

    def __init__(self, generation: Path, scope: Scope, keep: int = KEPT_BYTES) -> None:
        self._hashes = _mapped(generation / f"{scope}.hash", np.dtype(np.uint64)).reshape(2, -1)
        self._ends = _mapped(generation / f"{scope}.ends", np.dtype(np.uint64)).reshape(-1, 2)
        self._units = _mapped(generation / f"{scope}.units", np.dtype(np.uint32))
        self._types = _mapped(generation / f"{scope}.type", np.dtype(np.uint8))
        self._ids = _mapped(generation / f"{scope}.ids", np.dtype(np.uint8))
        maps = _mapped(generation / f"{scope}.maps", np.dtype(np.uint8))
        self._maps: Any = memoryview(maps)
        self._ordinals = maps.view("<u4")
        self._keep = keep
        self._kept: dict[tuple[str, ...], BitMap] = {}
        self._kept_bytes = 0

    def places(self, posting_ids: Sequence[str]) -> np.ndarray:
        """Place of each id, int64 (n,); -1 for an id that is not there."""
        firsts, seconds = self._hashes
        first, second = _hashes_of_clause(tuple(posting_ids))
        found = np.full(len(posting_ids), -1, dtype=np.int64)
        asked = np.arange(len(posting_ids))
        place = np.searchsorted(firsts, first)
        # Two ids may share the first half; there is a second step only where they do.
        while len(asked):
            inside = place < len(firsts)
            asked, place = asked[inside], place[inside]
            near = firsts[place] == first[asked]
            same = near & (seconds[place] == second[asked])
            found[asked[same]] = place[same]
            on = near & ~same
            asked, place = asked[on], place[on] + 1
        return found

    def union_of(self, posting_ids: Sequence[str]) -> BitMap:
        """Units that hold any of the posting ids. The bitmap may be kept for the next query: never write into it."""
        asked = tuple(posting_ids)
        known = self._kept.get(asked)
        if known is not None:
            return known
        union = self._united(self.places(asked))
        size = min(4 * len(union), union.max() // 8 if union else 0) + _ENTRY_BYTES * (1 + len(asked))
        if self._kept_bytes + size > self._keep:
            self._kept, self._kept_bytes = {}, 0
        if size <= self._keep:
            self._kept[asked] = union
            self._kept_bytes += size
        return union

    def _united(self, places: np.ndarray) -> BitMap:
        there = places[places >= 0]
        starts, ends = self._ends[there, 1], self._ends[there + 1, 1]
        short = self._units[there] <= SHORT
        maps = [
            BitMap.deserialize(self._maps[start:end])
            for start, end in zip(starts[~short].tolist(), ends[~short].tolist(), strict=True)
        ]
        slices = zip((starts[short] >> 2).tolist(), (ends[short] >> 2).tolist(), strict=True)
        rare = [self._ordinals[start:end] for start, end in slices]
        if rare:
            # Sorted first: a bitmap takes ordinals in order many times faster than in disorder.
            maps.append(_bitmap(np.sort(np.concatenate(rare))))
        return BitMap.union(*maps) if maps else BitMap()

    def posting_id(self, place: int) -> str:
        """The posting id at a place."""
        start, end = self._ends.item(place, 0), self._ends.item(place + 1, 0)
        return self._ids[start:end].tobytes().decode("utf-8")

    def units(self, place: int) -> int:
        """Number of units of the posting id at a place."""
        return int(self._units[place])

    def counts(self, entity_type: str | None) -> list[tuple[str, int]]:
        """(posting id, units) of all entities, or of those of one type; `type:` ids are left out."""
        wanted = self._types != _NO_TYPE if entity_type is None else self._types == TYPES.index(entity_type)
        return [(self.posting_id(place), self.units(place)) for place in np.nonzero(wanted)[0].tolist()]


def _mapped(path: Path, dtype: np.dtype) -> np.ndarray:
    if path.stat().st_size == 0:
        return np.zeros(0, dtype=dtype)
    return np.asarray(np.memmap(path, dtype=dtype, mode="r"))
