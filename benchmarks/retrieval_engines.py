"""The references that filters are measured against, over the same synthetic shards as our indexes.

Every engine is built shard by shard from Parquet files, so that 100 million postings need not lie in memory as rows.
"""

from __future__ import annotations

import array
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
from pyroaring import BitMap

from starling_assets.retrieval.filterspec import ResolvedFilter, Scope
from starling_assets.retrieval.postings import grouped_ordinals

Query = Callable[[ResolvedFilter], int]
#: Name to Parquet file of POSTINGS and units.
Shards = dict[str, tuple[Path, dict[Scope, int]]]


def raw_pyroaring(shards: Shards) -> Query:
    """The least that pyroaring can do, every bitmap decoded in memory: unions, one intersection, one difference."""
    memory = {
        name: {
            posting: BitMap(array.array("I", ordinals.tobytes()))
            for _, posting, _, ordinals in grouped_ordinals(pl.read_parquet(path))
        }
        for name, (path, _) in shards.items()
    }
    return lambda query: sum(len(raw_answer(query, maps)) for maps in memory.values())


def raw_answer(query: ResolvedFilter, maps: dict[str, BitMap]) -> BitMap:
    """One shard's answer from decoded bitmaps by posting id."""
    a, b, n = (
        BitMap.union(BitMap(), *(maps[identifier] for identifier in ids if identifier in maps))
        for ids in clause_ids(query)
    )
    return (a & b) - n


def clause_ids(query: ResolvedFilter) -> list[list[str]]:
    """The ids of the three clauses of a benchmark's filter."""
    return [group[0].ids for group in query.groups]


def clickhouse(folder: Path, shards: Shards, figures: dict[str, Any]) -> dict[str, Query]:
    """Our index on the embedded engine, and the best SQL written by hand for the same table; {} without the engine."""
    try:
        import chdb  # noqa: F401 - only to see whether it is there
        import clickhouse_connect  # noqa: F401
    except ImportError:
        return {}
    from resources.entity_index.clickhouse import ClickHouseEntityIndex
    from resources.entity_index.clickhouse_door import ClickHouseDoor, embedded_connection

    door = ClickHouseDoor(embedded_connection(str(folder / "clickhouse")))
    index = ClickHouseEntityIndex(door)
    start = time.perf_counter()
    for name, (path, units) in shards.items():
        index.load(name, pl.read_parquet(path), units)
    figures["clickhouse_load_s"] = time.perf_counter() - start
    sql = "SELECT sum(bytes_on_disk), sum(marks) FROM system.parts WHERE active AND table = 'entity_bitmaps'"
    ((size, marks),) = door.rows("measure", sql)
    figures["clickhouse_bytes_per_posting"] = int(size) / figures["postings"]
    figures["clickhouse_marks_per_shard"] = int(marks) / len(shards)

    def by_hand(query: ResolvedFilter) -> int:
        a, b, n = (", ".join(f"'{identifier}'" for identifier in ids) for ids in clause_ids(query))
        sql = (  # ids of our own making
            "SELECT sum(c) FROM (SELECT bitmapCardinality(bitmapAndnot(bitmapAnd("  # noqa: S608
            f"groupBitmapMergeStateIf(ordinals, posting_id IN ({a})), "
            f"groupBitmapMergeStateIf(ordinals, posting_id IN ({b}))), "
            f"groupBitmapMergeStateIf(ordinals, posting_id IN ({n})))) AS c FROM entity_bitmaps "
            f"WHERE scope = 'paragraph' AND posting_id IN ({a}, {b}, {n}) GROUP BY shard)"
        )
        return int(door.rows("by hand", sql)[0][0] or 0)

    return {"clickhouse": index.count, "clickhouse by hand": by_hand}


def duckdb_postings(folder: Path, shards: Shards, figures: dict[str, Any]) -> Query:
    """Sorted postings as rows, set operations in SQL."""
    import duckdb

    connection = duckdb.connect(str(folder / "postings.duckdb"), config={"memory_limit": "3GB"})
    start = time.perf_counter()
    connection.execute("CREATE TABLE postings (shard VARCHAR, posting_id VARCHAR, ordinal UINTEGER)")
    for name, (path, _) in shards.items():
        # Sorted within a shard: a group of rows holds few ids, so that a scan skips most of them.
        connection.execute(
            "INSERT INTO postings SELECT $name, posting_id, ordinal FROM read_parquet($path) ORDER BY posting_id",
            {"name": name, "path": str(path)},
        )
    figures["duckdb_load_s"] = time.perf_counter() - start

    def run(query: ResolvedFilter) -> int:
        a, b, n = clause_ids(query)
        sql = (
            "SELECT count(*) FROM ("
            "(SELECT DISTINCT shard, ordinal FROM postings WHERE posting_id IN (SELECT unnest($a))"
            " INTERSECT SELECT DISTINCT shard, ordinal FROM postings WHERE posting_id IN (SELECT unnest($b)))"
            " EXCEPT SELECT shard, ordinal FROM postings WHERE posting_id IN (SELECT unnest($n)))"
        )
        row = connection.execute(sql, {"a": a, "b": b, "n": n}).fetchone()
        return int(row[0]) if row else 0

    return run


def tantivy_boolean(folder: Path, shards: Shards, figures: dict[str, Any]) -> Query | None:
    """A document per paragraph, a boolean query of three term sets; None without the package."""
    try:
        import tantivy
    except ImportError:
        print("tantivy is not installed (`uv sync --group bench`): its line is left out", flush=True)
        return None
    (folder / "tantivy").mkdir()
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=False, tokenizer_name="raw", index_option="basic")
    schema = builder.build()
    index = tantivy.Index(schema, path=str(folder / "tantivy"))
    writer = index.writer(500_000_000, 2)
    start = time.perf_counter()
    for path, _ in shards.values():
        for part in pl.read_parquet(path).group_by("ordinal").agg("posting_id")["posting_id"]:
            writer.add_document(tantivy.Document(id=part.to_list()))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    figures["tantivy_load_s"] = time.perf_counter() - start
    searcher = index.searcher()

    def run(query: ResolvedFilter) -> int:
        a, b, n = (tantivy.Query.term_set_query(schema, "id", ids) for ids in clause_ids(query))
        boolean = tantivy.Query.boolean_query(
            [(tantivy.Occur.Must, a), (tantivy.Occur.Must, b), (tantivy.Occur.MustNot, n)]
        )
        found: Any = searcher.search(boolean, limit=1, count=True)  # its stub forgets `count`
        return int(found.count)

    return run
