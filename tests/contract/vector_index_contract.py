"""What every vector index must do. An implementation's test class inherits it and gives the fixture ``index``."""

from __future__ import annotations

import numpy as np
import pytest
from pyroaring import BitMap

from starling_assets.artifacts.files import StoreError
from starling_assets.retrieval.protocols import VectorIndex

DIMENSION = 16
MODEL = "test-model@1"


def unit_vectors(count: int, seed: int = 0, dimension: int = DIMENSION) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def ordinals_of(count: int, step: int = 3) -> np.ndarray:
    """Ordinals with gaps: not every chunk has a vector."""
    return (np.arange(count) * step + 1).astype(np.uint32)


def brute_force(
    query: np.ndarray, ordinals: np.ndarray, vectors: np.ndarray, k: int, allowed: BitMap | None
) -> list[int]:
    scores = (vectors.astype(np.float64) @ query.astype(np.float64)).astype(np.float32)
    rows = [(-float(s), int(o)) for o, s in zip(ordinals, scores, strict=True) if allowed is None or int(o) in allowed]
    return [ordinal for _, ordinal in sorted(rows)[:k]]


class VectorIndexContract:
    """Inherit and provide ``index``, an empty :class:`VectorIndex`."""

    @pytest.fixture
    def index(self) -> VectorIndex:
        pytest.fail("an implementation of the contract gives its own index")

    @pytest.mark.parametrize("share", [0.0, 0.01, 0.05, 0.3, 0.9, 1.0])
    def test_filtered_search_is_exact(self, index: VectorIndex, share: float) -> None:
        vectors, ordinals = unit_vectors(600), ordinals_of(600)
        index.load("s", MODEL, ordinals, vectors)
        chosen = np.random.default_rng(3).random(600) < share
        allowed = BitMap(ordinals[chosen]) | BitMap([2, 10**6])  # ids without a vector change nothing
        for query in unit_vectors(3, seed=9):
            found = index.search("s", query, 10, allowed)
            assert [ordinal for ordinal, _ in found] == brute_force(query, ordinals, vectors, 10, allowed)
            for ordinal, score in found:
                assert score == pytest.approx(float(vectors[(ordinal - 1) // 3] @ query), abs=1e-5)

    def test_unfiltered_search(self, index: VectorIndex) -> None:
        vectors, ordinals = unit_vectors(200), ordinals_of(200)
        index.load("s", MODEL, ordinals, vectors)
        found = index.search("s", vectors[17], 5)
        assert found[0][0] == ordinals[17]
        assert [ordinal for ordinal, _ in found] == brute_force(vectors[17], ordinals, vectors, 5, None)
        assert len(index.search("s", vectors[17], 1_000)) == 200

    def test_an_empty_restriction_is_not_no_restriction(self, index: VectorIndex) -> None:
        index.load("s", MODEL, ordinals_of(20), unit_vectors(20))
        assert index.search("s", unit_vectors(1)[0], 5, BitMap()) == []
        assert index.search("s", unit_vectors(1)[0], 0) == []
        assert len(index.search("s", unit_vectors(1)[0], 5, None)) == 5

    def test_fifty_thousand_allowed_of_which_one_exists(self, index: VectorIndex) -> None:
        index.load("s", MODEL, ordinals_of(20), unit_vectors(20))
        allowed = BitMap(range(1_000, 51_000)) | BitMap([4])
        query = unit_vectors(1, seed=5)[0]
        assert index.search("s", query, 5, allowed) == index.search("s", query, 5, BitMap([4]))
        assert [ordinal for ordinal, _ in index.search("s", query, 5, allowed)] == [4]

    def test_scores_align_with_the_ordinals_asked_for(self, index: VectorIndex) -> None:
        vectors, ordinals = unit_vectors(50), ordinals_of(50)
        index.load("s", MODEL, ordinals, vectors)
        queries = unit_vectors(2, seed=4)
        asked = np.array([ordinals[7], 0, ordinals[7], ordinals[49], 10**6], dtype=np.uint32)
        scores = index.score("s", queries, asked)
        assert scores.shape == (2, 5)
        assert scores[:, [0, 2, 3]] == pytest.approx(queries @ vectors[[7, 7, 49]].T, abs=1e-5)
        assert np.isnan(scores[:, [1, 4]]).all()
        assert index.score("s", queries, np.zeros(0, dtype=np.uint32)).shape == (2, 0)
        assert index.score("s", queries[:0], asked).shape == (0, 5)

    def test_loading_replaces_and_drop_forgets(self, index: VectorIndex) -> None:
        index.load("s", MODEL, ordinals_of(30), unit_vectors(30))
        index.load("t", MODEL, ordinals_of(5), unit_vectors(5))
        index.load("s", MODEL, ordinals_of(4), unit_vectors(4, seed=8))
        assert len(index.search("s", unit_vectors(1)[0], 99)) == 4
        assert len(index.search("t", unit_vectors(1)[0], 99)) == 5
        assert index.shards() == ["s", "t"]
        index.drop("s")
        index.drop("never loaded")
        assert index.shards() == ["t"]
        with pytest.raises(StoreError, match="'s'"):
            index.search("s", unit_vectors(1)[0], 1)

    def test_order_of_rows_does_not_matter(self, index: VectorIndex) -> None:
        vectors, ordinals = unit_vectors(40), ordinals_of(40)
        shuffle = np.random.default_rng(1).permutation(40)
        index.load("a", MODEL, ordinals, vectors)
        index.load("b", MODEL, ordinals[shuffle], vectors[shuffle])
        query = unit_vectors(1, seed=2)[0]
        assert index.search("a", query, 40) == index.search("b", query, 40)

    def test_equal_vectors_come_in_order_of_their_ordinals(self, index: VectorIndex) -> None:
        vectors = np.repeat(unit_vectors(2), 60, axis=0)
        index.load("s", MODEL, ordinals_of(120), vectors)
        found = index.search("s", vectors[0], 10)
        assert [ordinal for ordinal, _ in found] == ordinals_of(120)[:10].tolist()
        allowed = BitMap(ordinals_of(120)[20:110])
        assert [o for o, _ in index.search("s", vectors[0], 10, allowed)] == ordinals_of(120)[20:30].tolist()

    def test_an_empty_shard(self, index: VectorIndex) -> None:
        index.load("s", MODEL, np.zeros(0, dtype=np.uint32), np.zeros((0, DIMENSION), dtype=np.float32))
        assert index.shards() == ["s"]
        assert index.search("s", unit_vectors(1)[0], 5) == []
        assert np.isnan(index.score("s", unit_vectors(1), np.array([1], dtype=np.uint32))).all()

    def test_wrong_dimension_is_refused_before_anything_is_stored(self, index: VectorIndex) -> None:
        index.load("s", MODEL, ordinals_of(5), unit_vectors(5))
        with pytest.raises(StoreError, match="8"):
            index.load("t", MODEL, ordinals_of(5), unit_vectors(5, dimension=8))
        with pytest.raises(StoreError, match="dimension"):
            index.search("s", unit_vectors(1, dimension=8)[0], 1)
        with pytest.raises(StoreError, match="dimension"):
            index.score("s", unit_vectors(1, dimension=8), ordinals_of(5))
        assert index.shards() == ["s"]

    @pytest.mark.parametrize(
        ("ordinals", "vectors", "says"),
        [
            (np.array([1, 1], dtype=np.uint32), unit_vectors(2), "twice"),
            (np.array([1], dtype=np.uint32), unit_vectors(2), "1 ordinals"),
            (np.array([1], dtype=np.uint32), np.full((1, DIMENSION), np.nan, dtype=np.float32), "NaN"),
        ],
    )
    def test_malformed_vectors_are_refused(
        self, index: VectorIndex, ordinals: np.ndarray, vectors: np.ndarray, says: str
    ) -> None:
        with pytest.raises(StoreError, match=says):
            index.load("s", MODEL, ordinals, vectors)
        assert index.shards() == []

    def test_a_new_model_is_built_beside_and_takes_over_when_complete(self, index: VectorIndex) -> None:
        for shard in ("a", "b"):
            index.load(shard, MODEL, ordinals_of(5), unit_vectors(5))
        query = unit_vectors(1)[0]
        before = index.search("b", query, 5)
        index.load("a", "other@2", ordinals_of(5), unit_vectors(5, seed=77, dimension=DIMENSION))
        assert index.shards() == ["a", "b"]
        assert index.search("b", query, 5) == before
        index.load("b", "other@2", ordinals_of(5), unit_vectors(5, seed=78, dimension=DIMENSION))
        assert index.search("b", query, 5) != before
        assert index.shards() == ["a", "b"]

    def test_shard_names_are_data(self, index: VectorIndex) -> None:
        for shard in ("../../etc", "a' OR 1=1 --", 'x" || "y', "drop-2026-11-30-001"):
            index.load(shard, MODEL, ordinals_of(3), unit_vectors(3))
            assert index.shards() == [shard]
            assert len(index.search(shard, unit_vectors(1)[0], 9)) == 3
            index.drop(shard)
        assert index.shards() == []
