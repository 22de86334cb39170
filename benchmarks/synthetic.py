"""Synthetic shards with the statistics of real ones: postings for any index, without a corpus.

Run as ``python -m benchmarks.synthetic --measure STORE`` it measures the statistics of the shards of a store, so that
the defaults below can be checked against one's own corpus; with ``--write FOLDER`` it writes shards as Parquet.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import polars as pl

from starling_assets.retrieval.filterspec import ResolvedFilter, Scope, Term
from starling_assets.retrieval.tables import POSTINGS


@dataclass(frozen=True)
class Statistics:
    """What a shard looks like. Defaults: full-text papers of 50 paragraphs, tagged more densely than by a dictionary
    (the bundled papers hold 7 postings of entities and 3 of types a paragraph, with a Zipf exponent of 0.8)."""

    paragraphs: int = 500_000
    postings_per_paragraph: float = 20.0
    entities: int = 20_000
    zipf: float = 1.0  # exponent of entity frequency over rank
    repeats_in_paper: float = 0.5  # share of a paper's mentions that repeat one of its own entities
    paragraphs_per_paper: int = 50


def entity_id(rank: int) -> str:
    """The posting id of the entity of a frequency rank; hashed digits, so that rank and order of ids are unrelated."""
    return f"MESH:D{rank * 2_654_435_761 % 2**32:010d}"


def paragraph_postings(statistics: Statistics, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(entity rank, paragraph ordinal) of one shard, distinct pairs; entities follow Zipf and cluster in papers."""
    rng = np.random.default_rng(seed)
    total = int(statistics.paragraphs * statistics.postings_per_paragraph)
    weights = np.arange(1, statistics.entities + 1, dtype=np.float64) ** -statistics.zipf
    bounds = np.cumsum(weights / weights.sum())
    ranks = np.searchsorted(bounds, rng.random(total)).astype(np.uint32)
    paragraphs = rng.integers(0, statistics.paragraphs, total, dtype=np.uint32)
    # A repeated entity takes the rank of an earlier posting and stays within that posting's paper.
    repeats = np.nonzero(rng.random(total) < statistics.repeats_in_paper)[0]
    sources = rng.integers(0, total, len(repeats))
    ranks[repeats] = ranks[sources]
    size = statistics.paragraphs_per_paper
    start = paragraphs[sources] // size * size
    paragraphs[repeats] = np.minimum(start + rng.integers(0, size, len(repeats)), statistics.paragraphs - 1)
    pairs = (ranks.astype(np.uint64) << np.uint64(32)) | paragraphs
    pairs.sort()
    pairs = pairs[np.concatenate(([True], pairs[1:] != pairs[:-1]))]
    return (pairs >> np.uint64(32)).astype(np.uint32), pairs.astype(np.uint32)


def shard(statistics: Statistics, seed: int) -> tuple[pl.DataFrame, dict[Scope, int]]:
    """POSTINGS of one synthetic shard at paragraph scope, and its units."""
    ranks, paragraphs = paragraph_postings(statistics, seed)
    names = pl.Series([entity_id(rank) for rank in range(statistics.entities)])
    postings = pl.DataFrame(
        {
            "scope": pl.repeat(str(Scope.PARAGRAPH), len(ranks), eager=True),
            "posting_id": names.gather(ranks),
            "entity_type": pl.repeat("Disease", len(ranks), eager=True),
            "ordinal": paragraphs,
        },
        schema=POSTINGS,
    )
    papers = -(-statistics.paragraphs // statistics.paragraphs_per_paper)
    return postings, {Scope.PARAGRAPH: statistics.paragraphs, Scope.CHUNK: 0, Scope.PAPER: papers}


def filters(statistics: Statistics, count: int, terms: int, seed: int) -> list[ResolvedFilter]:
    """``count`` filters (OR of ``terms`` ids) AND (OR of …) AND NOT (OR of …), ids drawn over all ranks."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        ranks = rng.choice(statistics.entities, 3 * terms, replace=False)
        groups = [
            [
                Term(
                    text="~x" if clause == 2 else "x",
                    negated=clause == 2,
                    kind="entity",
                    ids=sorted(entity_id(int(rank)) for rank in ranks[clause * terms : (clause + 1) * terms]),
                )
            ]
            for clause in range(3)
        ]
        made.append(ResolvedFilter(groups=groups, scope=Scope.PARAGRAPH))
    return made


def measure(postings: pl.DataFrame, units: int) -> dict[str, float]:
    """Postings per paragraph, distinct entities, and the Zipf exponent (least squares over the ranks above 10)."""
    rows = postings.filter(pl.col("scope") == "paragraph", ~pl.col("posting_id").str.starts_with("type:"))
    counts = rows["posting_id"].value_counts()["count"].sort(descending=True).to_numpy().astype(np.float64)
    kept = counts[:1_000]
    slope = np.polyfit(np.log(np.arange(1, len(kept) + 1)), np.log(kept), 1)[0] if len(kept) > 10 else float("nan")
    return {
        "paragraphs": float(units),
        "postings_per_paragraph": rows.height / max(units, 1),
        "entities": float(len(counts)),
        "zipf": -float(slope),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", type=Path, help="store folder whose shards are measured")
    parser.add_argument("--write", type=Path, help="folder to write synthetic shards to")
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--paragraphs", type=int, default=Statistics.paragraphs)
    parser.add_argument("--entities", type=int, default=Statistics.entities)
    options = parser.parse_args()
    if options.measure:
        for path in sorted(options.measure.glob("entity_bitmaps/*/postings.parquet")):
            postings = pl.read_parquet(path)
            paragraphs = pl.read_parquet(options.measure / "papers" / path.parent.name / "blocks.parquet")
            units = int(paragraphs["para_ordinal"].max() or 0) + 1
            print(json.dumps({"shard": path.parent.name, **measure(postings, units)}))
    if options.write:
        statistics = Statistics(paragraphs=options.paragraphs, entities=options.entities)
        options.write.mkdir(parents=True, exist_ok=True)
        for number in range(options.shards):
            postings, _ = shard(statistics, seed=number)
            postings.write_parquet(options.write / f"synthetic-{number:04d}.parquet", compression="zstd")
        print(json.dumps({"statistics": asdict(statistics), "shards": options.shards}))


if __name__ == "__main__":
    main()
