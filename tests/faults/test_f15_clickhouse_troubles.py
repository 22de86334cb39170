"""F15: a restart and too many queries are retried, a query's own memory limit is not; errors name the purpose."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("clickhouse_connect", reason="the group `stores` is not installed")

from clickhouse_connect.driver.exceptions import DatabaseError, OperationalError

from resources.entity_index.clickhouse import ClickHouseEntityIndex
from resources.entity_index.clickhouse_door import (
    ATTEMPTS,
    ClickHouseDoor,
    IndexUnavailable,
    QueryRefused,
    http_connection,
    is_transient,
)
from starling_assets.artifacts.files import StoreError
from starling_assets.retrieval.filterspec import FilterSpec, Scope
from tests.contract.entity_index_contract import FOUR
from tests.stores.clickhouse_process import ClickHouseProcess

TOO_MANY = DatabaseError(
    "Code: 202. DB::Exception: Too many simultaneous queries. (TOO_MANY_SIMULTANEOUS_QUERIES)", code=202
)
QUERY_MEMORY = DatabaseError("Code: 241. DB::Exception: Query memory limit exceeded: would use 9 GiB", code=241)
TOTAL_MEMORY = DatabaseError("Code: 241. DB::Exception: (total) memory limit exceeded: would use 99 GiB", code=241)
GONE = OperationalError("Error executing HTTP request: connection refused")
BUSY_SERVER = DatabaseError("Code: 745. DB::Exception: The server is overloaded (SERVER_OVERLOADED)", code=745)
SYNTAX = DatabaseError("Code: 62. DB::Exception: Syntax error", code=62)


class Scripted:
    """A client that fails as told, then answers."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.calls = 0

    def command(self, sql: str, **_: Any) -> int:
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)
        return 7

    query = insert_arrow = query_arrow = command


def door(client: Scripted, connects: list[int] | None = None) -> tuple[ClickHouseDoor, list[float]]:
    waits: list[float] = []

    def connect() -> Scripted:
        if connects is not None:
            connects.append(1)
        return client

    return ClickHouseDoor(connect, sleep=waits.append), waits


@pytest.mark.parametrize("failure", [TOO_MANY, TOTAL_MEMORY, GONE, BUSY_SERVER])
def test_what_may_pass_is_retried_with_longer_waits(failure: Exception) -> None:
    client = Scripted(failure, failure, failure)
    gate, waits = door(client)
    assert gate.command("do it", "SELECT 7") == 7
    assert client.calls == 4
    assert gate.retries == 3
    assert waits == sorted(waits)
    assert waits[2] > waits[0]


@pytest.mark.parametrize("failure", [QUERY_MEMORY, SYNTAX])
def test_what_cannot_pass_is_not_retried_and_names_its_purpose(failure: Exception) -> None:
    client = Scripted(failure)
    gate, waits = door(client)
    with pytest.raises(QueryRefused, match="refused to evaluate a filter: Code"):
        gate.command("evaluate a filter", "SELECT 7")
    assert client.calls == 1
    assert waits == []


def test_retries_are_bounded_and_the_error_says_what_to_do() -> None:
    client = Scripted(*[TOO_MANY] * 99)
    gate, _ = door(client)
    with pytest.raises(IndexUnavailable, match=r"could not load shard x in 6 attempts: .*cluster\.clickhouse_url"):
        gate.command("load shard x", "SELECT 7")
    assert client.calls == ATTEMPTS


def test_only_a_lost_connection_is_made_anew() -> None:
    connects: list[int] = []
    gate, _ = door(Scripted(TOO_MANY, TOO_MANY), connects)
    gate.command("x", "SELECT 7")
    assert len(connects) == 1
    connects.clear()
    gate, _ = door(Scripted(GONE, GONE), connects)
    gate.command("x", "SELECT 7")
    assert len(connects) == 3


def test_errors_that_are_no_trouble_of_the_store_pass_through() -> None:
    gate, _ = door(Scripted(ValueError("ours")))
    with pytest.raises(ValueError, match="ours"):
        gate.command("x", "SELECT 7")
    assert not is_transient(ValueError("ours"))


@pytest.mark.parametrize("url", ["", "localhost:8123", "ftp://x/y", "http://"])
def test_an_address_of_another_form_is_refused(url: str) -> None:
    with pytest.raises(StoreError, match="must look like http://user@host:8123/database"):
        http_connection(url, "")


def test_a_password_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(StoreError, match="STARLING_CLUSTER_CLICKHOUSE_PASSWORD") as caught:
        http_connection("http://u:hunter2@h/d", "")
    assert "hunter2" not in str(caught.value)


def test_a_server_that_restarts_between_two_queries(tmp_path: Path) -> None:
    pytest.importorskip("chdb", reason="the group `stores` is not installed")
    server = ClickHouseProcess(tmp_path)
    server.start()
    restarted: list[threading.Thread] = []

    def sleep(_: float) -> None:
        # The server comes back while the client waits for its next attempt.
        if not restarted:
            restarted.append(threading.Thread(target=server.start))
            restarted[0].start()
        restarted[0].join()

    try:
        gate = ClickHouseDoor(http_connection(server.url, ""), sleep=sleep)
        index = ClickHouseEntityIndex(gate)
        index.load("s", *FOUR.postings())
        query = FOUR.resolved(FilterSpec(entity_groups=[["aspirin"]], scope=Scope.PAPER))
        server.stop()
        assert set(index.evaluate(query, "s")) == {0, 1}
        assert gate.retries >= 1
        with pytest.raises(QueryRefused, match=r"refused to list too much: .*[Mm]emory limit"):
            gate.rows(
                "list too much",
                "SELECT groupArray(number) FROM numbers(50000000) SETTINGS max_memory_usage = 1000000",
            )
    finally:
        server.stop()


def test_a_server_that_never_answers() -> None:
    calls: list[float] = []
    gate = ClickHouseDoor(http_connection("http://127.0.0.1:9/default", ""), sleep=calls.append)
    with pytest.raises(IndexUnavailable, match="could not create the table of migrations in 6 attempts"):
        ClickHouseEntityIndex(gate).load("s", *FOUR.postings())
    assert len(calls) == ATTEMPTS - 1


def test_the_profile_chooses_the_index(tmp_path: Path) -> None:
    from resources.entity_index import entity_index
    from resources.entity_index.local import LocalEntityIndex
    from starling_assets.settings import Settings

    settings = Settings.model_validate(
        {"profile": "cluster", "home": tmp_path, "cluster": {"clickhouse_url": "http://127.0.0.1:9/default"}}
    )
    assert isinstance(entity_index(settings), ClickHouseEntityIndex)
    assert isinstance(entity_index(settings.model_copy(update={"profile": "embedded"})), LocalEntityIndex)
