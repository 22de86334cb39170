"""The entity index of a cluster: bitmaps built and combined by ClickHouse, next to its data."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from pyroaring import BitMap

from starling_assets.artifacts.files import StoreError
from starling_assets.artifacts.keys import content_key
from starling_assets.retrieval.evaluation import sample_units
from starling_assets.retrieval.filterspec import ResolvedFilter, Scope

from .clickhouse_door import ClickHouseDoor
from .clickhouse_migrations import migrate
from .clickhouse_query import FilterQuery

#: Above this many ids a filter travels through a table: servers bound the size of a parameter.
LONG_FILTER = 2_000
_INSERT_ORDINALS = 5_000_000  # about; a posting list is not cut


class ClickHouseEntityIndex:
    """:class:`~starling_assets.retrieval.protocols.EntityIndex` in one database; see ``clickhouse_migrations``.

    A filter is one scan per query: every clause is a conditional merge over the same rows, grouped by shard.
    """

    def __init__(self, door: ClickHouseDoor) -> None:
        self._door = door
        self._migrated = False

    def load(self, shard: str, postings: pl.DataFrame, units: dict[Scope, int]) -> None:
        """Replace a shard. The rows are built beside the table and swapped in as a whole partition, atomically."""
        self._prepare()
        _check(postings, units)
        self._sweep()
        staged, built = (f"load_{kind}_{content_key(shard)}_{uuid.uuid4().hex[:8]}" for kind in ("rows", "bitmaps"))
        purpose = f"load shard {shard}"
        try:
            self._door.command(
                purpose,
                f"CREATE TABLE {staged} (scope String, posting_id String, entity_type String, ordinals Array(UInt32)) "
                "ENGINE = MergeTree ORDER BY (scope, posting_id)",
            )
            self._door.command(purpose, f"CREATE TABLE {built} AS entity_bitmaps")
            for part in _lists(postings):
                self._door.insert(purpose, staged, part)
            # A row sent twice after a broken connection changes nothing: a bitmap holds an ordinal once.
            self._door.command(
                purpose,
                f"INSERT INTO {built} SELECT {{shard:String}}, scope, posting_id, min(entity_type), "  # noqa: S608
                f"max(length(ordinals)), groupBitmapArrayState(ordinals) FROM {staged} GROUP BY scope, posting_id",
                {"shard": shard},
            )
            for scope in Scope:
                self._door.command(
                    purpose,
                    f"INSERT INTO {built} SELECT {{shard:String}}, {{scope:String}}, '', '', {{units:UInt32}}, "  # noqa: S608
                    "groupBitmapState(toUInt32(number)) FROM numbers({units:UInt32})",
                    {"shard": shard, "scope": str(scope), "units": int(units.get(scope, 0))},
                )
            # One part a shard: a table bears some ten thousand parts, and a cluster has thousands of shards.
            self._door.command(purpose, f"OPTIMIZE TABLE {built} FINAL")
            self._door.command(
                purpose,
                f"ALTER TABLE entity_bitmaps REPLACE PARTITION {{shard:String}} FROM {built}",
                {"shard": shard},
            )
        finally:
            for table in (staged, built):
                self._door.command(f"clean up after loading {shard}", f"DROP TABLE IF EXISTS {table}")

    def drop(self, shard: str) -> None:
        """Forget a shard; unknown shards are no error."""
        self._prepare()
        self._door.command(
            f"drop shard {shard}", "ALTER TABLE entity_bitmaps DROP PARTITION {shard:String}", {"shard": shard}
        )

    def shards(self) -> list[str]:
        """Loaded shards, sorted."""
        self._prepare()
        sql = "SELECT DISTINCT shard FROM entity_bitmaps WHERE scope = 'paper' AND posting_id = '' ORDER BY shard"
        return [str(row[0]) for row in self._door.rows("list shards", sql)]

    def evaluate(self, query: ResolvedFilter, shard: str) -> BitMap:
        """Ordinals of the units of ``shard`` for which the filter is true. Raises StoreError for an unknown shard."""
        found = self.evaluate_all(query, [shard])
        if shard not in found:
            raise StoreError(f"the entity index has no shard {shard!r}: materialise entity_index for it first")
        return found[shard]

    def evaluate_all(self, query: ResolvedFilter, shards: Sequence[str] | None = None) -> dict[str, BitMap]:
        """The same for many shards in one scan; ``shards`` None = all loaded. Unknown shards are left out."""
        frame = self._select(self._door.arrow, "evaluate a filter", query, shards, "bitmapToArray(found)")
        return {
            str(shard): BitMap(np.asarray(units.to_numpy(), dtype=np.uint32))
            for shard, units in zip(frame["shard"].to_list(), frame["answer"], strict=True)
        }

    def count(self, query: ResolvedFilter, shards: Sequence[str] | None = None) -> int:
        """Number of matching units; ``shards`` None = all loaded. Only counts leave the server."""
        if shards is not None and not shards:
            return 0
        # Plain rows: for a number per shard, starting an Arrow stream costs more than the query.
        answer = "toUInt64(bitmapCardinality(found))"
        rows = self._select(self._door.rows, "count a filter's matches", query, shards, answer)
        return sum(int(number) for _, number in rows)

    def sample(self, query: ResolvedFilter, n: int, seed: int) -> list[tuple[str, int]]:
        """``n`` random (shard, ordinal) matches; the same seed gives the same sample."""
        return sample_units(self.evaluate_all(query), n, seed)

    def top_entities(self, scope: Scope, n: int, entity_type: str | None = None) -> list[tuple[str, int]]:
        """Posting ids with the most units over all shards, most first, ties by id."""
        self._prepare()
        kind = "entity_type != ''" if entity_type is None else "entity_type = {kind:String}"
        rows = self._door.rows(
            "list top entities",
            f"SELECT posting_id, sum(units) AS total FROM entity_bitmaps WHERE scope = {{scope:String}} AND {kind} "  # noqa: S608
            "GROUP BY posting_id ORDER BY total DESC, posting_id LIMIT {n:UInt32}",
            {"scope": str(scope), "kind": entity_type or "", "n": n},
        )
        return [(str(posting), int(total)) for posting, total in rows]

    def _prepare(self) -> None:
        if not self._migrated:
            migrate(self._door)
            self._migrated = True

    def _sweep(self) -> None:
        """Drop what a killed load left a day ago; younger tables may belong to a load that runs."""
        sql = (
            "SELECT name FROM system.tables WHERE database = currentDatabase() AND match(name, "
            "'^load_(rows|bitmaps)_[0-9a-f]+_[0-9a-f]+$') AND metadata_modification_time < now() - INTERVAL 1 DAY"
        )
        for (name,) in self._door.rows("look for abandoned loads", sql):
            self._door.command("drop an abandoned load", f"DROP TABLE IF EXISTS {name}")

    def _select[T](
        self,
        run: Callable[[str, str, Mapping[str, Any]], T],
        purpose: str,
        query: ResolvedFilter,
        shards: Sequence[str] | None,
        answer: str,
    ) -> T:
        """``run(purpose, sql, parameters)`` of the filter's query, whose rows are (shard, answer)."""
        self._prepare()
        filter_query = FilterQuery(query)
        if filter_query.size <= LONG_FILTER:
            sql, parameters = filter_query.sql(shards, answer)
            return run(purpose, sql, parameters)
        name = uuid.uuid4().hex
        self._door.insert(f"{purpose}: send its ids", "entity_filter_ids", filter_query.id_rows(name))
        sql, parameters = filter_query.sql(shards, answer, stored_as=name)
        try:
            return run(purpose, sql, parameters)
        finally:
            self._door.command(
                f"{purpose}: clean up", "DELETE FROM entity_filter_ids WHERE filter = {name:String}", {"name": name}
            )


def _lists(postings: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Postings as one row per scope and id with its ordinals, in parts that one insert bears.

    A string per posting would be most of what travels; the server still builds the bitmaps itself (F37).
    """
    lists = (
        postings.group_by("scope", "posting_id")
        .agg(pl.col("entity_type").min().fill_null(""), pl.col("ordinal").unique().sort().alias("ordinals"))
        .sort("scope", "posting_id")
    )
    parts = lists["ordinals"].list.len().cast(pl.UInt64).cum_sum() // _INSERT_ORDINALS
    yield from lists.with_columns(parts.alias("part")).partition_by("part", maintain_order=True, include_key=False)


def _check(postings: pl.DataFrame, units: dict[Scope, int]) -> None:
    highest = postings.group_by("scope").agg(pl.col("ordinal").max())
    for scope, ordinal in highest.iter_rows():
        if ordinal >= units.get(Scope(scope), 0):
            raise StoreError(
                f"a posting is at {scope} {ordinal}, but the shard has {units.get(Scope(scope), 0)}: make the postings "
                "again from the tags"
            )
