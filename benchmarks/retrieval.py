"""Filters and vectors against their references, in one run on the same data.

    python -m benchmarks.retrieval [--paragraphs N] [--shards N] [--vectors N] [--only entities,linear,vectors]

Entities: (OR of 50) AND (OR of 50) AND NOT (OR of 50) over synthetic shards: bitmaps in memory (raw pyroaring), the
local index, the ClickHouse index and hand-written SQL on the embedded engine, sorted postings in DuckDB, and a tantivy
boolean query where the package ``tantivy`` is importable. Vectors: filtered top-20, FAISS with the same selector.
Times are medians in milliseconds, wall clock and processor; engines take turns: a busy machine is unfair to all alike.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics as st
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pyroaring import BitMap

from benchmarks.synthetic import Statistics, filters, shard
from resources.entity_index.local import LocalEntityIndex
from resources.vector_index.faiss_index import FaissVectorIndex
from starling_assets.retrieval.filterspec import ResolvedFilter
from starling_assets.retrieval.postings import grouped_ordinals
from starling_assets.settings.model import RetrievalSettings

Query = Callable[[ResolvedFilter], int]


def entities(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Median time per engine, disk and build figures; every engine's counts must agree."""
    shape = Statistics(paragraphs=options.paragraphs)
    shards = {f"s{number:03d}": shard(shape, seed=number) for number in range(options.shards)}
    postings = sum(frame.height for frame, _ in shards.values())
    figures: dict[str, Any] = {"postings": postings, "paragraphs": shape.paragraphs * options.shards}
    engines: dict[str, Query] = {}

    start = time.perf_counter()
    memory = {
        name: {posting: BitMap(ordinals) for _, posting, _, ordinals in grouped_ordinals(frame)}
        for name, (frame, _) in shards.items()
    }
    figures["raw_build_s"] = time.perf_counter() - start
    engines["raw pyroaring"] = lambda query: sum(len(_raw(query, maps)) for maps in memory.values())

    index = LocalEntityIndex(folder / "local")
    start = time.perf_counter()
    for name, (frame, units) in shards.items():
        index.load(name, frame, units)
    figures["local_load_s"] = time.perf_counter() - start
    figures["local_bytes_per_posting"] = _size(folder / "local") / postings
    engines["local, opened anew"] = lambda query: LocalEntityIndex(folder / "local").count(query)
    engines["local, first asked"] = index.count
    engines["local, asked again"] = index.count

    engines.update(_clickhouse(folder, shards, figures))
    engines["duckdb postings"] = _duckdb(shards)
    tantivy = _tantivy(folder, shards) if options.tantivy else None
    if tantivy:
        engines["tantivy"] = tantivy

    figures["median_ms"] = _turns(engines, filters(shape, options.queries, 50, seed=99))
    figures["open"] = _opening(folder / "local", filters(shape, 1, 1, seed=5)[0])
    return figures


def linear(options: argparse.Namespace, folder: Path) -> dict[str, dict[str, float]]:
    """Median milliseconds of the local index over 1, 2, 4 and 8 shards."""
    shape = Statistics(paragraphs=max(options.paragraphs // 8, 1_000))
    index = LocalEntityIndex(folder / "linear")
    for number in range(8):
        index.load(f"s{number}", *shard(shape, seed=number))
    names = index.shards()
    queries = filters(shape, options.queries, 50, seed=3)
    engines: dict[str, Query] = {
        f"{count} shards": lambda query, count=count: index.count(query, names[:count])  # type: ignore[misc]
        for count in (1, 2, 4, 8)
    }
    for query in queries:
        index.count(query)
    return _turns(engines, queries, check=False)


def vectors(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Filtered top-20 at five selectivities: our median, FAISS's median with the same selector, recall."""
    import faiss

    library: Any = faiss
    rng = np.random.default_rng(0)
    count, dimension = options.vectors, 384
    matrix = rng.standard_normal((count, dimension), dtype=np.float32)
    library.normalize_L2(matrix)
    ordinals = np.arange(count, dtype=np.uint32)
    ours = FaissVectorIndex(folder / "vectors", RetrievalSettings.model_validate({}))
    start = time.perf_counter()
    ours.load("s", "m", ordinals, matrix)
    figures: dict[str, Any] = {"vectors": count, "load_s": time.perf_counter() - start}
    raw = library.IndexFlatIP(dimension)
    raw.add(matrix)
    queries = matrix[rng.integers(0, count, options.queries)] + 0.05 * rng.standard_normal(
        (options.queries, dimension), dtype=np.float32
    )
    library.normalize_L2(queries)
    for share in (0.0001, 0.001, 0.01, 0.1, 0.5):
        allowed = rng.random(count) < share
        bitmap = BitMap(np.nonzero(allowed)[0].astype(np.uint32))
        packed = np.packbits(allowed, bitorder="little")
        mine, theirs, recalls = [], [], []
        for query in queries:
            start = time.perf_counter()
            found = ours.search("s", query, 20, bitmap)
            mine.append(time.perf_counter() - start)
            start = time.perf_counter()
            selector = library.SearchParameters(sel=library.IDSelectorBitmap(packed))
            _, rows = raw.search(query[None], 20, params=selector)
            theirs.append(time.perf_counter() - start)
            expected = {int(row) for row in rows[0] if row >= 0}
            recalls.append(len(expected & {ordinal for ordinal, _ in found}) / max(len(expected), 1))
        figures[f"{share:.2%}"] = {
            "ours_ms": 1e3 * st.median(mine),
            "faiss_ms": 1e3 * st.median(theirs),
            "recall": min(recalls),
        }
    return figures


def _raw(query: ResolvedFilter, maps: dict[str, BitMap]) -> BitMap:
    """The least that pyroaring can do: unions, one intersection, one difference."""
    wanted_a, wanted_b, banned = (group[0].ids for group in query.groups)
    a, b, n = (
        BitMap.union(BitMap(), *(maps[identifier] for identifier in ids if identifier in maps))
        for ids in (wanted_a, wanted_b, banned)
    )
    return a & b - n


def _clickhouse(folder: Path, shards: dict[str, Any], figures: dict[str, Any]) -> dict[str, Query]:
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
    for name, (frame, units) in shards.items():
        index.load(name, frame, units)
    figures["clickhouse_load_s"] = time.perf_counter() - start
    (size,) = door.rows(
        "measure", "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND table = 'entity_bitmaps'"
    )
    figures["clickhouse_bytes_per_posting"] = int(size[0]) / figures["postings"]

    def by_hand(query: ResolvedFilter) -> int:
        a, b, n = (", ".join(f"'{identifier}'" for identifier in group[0].ids) for group in query.groups)
        sql = (  # ids of our own making
            "SELECT sum(c) FROM (SELECT bitmapCardinality(bitmapAndnot(bitmapAnd("  # noqa: S608
            f"groupBitmapMergeStateIf(ordinals, posting_id IN ({a})), "
            f"groupBitmapMergeStateIf(ordinals, posting_id IN ({b}))), "
            f"groupBitmapMergeStateIf(ordinals, posting_id IN ({n})))) AS c FROM entity_bitmaps "
            f"WHERE scope = 'paragraph' AND posting_id IN ({a}, {b}, {n}) GROUP BY shard)"
        )
        return int(door.rows("by hand", sql)[0][0] or 0)

    return {"clickhouse": index.count, "clickhouse by hand": by_hand}


def _duckdb(shards: dict[str, Any]) -> Query:
    import duckdb

    connection = duckdb.connect()
    frames = [frame.select(pl.lit(name).alias("shard"), "posting_id", "ordinal") for name, (frame, _) in shards.items()]
    rows = pl.concat(frames).sort("posting_id")  # noqa: F841 - DuckDB finds it by its name
    connection.execute("CREATE TABLE postings AS SELECT * FROM rows")

    def run(query: ResolvedFilter) -> int:
        a, b, n = (group[0].ids for group in query.groups)
        sql = (
            "SELECT count(*) FROM ("
            "(SELECT DISTINCT shard, ordinal FROM postings WHERE posting_id IN (SELECT unnest($a))"
            " INTERSECT SELECT DISTINCT shard, ordinal FROM postings WHERE posting_id IN (SELECT unnest($b)))"
            " EXCEPT SELECT shard, ordinal FROM postings WHERE posting_id IN (SELECT unnest($n)))"
        )
        row = connection.execute(sql, {"a": a, "b": b, "n": n}).fetchone()
        return int(row[0]) if row else 0

    return run


def _tantivy(folder: Path, shards: dict[str, Any]) -> Query | None:
    try:
        import tantivy  # type: ignore[import-not-found]
    except ImportError:
        return None
    (folder / "tantivy").mkdir()
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=False, tokenizer_name="raw", index_option="basic")
    schema = builder.build()
    index = tantivy.Index(schema, path=str(folder / "tantivy"))
    writer = index.writer(500_000_000)
    for frame, _ in shards.values():
        grouped = frame.group_by("ordinal").agg("posting_id")
        for names in grouped["posting_id"].to_list():
            document = tantivy.Document()
            for name in names:
                document.add_text("id", name)
            writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def any_of(ids: list[str]) -> Any:
        return tantivy.Query.term_set_query(schema, "id", ids)

    def run(query: ResolvedFilter) -> int:
        a, b, n = (group[0].ids for group in query.groups)
        boolean = tantivy.Query.boolean_query(
            [
                (tantivy.Occur.Must, any_of(a)),
                (tantivy.Occur.Must, any_of(b)),
                (tantivy.Occur.MustNot, any_of(n)),
            ]
        )
        return int(searcher.search(boolean, limit=1, count=True).count)

    return run


def _turns(engines: dict[str, Query], queries: list[ResolvedFilter], check: bool = True) -> dict[str, dict[str, float]]:
    """Median wall and processor milliseconds per engine; on a busy machine only the latter can be compared."""
    wall: dict[str, list[float]] = {name: [] for name in engines}
    cpu: dict[str, list[float]] = {name: [] for name in engines}
    for run in engines.values():
        run(queries[0])  # the first call opens files and compiles; every engine gets one
    for query in queries:
        answers = {}
        for name, run in engines.items():
            start, used = time.perf_counter(), time.process_time()
            answers[name] = run(query)
            cpu[name].append(time.process_time() - used)
            wall[name].append(time.perf_counter() - start)
        if check and len(set(answers.values())) != 1:
            raise SystemExit(f"the engines disagree: {answers}")
    return {
        name: {"wall": round(1e3 * st.median(wall[name]), 3), "cpu": round(1e3 * st.median(cpu[name]), 3)}
        for name in engines
    }


def _opening(root: Path, query: ResolvedFilter) -> dict[str, float]:
    """Seconds and memory of a new index object that answers one query of three ids."""
    before = _resident()
    start = time.perf_counter()
    LocalEntityIndex(root).count(query)
    return {"seconds": time.perf_counter() - start, "megabytes": (_resident() - before) / 1e6}


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paragraphs", type=int, default=250_000, help="paragraphs per shard; 20 postings each")
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--vectors", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=9)
    parser.add_argument("--no-tantivy", dest="tantivy", action="store_false", help="leave out the slowest build")
    parser.add_argument("--only", default="entities,linear,vectors")
    options = parser.parse_args()
    parts = {"entities": entities, "linear": linear, "vectors": vectors}
    for name in options.only.split(","):
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps({name: parts[name](options, Path(folder))}, indent=1))


if __name__ == "__main__":
    main()
