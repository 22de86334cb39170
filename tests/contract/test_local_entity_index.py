"""The local entity index: the contract, and what only it promises."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import tracemalloc
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.entity_index.local import LocalEntityIndex
from resources.entity_index.shard_file import SHORT, ScopeReader, write_shard
from starling_assets.artifacts.files import StoreError
from starling_assets.retrieval.filterspec import FilterSpec, ResolvedFilter, Scope, Term
from starling_assets.retrieval.tables import POSTINGS
from tests.contract.entity_index_contract import FOUR, MANY, EntityIndexContract


class TestLocalEntityIndex(EntityIndexContract):
    @pytest.fixture
    def index(self, tmp_path: Path) -> LocalEntityIndex:
        return LocalEntityIndex(tmp_path / "index")


def _aspirin() -> ResolvedFilter:
    return FOUR.resolved(FilterSpec(entity_groups=[["aspirin"]], scope=Scope.PARAGRAPH))


def test_another_process_that_replaces_a_shard_is_noticed(tmp_path: Path) -> None:
    reader, writer = LocalEntityIndex(tmp_path), LocalEntityIndex(tmp_path)
    writer.load("s", *FOUR.postings())
    assert len(reader.evaluate(_aspirin(), "s")) == 2
    writer.load("s", *MANY.postings())
    assert set(reader.evaluate(_aspirin(), "s")) == MANY.brute_force(
        FilterSpec(entity_groups=[["aspirin"]], scope=Scope.PARAGRAPH)
    )


def test_the_same_postings_give_the_same_bytes(tmp_path: Path) -> None:
    postings, units = MANY.postings()
    for name, frame in (("a", postings), ("b", postings.sample(fraction=1.0, shuffle=True, seed=5))):
        write_shard(tmp_path / name, frame, units)
    a, b = (
        {p.relative_to(r): p.read_bytes() for p in r.rglob("*") if p.is_file()}
        for r in (tmp_path / "a", tmp_path / "b")
    )
    assert a == b
    assert a


def test_a_reload_leaves_one_generation(tmp_path: Path) -> None:
    index = LocalEntityIndex(tmp_path)
    for world in (FOUR, MANY, FOUR):
        index.load("s", *world.postings())
    assert len([path for path in (tmp_path / "s").iterdir() if path.is_dir()]) == 1


def test_a_posting_outside_the_shard_is_refused_and_the_old_shard_stays(tmp_path: Path) -> None:
    index = LocalEntityIndex(tmp_path)
    postings, units = FOUR.postings()
    index.load("s", postings, units)
    with pytest.raises(StoreError, match=r"has 1"):
        index.load("s", postings, {**units, Scope.PARAGRAPH: 1})
    assert len(index.evaluate(_aspirin(), "s")) == 2
    assert [path.name for path in (tmp_path / "s").iterdir() if path.name.startswith(".gen")] == []


def test_a_write_error_names_the_folder_and_keeps_the_old_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = LocalEntityIndex(tmp_path)
    index.load("s", *FOUR.postings())

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("resources.entity_index.shard_file.os.fsync", full)
        with pytest.raises(StoreError, match="No space left"):
            index.load("s", *MANY.postings())
    assert len(index.evaluate(_aspirin(), "s")) == 2


def test_a_kill_during_a_load_leaves_the_old_shard_served(tmp_path: Path) -> None:
    # One child per point of death. The parent of the children touches no table, so that forking it is safe.
    script = textwrap.dedent(
        """
        import os, signal, sys
        from pathlib import Path
        from resources.entity_index.local import LocalEntityIndex
        from tests.contract.entity_index_contract import FOUR, MANY

        def die_at(point):
            calls = 0
            def counted(real):
                def call(*args):
                    nonlocal calls
                    calls += 1
                    if calls == point:
                        os.kill(os.getpid(), signal.SIGKILL)
                    return real(*args)
                return call
            os.fsync, os.replace = counted(os.fsync), counted(os.replace)

        for point in map(int, sys.argv[2:]):
            child = os.fork()
            if child == 0:
                index = LocalEntityIndex(Path(sys.argv[1]) / str(point))
                index.load("s", *FOUR.postings())
                die_at(point)
                index.load("s", *MANY.postings())
                os._exit(0)
            print(point, os.waitpid(child, 0)[1] & 0x7F)
        """
    )
    # Every durable step of a load: 18 files, the generation's rename, the pointer's sync and rename; 99 is no death.
    points = ["1", "19", "21", "22", "99"]
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), *points], check=True, capture_output=True, text=True
    )
    signals = dict(line.split() for line in done.stdout.splitlines())
    outcomes = {}
    for point in points:
        served = LocalEntityIndex(tmp_path / point).count(MANY.resolved(FilterSpec(scope=Scope.PARAGRAPH)))
        outcomes[point] = (signals[point], served)
    assert outcomes.pop("99") == ("0", 9)
    assert outcomes.pop("22") == ("9", 9)  # after the switch the new shard is the one that is served
    assert set(outcomes.values()) == {("9", 4)}


def test_opening_and_asking_takes_no_memory_for_other_entities(tmp_path: Path) -> None:
    def objects(entities: int) -> int:
        """Python memory that a fresh index holds after a query over a shard of so many entities."""
        rng = np.random.default_rng(0)
        rows = pl.DataFrame(
            {
                "scope": pl.repeat("paragraph", 4 * entities, eager=True),
                "posting_id": [f"MESH:D{n:06d}" for n in rng.integers(0, entities, 4 * entities)],
                "entity_type": pl.repeat("Disease", 4 * entities, eager=True),
                "ordinal": rng.integers(0, 100_000, 4 * entities).astype(np.uint32),
            },
            schema_overrides=POSTINGS,
        )
        root = tmp_path / str(entities)
        write_shard(root / "s", rows, {Scope.PARAGRAPH: 100_000})
        term = Term(text="x", kind="entity", ids=["MESH:D000007", "MESH:D999999"])
        query = ResolvedFilter(groups=[[term]], scope=Scope.PARAGRAPH)
        expected = rows.filter(pl.col("posting_id") == "MESH:D000007")["ordinal"].unique().sort().to_list()
        tracemalloc.start()
        index = LocalEntityIndex(root)
        assert list(index.evaluate(query, "s")) == expected
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    objects(100)  # imports and caches of the libraries
    assert objects(40_000) < objects(400) + 20_000


def test_two_ids_with_half_a_hash_in_common_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from resources.entity_index import shard_file

    real = shard_file.id_hashes
    monkeypatch.setattr(shard_file, "id_hashes", lambda ids: real(ids) * np.array([[0], [1]], dtype=np.uint64))
    monkeypatch.setattr(shard_file, "_hashes_of_clause", shard_file.id_hashes)
    postings, units = MANY.postings()
    write_shard(tmp_path / "s", postings, units)
    index = LocalEntityIndex(tmp_path)
    for groups in ([["aspirin"]], [["brain"], ["~stroke"]], [["ghost"]], [["aspirin", "caffeine", "brain", "ghost"]]):
        spec = FilterSpec(entity_groups=groups, scope=Scope.CHUNK)
        assert set(index.evaluate(MANY.resolved(spec), "s")) == MANY.brute_force(spec)


def test_the_reader_lists_ids_with_their_sizes(tmp_path: Path) -> None:
    postings, units = FOUR.postings()
    write_shard(tmp_path / "s", postings, units)
    (generation,) = (path for path in (tmp_path / "s").iterdir() if path.is_dir())
    reader = ScopeReader(generation, Scope.PAPER)
    assert sorted(reader.counts(None)) == [("CHEBI:15365", 2), ("MONDO:0005098", 2)]
    nobody, place = reader.places(["nobody", "type:Disease"]).tolist()
    assert nobody == -1
    assert reader.posting_id(place) == "type:Disease"
    assert list(reader.union_of(["type:Disease"])) == [0, 2]


def test_kept_unions_are_bounded_and_never_changed(tmp_path: Path) -> None:
    index = LocalEntityIndex(tmp_path, keep=900)
    index.load("s", *MANY.postings())
    groups = [[["aspirin"]], [["aspirin"], ["~stroke"]], [["caffeine", "~brain"]], [["brain"]], [["aspirin"]]]
    for _ in range(3):
        for terms in groups:
            spec = FilterSpec(entity_groups=terms, scope=Scope.PARAGRAPH)
            assert set(index.evaluate(MANY.resolved(spec), "s")) == MANY.brute_force(spec)
    reader = index._open["s"].readers[Scope.PARAGRAPH]
    assert 0 < len(reader._kept) < 3
    assert reader._kept_bytes <= 900


def test_an_answer_may_be_written_into(tmp_path: Path) -> None:
    index = LocalEntityIndex(tmp_path)
    index.load("s", *FOUR.postings())
    answer = index.evaluate(_aspirin(), "s")
    kept = set(answer)
    answer |= index.evaluate(FOUR.resolved(FilterSpec(entity_groups=[["stroke"]], scope=Scope.PARAGRAPH)), "s")
    assert set(answer) > kept
    assert set(index.evaluate(_aspirin(), "s")) == kept


def test_nothing_is_kept_where_there_is_no_room(tmp_path: Path) -> None:
    index = LocalEntityIndex(tmp_path, keep=0)
    index.load("s", *FOUR.postings())
    query = FOUR.resolved(FilterSpec(entity_groups=[["aspirin"]], scope=Scope.PAPER))
    assert set(index.evaluate(query, "s")) == {0, 1}
    assert index._open["s"].readers[Scope.PAPER]._kept == {}


@settings(max_examples=25)
@given(st.lists(st.lists(st.integers(0, 199_999), max_size=30), max_size=6), st.lists(st.integers(0, 7), max_size=8))
def test_lists_of_any_length_unite(
    tmp_path_factory: pytest.TempPathFactory, rare: list[list[int]], asked: list[int]
) -> None:
    # Number 6 is just short enough to be stored as plain ordinals, number 7 just too long.
    lists = [*rare, *([[]] * (6 - len(rare))), list(range(0, 4 * SHORT, 4)), list(range(100_000, 100_001 + SHORT))]
    rows = [("paper", f"X:{number}", "Gene", ordinal) for number, held in enumerate(lists) for ordinal in held]
    root = tmp_path_factory.mktemp("lists")
    write_shard(root / "s", pl.DataFrame(rows, schema=POSTINGS, orient="row"), {Scope.PAPER: 200_000})
    (generation,) = (path for path in (root / "s").iterdir() if path.is_dir())
    reader = ScopeReader(generation, Scope.PAPER)
    assert set(reader.union_of([f"X:{number}" for number in asked])) == {o for number in asked for o in lists[number]}
