"""The ClickHouse index: the contract over HTTP and on the embedded engine, long filters, migrations, atomic loads."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("clickhouse_connect", reason="the group `stores` is not installed")
pytest.importorskip("chdb", reason="the group `stores` is not installed")

from resources.entity_index.clickhouse import ClickHouseEntityIndex
from resources.entity_index.clickhouse_door import ClickHouseDoor, QueryRefused, embedded_connection, http_connection
from resources.entity_index.clickhouse_migrations import MIGRATIONS, migrate
from starling_assets.artifacts.files import StoreError
from starling_assets.retrieval.filterspec import FilterSpec, ResolvedFilter, Scope, Term
from starling_assets.retrieval.tables import POSTINGS
from tests.contract.entity_index_contract import FOUR, MANY, EntityIndexContract
from tests.stores.clickhouse_process import ClickHouseProcess

TABLES = ["entity_bitmaps", "entity_filter_ids", "starling_migrations"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseProcess]:
    process = ClickHouseProcess(tmp_path_factory.mktemp("clickhouse"))
    process.start()
    yield process
    process.stop()


@pytest.fixture
def door(server: ClickHouseProcess) -> Iterator[ClickHouseDoor]:
    door = ClickHouseDoor(http_connection(server.url, ""))
    for table in TABLES:
        door.command("start from nothing", f"DROP TABLE IF EXISTS {table}")
    yield door
    door.close()


class TestOverHttp(EntityIndexContract):
    @pytest.fixture
    def index(self, door: ClickHouseDoor) -> ClickHouseEntityIndex:
        return ClickHouseEntityIndex(door)


class _Remote:
    """The index on the embedded engine in a spawned process: a fork after opening the engine would hang."""

    def __init__(self, folder: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self._here, there = context.Pipe()
        self._process = context.Process(target=_serve, args=(str(folder), there), daemon=True)
        self._process.start()

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            self._here.send((name, args, kwargs))
            outcome, value = self._here.recv()
            if outcome == "raised":
                raise value
            return value

        return call

    def stop(self) -> None:
        self._here.send(None)
        self._process.join(10)
        self._process.kill()
        self._here.close()


def _serve(folder: str, pipe: Connection) -> None:
    door = ClickHouseDoor(embedded_connection(folder))
    index = ClickHouseEntityIndex(door)
    while (message := pipe.recv()) is not None:
        name, args, kwargs = message
        try:
            if name == "start_from_nothing":
                for table in TABLES:
                    door.command("start from nothing", f"DROP TABLE IF EXISTS {table}")
                index = ClickHouseEntityIndex(door)
                pipe.send(("returned", None))
            else:
                pipe.send(("returned", getattr(index, name)(*args, **kwargs)))
        except Exception as error:  # noqa: BLE001 - carried to the test
            pipe.send(("raised", StoreError(str(error)) if isinstance(error, StoreError) else error))


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Remote]:
    remote = _Remote(tmp_path_factory.mktemp("embedded"))
    yield remote
    remote.stop()


class TestEmbedded(EntityIndexContract):
    @pytest.fixture
    def index(self, embedded: _Remote) -> _Remote:
        embedded.start_from_nothing()
        return embedded


def test_a_filter_of_fifty_thousand_ids(door: ClickHouseDoor) -> None:
    index = ClickHouseEntityIndex(door)
    index.load("s", *MANY.postings())
    ids = [f"NCBITaxon:{n}" for n in range(50_000)]
    long = Term(text="x", kind="entity", ids=[*ids, "CHEBI:15365"])
    absent = Term(text="~y", negated=True, kind="entity", ids=[*ids, "MONDO:0005098"])
    query = ResolvedFilter(groups=[[long], [absent]], scope=Scope.PARAGRAPH)
    expected = MANY.brute_force(FilterSpec(entity_groups=[["aspirin"], ["~stroke"]], scope=Scope.PARAGRAPH))
    assert set(index.evaluate(query, "s")) == expected
    assert expected
    # Nothing of the filter stays behind.
    assert door.rows("look", "SELECT count() FROM entity_filter_ids") == [(0,)]


def test_a_loaded_shard_is_one_part(door: ClickHouseDoor) -> None:
    index = ClickHouseEntityIndex(door)
    for shard in ("a", "b"):
        index.load(shard, *MANY.postings())
    sql = (
        "SELECT count() FROM system.parts WHERE active AND table = 'entity_bitmaps' AND database = currentDatabase() "
        "GROUP BY partition"
    )
    assert door.rows("count parts", sql) == [(1,), (1,)]


def test_many_shards_are_one_query(door: ClickHouseDoor) -> None:
    index = ClickHouseEntityIndex(door)
    index.load("a", *FOUR.postings())
    index.load("b", *MANY.postings())
    query = FOUR.resolved(FilterSpec(entity_groups=[["aspirin"]], scope=Scope.PAPER))
    found = index.evaluate_all(query)
    assert {shard: set(units) for shard, units in found.items()} == {"a": {0, 1}, "b": {0, 3}}
    assert set(index.evaluate_all(query, ["b", "unknown"])) == {"b"}


def test_a_failed_load_leaves_the_old_shard_and_no_table(door: ClickHouseDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    index = ClickHouseEntityIndex(door)
    index.load("s", *FOUR.postings())
    real = door.command

    def broken(purpose: str, sql: str, parameters: Any = None) -> Any:
        if "REPLACE PARTITION" in sql:
            raise QueryRefused("no")
        return real(purpose, sql, parameters)

    with monkeypatch.context() as patch:
        patch.setattr(door, "command", broken)
        with pytest.raises(QueryRefused):
            index.load("s", *MANY.postings())
    query = FOUR.resolved(FilterSpec(entity_groups=[["~ghost"]], scope=Scope.PAPER))
    assert set(index.evaluate(query, "s")) == {0, 1, 2, 3}
    left = door.rows("look", "SELECT name FROM system.tables WHERE database = currentDatabase() AND name LIKE 'load_%'")
    assert left == []


def test_a_kill_during_a_load_leaves_the_old_shard_served(
    door: ClickHouseDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = ClickHouseEntityIndex(door)
    index.load("s", *FOUR.postings())
    real = door.command

    def killed(purpose: str, sql: str, parameters: Any = None) -> Any:
        # A killed process neither switches nor cleans up.
        if "REPLACE PARTITION" in sql or purpose.startswith("clean up"):
            raise KeyboardInterrupt
        return real(purpose, sql, parameters)

    with monkeypatch.context() as patch:
        patch.setattr(door, "command", killed)
        with pytest.raises(KeyboardInterrupt):
            index.load("s", *MANY.postings())
    again = ClickHouseEntityIndex(door)
    query = FOUR.resolved(FilterSpec(entity_groups=[["~ghost"]], scope=Scope.PAPER))
    assert set(again.evaluate(query, "s")) == {0, 1, 2, 3}
    left = "SELECT count() FROM system.tables WHERE database = currentDatabase() AND name LIKE 'load_%'"
    assert door.rows("look", left) == [(2,)]
    again.load("s", *MANY.postings())
    wanted = FilterSpec(entity_groups=[["aspirin"]], scope=Scope.PARAGRAPH)
    assert set(again.evaluate(MANY.resolved(wanted), "s")) == MANY.brute_force(wanted)
    for (table,) in door.rows("look", left.replace("count()", "name")):
        real("tidy up", f"DROP TABLE {table}")


def test_a_posting_outside_the_shard_is_refused_before_anything_is_sent(door: ClickHouseDoor) -> None:
    postings = pl.DataFrame(
        {"scope": ["paper"], "posting_id": ["x"], "entity_type": ["Gene"], "ordinal": [7]}, schema=POSTINGS
    )
    with pytest.raises(StoreError, match="paper 7, but the shard has 3"):
        ClickHouseEntityIndex(door).load("s", postings, {Scope.PAPER: 3})


def test_migrations_run_once_and_in_order(door: ClickHouseDoor) -> None:
    names = [name for name, _ in MIGRATIONS]
    assert migrate(door) == names
    assert migrate(door) == []
    recorded = door.rows("look", "SELECT number, name FROM starling_migrations ORDER BY number")
    assert recorded == [(number, name) for number, name in enumerate(names, start=1)]
    tables = {row[0] for row in door.rows("look", "SELECT name FROM system.tables WHERE database = currentDatabase()")}
    assert set(TABLES) <= tables


def test_a_killed_migration_goes_on(door: ClickHouseDoor) -> None:
    migrate(door)
    door.command("forget", "TRUNCATE TABLE starling_migrations")
    assert migrate(door) == [name for name, _ in MIGRATIONS]


def test_shards_of_an_older_database_come_along(door: ClickHouseDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("resources.entity_index.clickhouse_migrations.MIGRATIONS", MIGRATIONS[:2])
        older = ClickHouseEntityIndex(door)
        older.load("a", *FOUR.postings())
        older.load("b", *MANY.postings())
    index = ClickHouseEntityIndex(door)
    assert index.shards() == ["a", "b"]
    query = FOUR.resolved(FilterSpec(entity_groups=[["aspirin"]], scope=Scope.PAPER))
    assert {shard: set(units) for shard, units in index.evaluate_all(query).items()} == {"a": {0, 1}, "b": {0, 3}}
    ((made,),) = door.rows("look", "SELECT create_table_query FROM system.tables WHERE name = 'entity_bitmaps'")
    assert "index_granularity = 4" in made


def test_a_newer_database_is_refused(door: ClickHouseDoor) -> None:
    migrate(door)
    door.command("be newer", "INSERT INTO starling_migrations VALUES (99, 'from_the_future')")
    with pytest.raises(StoreError, match="from_the_future"):
        migrate(door)


def test_statements_carry_their_purpose(door: ClickHouseDoor) -> None:
    with pytest.raises(QueryRefused, match=r"refused to count the uncountable: .*no_such_table"):
        door.rows("count the uncountable", "SELECT count() FROM no_such_table")
    (comment,) = door.rows("say why", "SELECT getSetting('log_comment')")
    assert comment == ("starling: say why",)
