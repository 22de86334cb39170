"""F18: papers without embeddings are ranked last and counted; ranking always terminates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pyroaring import BitMap

from resources.vector_index.faiss_index import FaissVectorIndex
from starling_assets.retrieval.ranking import rank_papers
from starling_assets.settings.model import RetrievalSettings
from tests.retrieval.small_world import SmallWorld

WORLD = SmallWorld([[set()] * 2, [set()] * 2, [set()] * 2])  # one chunk each
CHUNKS = WORLD.chunks()
ORDINALS = CHUNKS["ordinal"].to_numpy()
VECTORS = np.eye(3, 4, dtype=np.float32)


def similarities(tmp_path: Path, ordinals: list[int]) -> np.ndarray:
    index = FaissVectorIndex(tmp_path)
    index.load("s", "m", np.array(ordinals, dtype=np.uint32), VECTORS[ordinals])
    return index.score("s", -VECTORS[:2], ORDINALS)


def test_without_a_vector_comes_last_even_with_more_hits(tmp_path: Path) -> None:
    scores = similarities(tmp_path, [1, 2])
    hits = {"a": BitMap([0, 1, 2]), "b": BitMap([0])}
    frame = rank_papers(hits, CHUNKS, scores, ORDINALS, RetrievalSettings())
    # Paper 0 satisfies both probes and its score is the highest, yet nothing is known of its similarity.
    assert frame["paper_ordinal"].to_list() == [2, 1, 0]
    last = frame.row(-1, named=True)
    assert (last["mean_similarity"], last["max_similarity"], last["hit_share"]) == (None, None, 1.0)
    assert last["score"] > frame["score"][0]
    assert frame["mean_similarity"].null_count() == 1


@pytest.mark.parametrize("ordinals", [[], [0, 1, 2]])
def test_all_or_none_have_vectors(tmp_path: Path, ordinals: list[int]) -> None:
    hits = {"a": BitMap([0, 1, 2])}
    frame = rank_papers(hits, CHUNKS, similarities(tmp_path, ordinals), ORDINALS, RetrievalSettings())
    assert frame.height == 3
    assert frame["mean_similarity"].null_count() == (3 if not ordinals else 0)
    if not ordinals:
        assert frame["paper_ordinal"].to_list() == [0, 1, 2]
