"""Filters and vectors against their references, in one run on the same data, with the target of every line.

    python -m benchmarks.retrieval [--scale small|full] [--shards-in FOLDER] [--only entities,linear,vectors] [--json]

Entities: (OR of 50) AND (OR of 50) AND NOT (OR of 50) over synthetic shards; see ``retrieval_engines``. Vectors:
filtered top-20 beside FAISS with the same selector. ``full`` is 100 million drawn postings (5 million paragraphs in
ten shards) and a million vectors: some 8 GB of memory and 5 GB of disk. ``--shards-in`` reads what
``benchmarks.synthetic --write`` has written.

Engines take turns query by query, three rounds each; a query counts with its quickest round, an engine with the
median of its queries: a busy machine is unfair to all alike.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics as st
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pyroaring import BitMap

from benchmarks.retrieval_engines import (
    Query,
    Shards,
    clickhouse,
    duckdb_postings,
    raw_pyroaring,
    tantivy_boolean,
)
from benchmarks.synthetic import Statistics, filters, shard
from resources.entity_index.local import LocalEntityIndex
from resources.vector_index.faiss_index import FaissVectorIndex
from starling_assets.retrieval.filterspec import ResolvedFilter, Scope
from starling_assets.settings.model import RetrievalSettings

SCALES = {"small": (2, 50_000, 20_000), "full": (10, 500_000, 1_000_000)}  # shards, paragraphs a shard, vectors
ROUNDS = 3


@dataclass(frozen=True)
class Line:
    """One promise: ours and the reference in the same unit, and the bound of ours / reference."""

    what: str
    ours: float
    reference: float
    bound: float
    unit: str = "ms"

    @property
    def ratio(self) -> float:
        """Ours / reference."""
        return self.ours / self.reference if self.reference else float("inf")

    def __str__(self) -> str:
        verdict = "reached" if self.ratio <= self.bound else "MISSED"
        return (
            f"{self.what:62} {self.ours:10.2f} {self.reference:10.2f} {self.unit:3} "
            f"ratio {self.ratio:7.3f}  bound {self.bound:5.2f}  {verdict}"
        )


def write_shards(options: argparse.Namespace, folder: Path) -> Shards:
    """The synthetic shards as files: made here, or those of ``--shards-in``."""
    shape = Statistics(paragraphs=options.paragraphs)
    papers = -(-shape.paragraphs // shape.paragraphs_per_paper)
    units = {Scope.PARAGRAPH: shape.paragraphs, Scope.CHUNK: 0, Scope.PAPER: papers}
    source = options.shards_in or folder
    shards: Shards = {}
    for number in range(options.shards):
        path = source / f"synthetic-{number:04d}.parquet"
        if not path.exists():
            shard(shape, seed=number)[0].write_parquet(path, compression="lz4")
        shards[f"s{number:03d}"] = path, units
    return shards


def entities(options: argparse.Namespace, folder: Path) -> tuple[dict[str, Any], list[Line]]:
    """Times of every engine, build and disk figures; the engines' counts must agree."""
    shards = write_shards(options, folder)
    postings = sum(pl.scan_parquet(path).select(pl.len()).collect().item() for path, _ in shards.values())
    figures: dict[str, Any] = {"postings": postings, "paragraphs": options.paragraphs * options.shards}
    queries = filters(Statistics(paragraphs=options.paragraphs), options.queries, 50, seed=99)
    index = LocalEntityIndex(folder / "local")
    start = time.perf_counter()
    for name, (path, units) in shards.items():
        index.load(name, pl.read_parquet(path), units)
    figures["local_load_s"] = time.perf_counter() - start
    figures["local_bytes_per_posting"] = _size(folder / "local") / postings
    figures["open"] = _opening(folder / "local", filters(Statistics(), 1, 1, seed=5)[0])
    report(figures, options)
    engines: dict[str, Query] = {
        "raw pyroaring": raw_pyroaring(shards),
        "local, new clauses": LocalEntityIndex(folder / "local", keep=0).count,
        "local, clauses asked before": index.count,
        **clickhouse(folder, shards, figures),
        "duckdb": duckdb_postings(folder, shards, figures),
    }
    figures["median_ms"] = turns(engines, queries)
    report(figures, options)
    tantivy = tantivy_boolean(folder, shards, figures) if options.tantivy else None
    if tantivy:
        engines["tantivy"] = tantivy
        figures["median_ms"] = turns(engines, queries)
    return figures, _entity_lines(figures)


def _entity_lines(figures: dict[str, Any]) -> list[Line]:
    wall = {name: times["wall"] for name, times in figures["median_ms"].items()}
    bounds = [
        ("local, new clauses", "raw pyroaring", 1.5),
        ("local, clauses asked before", "raw pyroaring", 1.5),
        ("clickhouse", "clickhouse by hand", 1.3),
        ("local, new clauses", "duckdb", 0.1),
        ("clickhouse", "duckdb", 0.1),
        ("local, new clauses", "tantivy", 1.0),
        ("clickhouse", "tantivy", 1.0),
    ]
    lines = [
        Line(f"{ours} / {reference}", wall[ours], wall[reference], bound)
        for ours, reference, bound in bounds
        if ours in wall and reference in wall
    ]
    return [*lines, Line("opening and a first small filter / 2 s", figures["open"]["seconds"], 2.0, 1.0, "s")]


def linear(options: argparse.Namespace, folder: Path) -> tuple[dict[str, Any], list[Line]]:
    """Processor milliseconds of the local index over 1, 2, 4 and 8 shards; the bound allows a fifth above linear."""
    paragraphs = max(options.paragraphs // 8, 1_000)
    shape = Statistics(paragraphs=paragraphs)
    index = LocalEntityIndex(folder / "linear", keep=0)
    for number in range(8):
        index.load(f"s{number}", *shard(shape, seed=number))
    names = index.shards()
    engines: dict[str, Query] = {
        f"{count} shards": lambda query, count=count: index.count(query, names[:count])  # type: ignore[misc]
        for count in (1, 2, 4, 8)
    }
    times = turns(engines, filters(shape, options.queries, 50, seed=3), check=False)
    # Processor time: the longer a query, the surer another process interrupts it.
    one = times["1 shards"]["cpu"]
    lines = [
        Line(f"{count} shards / {count} × one shard", times[f"{count} shards"]["cpu"], count * one, 1.2)
        for count in (2, 4, 8)
    ]
    return {"paragraphs_per_shard": paragraphs, "median_ms": times}, lines


def vectors(options: argparse.Namespace, folder: Path) -> tuple[dict[str, Any], list[Line]]:
    """Filtered top-20 at five selectivities: our median, FAISS's median with the same selector, least recall."""
    import faiss

    library: Any = faiss
    rng = np.random.default_rng(0)
    count, dimension = options.vectors, 384
    matrix = rng.standard_normal((count, dimension), dtype=np.float32)
    library.normalize_L2(matrix)
    ours = FaissVectorIndex(folder / "vectors", RetrievalSettings.model_validate({}))
    start = time.perf_counter()
    ours.load("s", "m", np.arange(count, dtype=np.uint32), matrix)
    figures: dict[str, Any] = {"vectors": count, "load_s": time.perf_counter() - start}
    raw = library.IndexFlatIP(dimension)
    raw.add(matrix)
    queries = matrix[rng.integers(0, count, options.queries)] + 0.05 * rng.standard_normal(
        (options.queries, dimension), dtype=np.float32
    )
    del matrix
    library.normalize_L2(queries)
    lines = []
    for share in (0.0001, 0.001, 0.01, 0.1, 0.5):
        allowed = rng.random(count) < share
        bitmap = BitMap(np.nonzero(allowed)[0].astype(np.uint32))
        packed = np.packbits(allowed, bitorder="little")
        mine, theirs, recalls = [], [], []
        for query in queries:
            spent: tuple[list[float], list[float]] = ([], [])
            for _ in range(ROUNDS):
                start = time.perf_counter()
                found = ours.search("s", query, 20, bitmap)
                spent[0].append(time.perf_counter() - start)
                start = time.perf_counter()
                selector = library.SearchParameters(sel=library.IDSelectorBitmap(packed))
                _, rows = raw.search(query[None], 20, params=selector)
                spent[1].append(time.perf_counter() - start)
            mine.append(min(spent[0]))
            theirs.append(min(spent[1]))
            expected = {int(row) for row in rows[0] if row >= 0}
            recalls.append(len(expected & {ordinal for ordinal, _ in found}) / max(len(expected), 1))
        figures[f"{share:.2%}"] = {
            "ours_ms": 1e3 * st.median(mine),
            "faiss_ms": 1e3 * st.median(theirs),
            "recall": min(recalls),
        }
        what = f"top 20 of {share:.2%}, recall {min(recalls):.3f} / FAISS, same selector"
        lines.append(Line(what, 1e3 * st.median(mine), 1e3 * st.median(theirs), 1.5))
    return figures, lines


def turns(engines: dict[str, Query], queries: list[ResolvedFilter], check: bool = True) -> dict[str, dict[str, float]]:
    """Median wall and processor milliseconds per engine, each query in its quickest of three rounds."""
    wall: dict[str, list[float]] = {name: [] for name in engines}
    cpu: dict[str, list[float]] = {name: [] for name in engines}
    for run in engines.values():
        run(queries[0])  # the first call opens files and compiles; every engine gets one
    for query in queries:
        answers = {}
        spent: dict[str, list[tuple[float, float]]] = {name: [] for name in engines}
        for _ in range(ROUNDS):
            for name, run in engines.items():
                used, start = time.process_time(), time.perf_counter()
                answers[name] = run(query)
                spent[name].append((time.perf_counter() - start, time.process_time() - used))
        for name, rounds in spent.items():
            wall[name].append(min(seconds for seconds, _ in rounds))
            cpu[name].append(min(seconds for _, seconds in rounds))
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


def report(figures: dict[str, Any], options: argparse.Namespace) -> None:
    """Print what is known so far: a run at full scale takes long, and an engine may fail."""
    if not options.json:
        print(json.dumps(figures), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", choices=sorted(SCALES), default="small")
    parser.add_argument("--shards", type=int)
    parser.add_argument("--paragraphs", type=int, help="paragraphs per shard; 20 drawn postings each")
    parser.add_argument("--vectors", type=int)
    parser.add_argument("--queries", type=int, default=9)
    parser.add_argument("--shards-in", type=Path, help="folder of synthetic shards; missing ones are written there")
    parser.add_argument("--no-tantivy", dest="tantivy", action="store_false", help="leave out the slowest build")
    parser.add_argument("--only", default="entities,linear,vectors")
    parser.add_argument("--json", action="store_true", help="one JSON document per part instead of lines")
    options = parser.parse_args()
    shards, paragraphs, count = SCALES[options.scale]
    options.shards, options.paragraphs = options.shards or shards, options.paragraphs or paragraphs
    options.vectors = options.vectors or count
    parts = {"entities": entities, "linear": linear, "vectors": vectors}
    for name in options.only.split(","):
        with tempfile.TemporaryDirectory() as folder:
            figures, lines = parts[name](options, Path(folder))
        if options.json:
            print(json.dumps({name: figures, "lines": [asdict(line) for line in lines]}, indent=1))
        else:
            print(json.dumps(figures))
            print(*lines, sep="\n", flush=True)


if __name__ == "__main__":
    main()
