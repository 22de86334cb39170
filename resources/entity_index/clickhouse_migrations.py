"""Versioned schema of the ClickHouse entity index: a numbered list, each step applied once and in order."""

from __future__ import annotations

from collections.abc import Callable

from starling_assets.artifacts.files import StoreError

from .clickhouse_door import ClickHouseDoor

Migration = Callable[[ClickHouseDoor], None]
MIGRATIONS: list[tuple[str, Migration]] = []


def migration(step: Migration) -> Migration:
    """Register a step; its place in this file is its number, its name is recorded."""
    MIGRATIONS.append((step.__name__, step))
    return step


@migration
def create_entity_bitmaps(door: ClickHouseDoor) -> None:
    """One row per shard, scope and posting id. The empty posting id holds all units of the scope.

    A partition is a shard, so that a shard is replaced in one atomic step. A small granule keeps the rows read
    beside a wanted one few: each holds a whole bitmap.
    """
    door.command(
        "create the table of bitmaps",
        """
        CREATE TABLE IF NOT EXISTS entity_bitmaps (
            shard String,
            scope LowCardinality(String),
            posting_id String,
            entity_type LowCardinality(String),
            units UInt32,
            ordinals AggregateFunction(groupBitmap, UInt32)
        )
        ENGINE = MergeTree
        PARTITION BY shard
        ORDER BY (scope, posting_id)
        SETTINGS index_granularity = 64
        """,
    )


@migration
def create_filter_ids(door: ClickHouseDoor) -> None:
    """Ids of filters that are too long to travel with the query; rows go by themselves after an hour."""
    door.command(
        "create the table of long filters",
        """
        CREATE TABLE IF NOT EXISTS entity_filter_ids (
            filter String,
            clause UInt32,
            posting_id String,
            added DateTime DEFAULT now()
        )
        ENGINE = MergeTree
        ORDER BY (filter, clause, posting_id)
        TTL added + INTERVAL 1 HOUR
        """,
    )


@migration
def finer_granules(door: ClickHouseDoor) -> None:
    """Few rows a granule and small compressed blocks: bitmaps beside a wanted one were most of what a filter read.

    Built beside the old table, shard by shard, and exchanged in one step; an interrupted step begins anew.
    """
    purpose = "rebuild the table of bitmaps with finer granules"
    door.command(purpose, "DROP TABLE IF EXISTS entity_bitmaps_finer")
    door.command(
        purpose,
        """
        CREATE TABLE entity_bitmaps_finer (
            shard String,
            scope LowCardinality(String),
            posting_id String,
            entity_type LowCardinality(String),
            units UInt32,
            ordinals AggregateFunction(groupBitmap, UInt32)
        )
        ENGINE = MergeTree
        PARTITION BY shard
        ORDER BY (scope, posting_id)
        SETTINGS index_granularity = 4, min_compress_block_size = 4096
        """,
    )
    for (shard,) in door.rows(purpose, "SELECT DISTINCT shard FROM entity_bitmaps ORDER BY shard"):
        sql = "INSERT INTO entity_bitmaps_finer SELECT * FROM entity_bitmaps WHERE shard = {shard:String}"
        door.command(purpose, sql, {"shard": shard})
    door.command(purpose, "EXCHANGE TABLES entity_bitmaps_finer AND entity_bitmaps")
    door.command(purpose, "DROP TABLE entity_bitmaps_finer")


def migrate(door: ClickHouseDoor) -> list[str]:
    """Bring the database to the current version; returns the names of the steps applied now.

    Each step is safe to repeat, so a kill between a step and its record does no harm. Raises StoreError for a
    database that a newer version of Starling has made.
    """
    door.command(
        "create the table of migrations",
        "CREATE TABLE IF NOT EXISTS starling_migrations (number UInt32, name String) "
        "ENGINE = MergeTree ORDER BY number",
    )
    done = {
        int(row[0]): str(row[1]) for row in door.rows("read migrations", "SELECT number, name FROM starling_migrations")
    }
    known = dict(enumerate((name for name, _ in MIGRATIONS), start=1))
    foreign = {number: name for number, name in done.items() if known.get(number) != name}
    if foreign:
        raise StoreError(
            f"the ClickHouse database has steps that this version does not know: {foreign}. Use the version of "
            "Starling that made it, or another database"
        )
    applied = []
    for number, (name, step) in enumerate(MIGRATIONS, start=1):
        if number not in done:
            step(door)
            door.command(
                "record a migration",
                "INSERT INTO starling_migrations SELECT {number:UInt32}, {name:String}",
                {"number": number, "name": name},
            )
            applied.append(name)
    return applied
