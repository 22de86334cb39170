"""The Milvus index: the contract on a Milvus Lite server, plans, leftovers of a killed load."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from pyroaring import BitMap

pytest.importorskip("pymilvus", reason="the group `stores` is not installed")
pytest.importorskip("milvus_lite", reason="the group `stores` is not installed")

from resources.vector_index import milvus
from resources.vector_index.milvus import MilvusVectorIndex
from resources.vector_index.milvus_door import MilvusDoor, VectorStoreRefused
from tests.contract.vector_index_contract import MODEL, VectorIndexContract, brute_force, ordinals_of, unit_vectors
from tests.stores.milvus_process import MilvusProcess

# The server takes long to start on a busy machine.
pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusProcess]:
    process = MilvusProcess(tmp_path_factory.mktemp("milvus"))
    process.start()
    yield process
    process.stop()


@pytest.fixture
def door(server: MilvusProcess) -> Iterator[MilvusDoor]:
    door = MilvusDoor(server.uri)
    for name in door.call("start from nothing", lambda client: client.list_collections()):
        door.call("start from nothing", lambda client, name=name: client.drop_collection(name))
    yield door
    door.close()


class TestMilvusVectorIndex(VectorIndexContract):
    @pytest.fixture
    def index(self, door: MilvusDoor) -> MilvusVectorIndex:
        return MilvusVectorIndex(door)


@pytest.mark.parametrize("share", [0.02, 0.4, 0.9])
def test_every_plan_gives_the_same_answer(door: MilvusDoor, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, ordinals = unit_vectors(2_000), ordinals_of(2_000)
    index = MilvusVectorIndex(door)
    index.load("s", MODEL, ordinals, vectors)
    allowed = BitMap(ordinals[np.random.default_rng(5).random(2_000) < share])
    query = unit_vectors(1, seed=6)[0]
    expected = brute_force(query, ordinals, vectors, 20, allowed)
    # Fetched and scored here; listed whole; listed in parts; over-fetched and intersected.
    for few, listed in ((10**6, 10**6), (0, 10**6), (0, 150), (0, 10)):
        monkeypatch.setattr(milvus, "FEW", few)
        monkeypatch.setattr(milvus, "LIST_LIMIT", listed)
        assert [ordinal for ordinal, _ in index.search("s", query, 20, allowed)] == expected, (few, listed)


def test_more_ties_than_a_search_may_return(door: MilvusDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(milvus, "TOP_LIMIT", 50)
    vectors = np.repeat(unit_vectors(1), 120, axis=0)
    index = MilvusVectorIndex(door)
    index.load("s", MODEL, ordinals_of(120), vectors)
    found = index.search("s", vectors[0], 5)
    assert [ordinal for ordinal, _ in found] == ordinals_of(120)[:5].tolist()


def test_a_load_that_breaks_off_leaves_the_old_shard_served(door: MilvusDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    index = MilvusVectorIndex(door)
    index.load("s", MODEL, ordinals_of(9), unit_vectors(9))
    before = index.search("s", unit_vectors(1)[0], 99)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("resources.vector_index.milvus_catalogue.Catalogue.put", killed)
        with pytest.raises(KeyboardInterrupt):
            index.load("s", MODEL, ordinals_of(4), unit_vectors(4, seed=3))
    assert index.search("s", unit_vectors(1)[0], 99) == before


def test_rows_of_a_killed_load_are_deleted_by_a_later_one(door: MilvusDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    def rows() -> int:
        found = door.call(
            "look", lambda c: c.query(milvus._name(MODEL), filter="ordinal >= 0", output_fields=["key"], limit=100)
        )
        return len(found)

    index = MilvusVectorIndex(door)
    index.load("s", MODEL, ordinals_of(9), unit_vectors(9))
    with monkeypatch.context() as patch:
        patch.setattr("resources.vector_index.milvus_catalogue.Catalogue.put", killed)
        with pytest.raises(KeyboardInterrupt):
            index.load("s", MODEL, ordinals_of(4), unit_vectors(4, seed=3))
    # Killed between the switch and the note that the load is over: these rows are served.
    with monkeypatch.context() as patch:
        patch.setattr("resources.vector_index.milvus_catalogue.Catalogue.end", killed)
        with pytest.raises(KeyboardInterrupt):
            index.load("u", MODEL, ordinals_of(3), unit_vectors(3))
    index.load("t", MODEL, ordinals_of(2), unit_vectors(2))
    assert rows() == 9 + 4 + 3 + 2  # a load that young may still be running
    monkeypatch.setattr(milvus, "ABANDONED", -10)
    index.load("t", MODEL, ordinals_of(2), unit_vectors(2))
    assert rows() == 9 + 3 + 2
    assert len(index.search("s", unit_vectors(1)[0], 99)) == 9
    assert len(index.search("u", unit_vectors(1)[0], 99)) == 3


def test_another_client_sees_the_new_shard(door: MilvusDoor, server: MilvusProcess) -> None:
    index, other = MilvusVectorIndex(door), MilvusDoor(server.uri)
    index.load("s", MODEL, ordinals_of(9), unit_vectors(9))
    reader = MilvusVectorIndex(other)
    assert len(reader.search("s", unit_vectors(1)[0], 99)) == 9
    index.load("s", MODEL, ordinals_of(4), unit_vectors(4))
    assert len(reader.search("s", unit_vectors(1)[0], 99)) == 4
    other.close()


def test_old_rows_are_deleted(door: MilvusDoor) -> None:
    index = MilvusVectorIndex(door)
    for seed in range(3):
        index.load("s", MODEL, ordinals_of(5), unit_vectors(5, seed=seed))
    name = milvus._name(MODEL)
    rows = door.call("look", lambda c: c.query(name, filter="ordinal >= 0", output_fields=["key"], limit=100))
    assert len(rows) == 5
    index.drop("s")
    assert door.call("look", lambda c: c.query(name, filter="ordinal >= 0", output_fields=["key"], limit=100)) == []


def test_a_pinned_model_reads_its_own_collection(door: MilvusDoor) -> None:
    index = MilvusVectorIndex(door)
    for shard in ("s", "t"):
        index.load(shard, MODEL, ordinals_of(5), unit_vectors(5))
    index.load("s", "new", ordinals_of(3), unit_vectors(3, dimension=8))
    pinned = MilvusVectorIndex(door, model="new")
    assert pinned.shards() == ["s"]
    assert len(pinned.search("s", unit_vectors(1, dimension=8)[0], 9)) == 3
    assert len(index.search("s", unit_vectors(1)[0], 9)) == 5


def test_a_refused_call_names_its_purpose(door: MilvusDoor) -> None:
    with pytest.raises(VectorStoreRefused, match=r"Milvus refused to find nothing: .*no_such"):
        door.call("find nothing", lambda client: client.query("no_such", filter="a > 1", output_fields=["a"]))
