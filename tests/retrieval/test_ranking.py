"""Rank of papers and order of windows, against small cases worked out by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap

from starling_assets.retrieval.ranking import best_similarity, hit_table, rank_papers, subcorpus
from starling_assets.retrieval.tables import RETRIEVAL_SET, SUBCORPUS
from starling_assets.settings.model import RetrievalSettings
from tests.retrieval.small_world import SmallWorld

SETTINGS = RetrievalSettings()
# Three papers of 4, 2 and 3 paragraphs; chunks of 2, one step apart: 0-2, 3, 4-5.
WORLD = SmallWorld([[set()] * 4, [set()] * 2, [set()] * 3])
CHUNKS = WORLD.chunks()
ORDINALS = CHUNKS["ordinal"].to_numpy()


def sims(*rows: list[float]) -> np.ndarray:
    return np.array(rows, dtype=np.float32)


def test_score_is_the_weighted_sum_over_matching_chunks_and_all_queries() -> None:
    hits = {"a": BitMap([0, 1]), "b": BitMap([1, 3])}
    similarities = sims([0.5, 0.1, 0.9, 0.25, 0, 0], [0.0, 0.4, 0.9, 0.75, 0, 0])
    frame = rank_papers(hits, CHUNKS, similarities, ORDINALS, SETTINGS)
    assert list(frame.columns) == list(RETRIEVAL_SET)
    first, second = frame.rows(named=True)
    # Paper 0: chunks 0 and 1 match (chunk 2 does not count): mean of .5 .1 0 .4, max .5, both probes.
    assert first["paper_id"] == "pmid:0"
    assert (first["chunks"], first["probes"], first["hit_share"]) == (2, ["a", "b"], 1.0)
    assert first["mean_similarity"] == pytest.approx(0.25)
    assert first["max_similarity"] == pytest.approx(0.5)
    assert first["score"] == pytest.approx(1.75)
    assert second["score"] == pytest.approx(0.5 + 0.5 + 0.75)
    assert [first["rank"], second["rank"]] == [1, 2]


def test_weights_come_from_the_settings() -> None:
    hits = {"a": BitMap([0]), "b": BitMap([3])}
    similarities = sims([0.2, 0, 0, 0.6, 0, 0])
    only_max = RetrievalSettings(weight_hits=0, weight_mean=0, weight_max=2)
    frame = rank_papers(hits, CHUNKS, similarities, ORDINALS, only_max)
    assert frame["paper_ordinal"].to_list() == [1, 0]
    assert frame["score"].to_list() == pytest.approx([1.2, 0.4])


def test_ties_go_by_paper_ordinal() -> None:
    hits = {"a": BitMap([5, 3, 0])}
    frame = rank_papers(hits, CHUNKS, np.full((1, 6), 0.5, dtype=np.float32), ORDINALS, SETTINGS)
    assert frame["paper_ordinal"].to_list() == [0, 1, 2]


def test_no_hit_and_no_probe_give_an_empty_set() -> None:
    for hits in ({}, {"a": BitMap()}):
        frame = rank_papers(hits, CHUNKS, np.zeros((0, 6), dtype=np.float32), ORDINALS, SETTINGS)
        assert frame.is_empty()
        assert list(frame.columns) == list(RETRIEVAL_SET)


@given(
    st.dictionaries(st.sampled_from("abc"), st.sets(st.integers(0, 5)), max_size=3),
    st.lists(
        st.lists(st.one_of(st.just(float("nan")), st.floats(-1, 1, width=32)), min_size=6, max_size=6), max_size=3
    ),
    st.randoms(use_true_random=False),
)
@settings(max_examples=80, deadline=None)
def test_every_matching_paper_is_ranked_once_and_repeatably(
    hits: dict[str, set[int]], rows: list[list[float]], random: object
) -> None:
    bitmaps = {name: BitMap(chunks) for name, chunks in hits.items()}
    similarities = np.array(rows, dtype=np.float32).reshape(len(rows), 6)
    frame = rank_papers(bitmaps, CHUNKS, similarities, ORDINALS, SETTINGS)
    owner = dict(CHUNKS.select("ordinal", "paper_ordinal").rows())
    assert sorted(frame["paper_ordinal"]) == sorted({owner[chunk] for chunks in hits.values() for chunk in chunks})
    assert frame["rank"].to_list() == list(range(1, frame.height + 1))
    shuffled = CHUNKS.sample(fraction=1.0, shuffle=True, seed=7)
    assert frame.equals(rank_papers(bitmaps, shuffled, similarities, ORDINALS, SETTINGS))
    assert frame["score"].is_finite().all()


def ranked(
    hits: dict[str, BitMap], similarities: np.ndarray, windows: pl.DataFrame, limit: int | None = None
) -> pl.DataFrame:
    papers = rank_papers(hits, CHUNKS, similarities, ORDINALS, SETTINGS)
    table, best = hit_table(hits), best_similarity(similarities, ORDINALS)
    return subcorpus(papers, table, best, CHUNKS, windows, limit)


def test_windows_follow_rank_then_similarity() -> None:
    hits = {"a": BitMap([0, 2, 3]), "b": BitMap([0, 2])}
    similarities = sims([0.1, 0.0, 0.8, 0.3, 0, 0])
    windows = WORLD.windows(2, 2)  # paper 0: 0-1, 2-3; paper 1: 0-1; paper 2: 0-1, 2
    frame = ranked(hits, similarities, windows)
    assert list(frame.columns) == list(SUBCORPUS)
    assert frame.select("position", "paper_ordinal", "first_para", "n").rows() == [
        (0, 0, 2, 2),
        (1, 0, 0, 2),
        (2, 1, 0, 2),
    ]
    assert frame["similarity"].to_list() == pytest.approx([0.8, 0.1, 0.3])
    assert frame["probes"].to_list() == [["a", "b"], ["a", "b"], ["a"]]
    assert frame["rank"].to_list() == [1, 1, 2]
    assert frame["unit"].to_list() == ["w2-0-2", "w2-0-0", "w2-1-0"]


def test_a_window_without_a_match_is_not_read() -> None:
    frame = ranked({"a": BitMap([0])}, sims([0.5, 0, 0, 0, 0, 0]), WORLD.windows(1, 1))
    assert frame.select("paper_ordinal", "first_para").rows() == [(0, 0), (0, 1)]


def test_windows_that_overlap_a_taken_one_come_after_the_cover() -> None:
    hits = {"a": BitMap([0, 1, 2])}
    similarities = sims([0.9, 0.1, 0.5, 0, 0, 0])
    frame = ranked(hits, similarities, WORLD.windows(2, 1))  # 0-1, 1-2, 2-3
    # 0-1 and 1-2 both touch the best chunk; 1-2 overlaps 0-1, so the uncovered 2-3 is paid for first.
    assert frame.select("first_para").to_series().to_list() == [0, 2, 1]


def test_a_bound_is_spread_over_the_papers() -> None:
    hits = {"a": BitMap(range(6))}
    similarities = np.linspace(0, 1, 6, dtype=np.float32)[None]
    whole = ranked(hits, similarities, WORLD.windows(2, 2))
    best = whole.group_by("paper_ordinal", maintain_order=True).first()["unit"].to_list()
    for limit in (0, 1, 3, 99):
        bounded = ranked(hits, similarities, WORLD.windows(2, 2), limit)
        assert bounded["position"].to_list() == list(range(min(limit, whole.height)))
        assert bounded["unit"].to_list()[: len(best)] == best[:limit]
        assert set(bounded["unit"]) <= set(whole["unit"])
    assert set(bounded["unit"]) == set(whole["unit"])


def test_a_repeated_window_is_read_once() -> None:
    windows = WORLD.windows(2, 2).with_columns(window_key=pl.lit("same"))
    frame = ranked({"a": BitMap([0, 3])}, sims([0.1, 0, 0, 0.9, 0, 0]), windows)
    assert frame["unit"].to_list() == ["same"]
    assert frame["rank"].to_list() == [1]


def test_similarity_without_a_vector_is_null() -> None:
    frame = ranked({"a": BitMap([0, 3])}, np.full((2, 6), np.nan, dtype=np.float32), WORLD.windows(2, 2))
    assert frame["similarity"].to_list() == [None, None]
    nan = best_similarity(sims([0.5, np.nan]), np.array([4, 7], dtype=np.uint32))
    assert nan.rows() == [(4, 0.5), (7, None)]
