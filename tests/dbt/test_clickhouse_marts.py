"""The same marts on ClickHouse: real SQL on the embedded engine, through the adapter that the cluster uses."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from starling_assets.artifacts.store import Store
from tests.stores.clickhouse_process import ClickHouseProcess

from .conftest import BBB, Dbt, dbt_on, stage, write_task

pytest.importorskip("chdb", reason="the group `stores` is not installed")
pytest.importorskip("dbt.adapters.clickhouse", reason="the extra `clickhouse` is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

MARTS = {
    "kept_records": "record_id, task, entity_key, label, value, fields, retracted",
    "records_per_entity": "task, entity_key, entity_name, label, records, papers, entity_papers, label_share",
    "field_fill_rate": "task, field, origin, records, filled, fill_rate",
    "cost_per_kept_record": "task, judged, kept, calls, cost, cost_per_kept_record",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseProcess]:
    process = ClickHouseProcess(tmp_path_factory.mktemp("clickhouse"))
    process.start()
    yield process
    process.stop()


def build(dbt: Dbt, server: ClickHouseProcess) -> subprocess.CompletedProcess[str]:
    """`dbt build` with the target `clickhouse`."""
    os.environ.update(CLICKHOUSE_PORT=str(server.port), STARLING_DBT_TARGET="clickhouse")
    try:
        return dbt.run("build")
    finally:
        del os.environ["CLICKHOUSE_PORT"], os.environ["STARLING_DBT_TARGET"]


def rows(server: ClickHouseProcess, columns: str, mart: str) -> list[list[Any]]:
    query = f"select {columns} from starling.{mart} format JSONCompact"  # noqa: S608 - names of this file
    reply = httpx.post(f"http://127.0.0.1:{server.port}/", content=query, timeout=20)
    assert reply.status_code == 200, reply.text
    found: list[list[Any]] = reply.json()["data"]
    return found


def comparable(values: Any) -> list[str]:
    """Rows as sorted text: ClickHouse writes 64-bit integers as text in JSON, and both write floats in full."""
    return sorted(str([str(float(v)) if isinstance(v, float) else str(v) for v in row]) for row in values)


@pytest.fixture(scope="module")
def on_clickhouse(repository: Path, tmp_path_factory: pytest.TempPathFactory, server: ClickHouseProcess) -> None:
    dbt = dbt_on(repository, tmp_path_factory.mktemp("store"))
    store = Store(dbt.store)
    write_task(store, "bbb", BBB, [stage("bbb", "extract", 10, 0.5), stage("bbb", "judge", 4, 0.1)])
    write_task(store, "oral", [], [stage("oral", "extract", 3, 0.03)])
    result = build(dbt, server)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("mart", sorted(MARTS))
def test_both_engines_give_the_same_mart(built: Dbt, on_clickhouse: None, server: ClickHouseProcess, mart: str) -> None:
    expected = built.rows(f"select {MARTS[mart]} from {mart}")  # noqa: S608 - names of this file
    found = [
        [float(v) if isinstance(e, float) and v is not None else v for v, e in zip(row, expected[0], strict=True)]
        for row in rows(server, MARTS[mart], mart)
    ]
    assert comparable(found) == comparable(expected)


def test_marts_build_before_the_first_dataset(
    repository: Path, tmp_path: Path, on_clickhouse: None, server: ClickHouseProcess
) -> None:
    result = build(dbt_on(repository, tmp_path), server)
    assert result.returncode == 0, result.stdout
    assert rows(server, "toUInt8(count())", "kept_records") == [[0]]
