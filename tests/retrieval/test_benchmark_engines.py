"""The benchmark's generator and references: repeatable, of the shape they claim, and in agreement with each other."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from benchmarks import retrieval, retrieval_engines, synthetic
from benchmarks.synthetic import Statistics, entity_id, filters, measure, shard
from resources.entity_index.local import LocalEntityIndex
from starling_assets.retrieval.filterspec import Scope
from starling_assets.retrieval.tables import POSTINGS

SHAPE = Statistics(paragraphs=2_000, entities=500)


def test_a_shard_has_the_statistics_it_was_asked_for() -> None:
    postings, units = shard(SHAPE, seed=1)
    assert list(postings.columns) == list(POSTINGS)
    assert units[Scope.PARAGRAPH] == 2_000
    found = measure(postings, units[Scope.PARAGRAPH])
    assert 12 < found["postings_per_paragraph"] <= 20  # a paragraph holds an entity once
    assert found["entities"] <= 500
    assert 0.5 < found["zipf"] < 1.2
    assert postings["ordinal"].max() == 1_999
    assert postings.select("posting_id", "ordinal").is_unique().all()


def test_shards_repeat_and_differ_by_seed() -> None:
    assert shard(SHAPE, seed=4)[0].equals(shard(SHAPE, seed=4)[0])
    assert not shard(SHAPE, seed=4)[0].equals(shard(SHAPE, seed=5)[0])


def test_entities_repeat_within_papers() -> None:
    def per_paper(share: float) -> float:
        ranks, paragraphs = synthetic.paragraph_postings(Statistics(2_000, 20.0, 500, 1.0, share), seed=1)
        frame = pl.DataFrame({"rank": ranks, "paper": paragraphs // 50})
        return frame.group_by("rank", "paper").len()["len"].mean()  # type: ignore[return-value]

    assert per_paper(0.7) > 1.15 * per_paper(0.0)


def test_ids_are_distinct_and_filters_have_three_clauses() -> None:
    assert len({entity_id(rank) for rank in range(20_000)}) == 20_000
    made = filters(SHAPE, 3, 7, seed=2)
    assert made == filters(SHAPE, 3, 7, seed=2)
    for query in made:
        ids = [identifier for group in query.groups for identifier in group[0].ids]
        assert [group[0].negated for group in query.groups] == [False, False, True]
        assert len(ids) == len(set(ids)) == 21


def test_every_engine_gives_the_same_counts(tmp_path: Path) -> None:
    # ClickHouse is left out: its engine must not be opened in the process of the tests.
    options = argparse.Namespace(paragraphs=2_000, shards=2, shards_in=None)
    shards = retrieval.write_shards(options, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["synthetic-0000.parquet", "synthetic-0001.parquet"]
    index = LocalEntityIndex(tmp_path / "local")
    for name, (path, units) in shards.items():
        index.load(name, pl.read_parquet(path), units)
    figures: dict[str, Any] = {}
    engines: dict[str, retrieval_engines.Query] = {
        "raw": retrieval_engines.raw_pyroaring(shards),
        "local": index.count,
        "duckdb": retrieval_engines.duckdb_postings(tmp_path, shards, figures),
    }
    tantivy = retrieval_engines.tantivy_boolean(tmp_path, shards, figures)
    if tantivy is not None:
        engines["tantivy"] = tantivy
    times = retrieval.turns(engines, filters(Statistics(paragraphs=2_000), 3, 50, seed=3))
    assert set(times) == set(engines)
    assert all(spent["cpu"] > 0 and spent["wall"] > 0 for spent in times.values())
    engines["wrong"] = lambda query: -1
    with pytest.raises(SystemExit, match="disagree"):
        retrieval.turns(engines, filters(SHAPE, 1, 8, seed=3))


def test_a_promise_is_reached_or_missed() -> None:
    assert str(retrieval.Line("ours / theirs", 3.0, 2.0, 1.5)).endswith("reached")
    missed = str(retrieval.Line("ours / theirs", 3.1, 2.0, 1.5))
    assert missed.endswith("MISSED")
    assert "1.550" in missed


def test_the_vector_part_reports_recall(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["retrieval", "--vectors", "800", "--queries", "2", "--only", "vectors", "--json"])
    retrieval.main()
    printed = json.loads(capsys.readouterr().out)
    assert len(printed["lines"]) == 5
    figures = printed["vectors"]
    assert figures["vectors"] == 800
    assert [figures[share]["recall"] for share in ("1.00%", "10.00%", "50.00%")] == [1.0, 1.0, 1.0]


def test_shards_are_written_for_other_tools(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        sys, "argv", ["synthetic", "--write", str(tmp_path), "--shards", "2", "--paragraphs", "300", "--entities", "40"]
    )
    synthetic.main()
    assert json.loads(capsys.readouterr().out)["shards"] == 2
    frames = [pl.read_parquet(path) for path in sorted(tmp_path.iterdir())]
    assert len(frames) == 2
    assert all(np.asarray(frame["ordinal"]).max() < 300 for frame in frames)
