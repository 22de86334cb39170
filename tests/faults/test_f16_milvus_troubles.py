"""F16: Milvus down, wrong dimension, missing collection: a clear error before any embedding is paid for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pymilvus", reason="the group `stores` is not installed")
pytest.importorskip("milvus_lite", reason="the group `stores` is not installed")

from resources.vector_index import vector_index
from resources.vector_index.faiss_index import FaissVectorIndex, WrongDimension
from resources.vector_index.milvus import MilvusVectorIndex
from resources.vector_index.milvus_door import ATTEMPTS, MilvusDoor, VectorStoreDown
from starling_assets.artifacts.files import StoreError
from starling_assets.retrieval.protocols import VectorIndex
from starling_assets.settings import Settings
from tests.contract.vector_index_contract import MODEL, ordinals_of, unit_vectors
from tests.stores.milvus_process import MilvusProcess


class CountingEmbedder:
    """Counts the texts it is paid for."""

    name = MODEL
    dimension = 16

    def __init__(self) -> None:
        self.paid = 0

    def embed(self, texts: list[str]) -> np.ndarray:
        self.paid += len(texts)
        return unit_vectors(len(texts))


def embed_and_load(index: VectorIndex, embedder: CountingEmbedder) -> None:
    """What a step does: ask first, pay after."""
    index.check(embedder.name, embedder.dimension)
    index.load("s", embedder.name, ordinals_of(3), embedder.embed(["a", "b", "c"]))


def test_a_server_that_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resources.vector_index.milvus_door.CONNECT_SECONDS", 1.0)
    embedder = CountingEmbedder()
    waits: list[float] = []
    with pytest.raises(VectorStoreDown, match=r"Milvus at http://127\.0\.0\.1:9 could not .*cluster\.milvus_uri"):
        embed_and_load(MilvusVectorIndex(MilvusDoor("http://127.0.0.1:9", sleep=waits.append)), embedder)
    assert embedder.paid == 0
    assert waits == sorted(waits)
    assert len(waits) == ATTEMPTS - 1


def test_no_address() -> None:
    with pytest.raises(StoreError, match="milvus_uri is empty"):
        MilvusDoor("")


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_server_that_goes_away_and_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STARLING_TEST_MILVUS_URI", raising=False)
    server = MilvusProcess(tmp_path)
    server.start()
    try:
        door, embedder = MilvusDoor(server.uri), CountingEmbedder()
        index = MilvusVectorIndex(door)
        with pytest.raises(StoreError, match="no vectors of any model for shard 's': materialise vector_index"):
            index.search("s", unit_vectors(1)[0], 3)
        embed_and_load(index, embedder)
        assert embedder.paid == 3
        wrong = CountingEmbedder()
        wrong.dimension = 8
        with pytest.raises(WrongDimension, match="vectors of length 16, the model gives 8"):
            embed_and_load(index, wrong)
        assert wrong.paid == 0
        server.stop()
        again = CountingEmbedder()
        with monkeypatch.context() as patch:
            patch.setattr("resources.vector_index.milvus_door.ATTEMPTS", 1)
            with pytest.raises(VectorStoreDown):
                embed_and_load(index, again)
        assert again.paid == 0
        server.start()
        assert len(index.search("s", unit_vectors(1)[0], 9)) == 3
        door.close()
    finally:
        server.stop()


def test_the_local_index_asks_first_too(tmp_path: Path) -> None:
    index, embedder = FaissVectorIndex(tmp_path), CountingEmbedder()
    embed_and_load(index, embedder)
    embed_and_load(index, embedder)
    embedder.dimension = 8
    with pytest.raises(WrongDimension, match="the model gives 8"):
        embed_and_load(index, embedder)
    assert embedder.paid == 6


def test_the_profile_chooses_the_index(tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {"profile": "cluster", "home": tmp_path, "cluster": {"milvus_uri": "http://127.0.0.1:9"}}
    )
    assert isinstance(vector_index(settings), MilvusVectorIndex)
    assert isinstance(vector_index(settings.model_copy(update={"profile": "embedded"})), FaissVectorIndex)
