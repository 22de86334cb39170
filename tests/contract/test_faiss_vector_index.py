"""The FAISS index: the contract, equal answers under every plan, and what a failed write leaves."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from pyroaring import BitMap

from resources.vector_index import collection_files
from resources.vector_index.faiss_index import FaissVectorIndex, WrongDimension
from starling_assets.artifacts.files import StoreError
from starling_assets.retrieval.plans import PlanKind
from starling_assets.settings.model import RetrievalSettings
from tests.contract.vector_index_contract import (
    DIMENSION,
    MODEL,
    VectorIndexContract,
    brute_force,
    ordinals_of,
    unit_vectors,
)


class TestFaissVectorIndex(VectorIndexContract):
    @pytest.fixture
    def index(self, tmp_path: Path) -> FaissVectorIndex:
        return FaissVectorIndex(tmp_path)


@pytest.mark.parametrize("duplicated", [False, True])
@pytest.mark.parametrize("share", [0.002, 0.05, 0.5, 0.95])
def test_the_answer_does_not_depend_on_the_plan(
    tmp_path: Path, share: float, duplicated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = unit_vectors(3_000)
    if duplicated:  # the same text in many papers: ties everywhere
        vectors = vectors[np.random.default_rng(2).integers(0, 40, 3_000)]
    ordinals = ordinals_of(3_000)
    index = FaissVectorIndex(tmp_path)
    index.load("s", MODEL, ordinals, vectors)
    allowed = BitMap(ordinals[np.random.default_rng(5).random(3_000) < share])
    for query in [*unit_vectors(3, seed=6), vectors[11]]:
        expected = brute_force(query, ordinals, vectors, 20, allowed)
        plain = index.search("s", query, 20, allowed, plan=PlanKind.EXACT)
        fetched = index.search("s", query, 20, allowed, plan=PlanKind.OVERFETCH)
        monkeypatch.setattr("resources.vector_index.faiss_index._FEW", 0)
        selected = index.search("s", query, 20, allowed, plan=PlanKind.EXACT)
        monkeypatch.undo()
        assert plain == fetched == selected
        assert [ordinal for ordinal, _ in plain] == expected


def test_the_plan_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    index = FaissVectorIndex(tmp_path)
    index.load("s", MODEL, ordinals_of(100), unit_vectors(100))
    with caplog.at_level(logging.DEBUG, logger="resources.vector_index.faiss_index"):
        index.search("s", unit_vectors(1)[0], 3, BitMap([1, 4]))
    assert "exact (2 of 100 vectors pass, 2.00%; fetch 2)" in caplog.text


def test_a_score_does_not_depend_on_its_neighbours(tmp_path: Path) -> None:
    index = FaissVectorIndex(tmp_path)
    index.load("s", MODEL, ordinals_of(500), unit_vectors(500))
    queries = unit_vectors(4, seed=3)
    whole = index.score("s", queries, ordinals_of(500))
    for place in (0, 7, 499):
        assert np.array_equal(index.score("s", queries, ordinals_of(500)[[place]])[:, 0], whole[:, place])


def test_a_pinned_model_reads_its_own_collection(tmp_path: Path) -> None:
    index = FaissVectorIndex(tmp_path)
    index.load("s", MODEL, ordinals_of(5), unit_vectors(5))
    index.load("t", MODEL, ordinals_of(5), unit_vectors(5))
    index.load("s", "new", ordinals_of(5), unit_vectors(5, dimension=8))
    pinned = FaissVectorIndex(tmp_path, model="new")
    assert pinned.shards() == ["s"]
    assert len(pinned.search("s", unit_vectors(1, dimension=8)[0], 9)) == 5
    with pytest.raises(StoreError, match="no vectors of new for shard 't'"):
        pinned.search("t", unit_vectors(1, dimension=8)[0], 9)
    assert collection_files.active_model(tmp_path) == MODEL


def test_an_empty_index_says_what_to_do(tmp_path: Path) -> None:
    assert FaissVectorIndex(tmp_path).shards() == []
    with pytest.raises(StoreError, match="materialise vector_index first"):
        FaissVectorIndex(tmp_path).search("s", unit_vectors(1)[0], 1)


def test_a_failed_write_keeps_the_old_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = FaissVectorIndex(tmp_path, RetrievalSettings())
    index.load("s", MODEL, ordinals_of(9), unit_vectors(9))

    def full(_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("resources.vector_index.collection_files._sync", full)
    with pytest.raises(StoreError, match="No space left"):
        index.load("s", MODEL, ordinals_of(4), unit_vectors(4))
    assert len(index.search("s", unit_vectors(1)[0], 99)) == 9
    assert not list((tmp_path).rglob(".gen-*"))


def test_another_process_that_replaces_a_shard_is_noticed(tmp_path: Path) -> None:
    reader, writer = FaissVectorIndex(tmp_path), FaissVectorIndex(tmp_path)
    writer.load("s", MODEL, ordinals_of(9), unit_vectors(9))
    assert len(reader.search("s", unit_vectors(1)[0], 99)) == 9
    writer.load("s", MODEL, ordinals_of(4), unit_vectors(4))
    assert len(reader.search("s", unit_vectors(1)[0], 99)) == 4


def test_wrong_dimension_names_both(tmp_path: Path) -> None:
    index = FaissVectorIndex(tmp_path)
    index.load("s", MODEL, ordinals_of(5), unit_vectors(5))
    with pytest.raises(WrongDimension, match=f"8 dimensions, the vectors of shard s have {DIMENSION}"):
        index.search("s", unit_vectors(1, dimension=8)[0], 1)
