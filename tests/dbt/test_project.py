"""The dbt project as Dagster and a fresh machine see it: offline, before any dataset, and with wrong data."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
import yaml

from starling_assets.artifacts.store import Store
from starling_assets.extraction.tables import AXES, RECORDS
from starling_assets.tagging.entity_types import EntityType

from .conftest import Dbt, dbt_on, record, stage, write_task


def test_marts_build_before_the_first_dataset(repository: Path, tmp_path: Path) -> None:
    dbt = dbt_on(repository, tmp_path)
    result = dbt.run("build")
    assert result.returncode == 0, result.stdout
    assert dbt.rows("select count(*) from kept_records") == [(0,)]
    assert dbt.rows("select count(*) from cost_per_kept_record") == [(0,)]


# Several tests build all marts, in processes of their own.
pytestmark = pytest.mark.timeout(180)

#: What is wrong with each record, and the test that has to notice it.
WRONG = {
    "unique_kept_records_record_id": [record("r1"), record("r1")],
    "accepted_values_stg_judged_records_entity_type": [record("r2", entity_type="Molecule")],
    "accepted_values_kept_records_qualifier": [record("r3", qualifier="about")],
    "not_null_kept_records_entity": [record("r4", entity=None)],
    "kept_records_are_the_dataset": [record("only judged")],
}


def test_each_kind_of_wrong_data_fails_the_test_that_names_it(repository: Path, tmp_path: Path) -> None:
    dbt = dbt_on(repository, tmp_path)
    store = Store(dbt.store)
    write_task(store, "bbb", [row for rows in WRONG.values() for row in rows], [stage("bbb", "extract", 1, 0.1)])
    dataset = store.read("judged_dataset", "bbb")
    store.write(dataset.filter(pl.col("record_id") != "only judged"), "judged_dataset", "bbb")
    assert dbt.run("run").returncode == 0
    assert dbt.run("test").returncode != 0
    results = json.loads((dbt.scratch / "target" / "run_results.json").read_text())["results"]
    failed = [item["unique_id"] for item in results if item["status"] == "fail"]
    assert all(any(name in test for test in failed) for name in WRONG), failed
    assert all(any(name in test for name in WRONG) for test in failed), failed


def test_columns_read_are_columns_of_the_contract(repository: Path) -> None:
    text = (repository / "dbt/models/staging/stg_judged_records.sql").read_text()
    read = dict(re.findall(r"'(\w+)': '(text|double|bool|int)'", text))
    contract = {**RECORDS, **dict.fromkeys(AXES, pl.Boolean), "kept": pl.Boolean}
    kinds = {pl.String: "text", pl.Float64: "double", pl.Boolean: "bool"}
    assert set(read) <= set(contract)
    assert read == {name: kinds[contract[name]] for name in read}


def test_entity_types_of_the_tests_are_those_of_the_tag_contract(repository: Path) -> None:
    schema = yaml.safe_load((repository / "dbt/models/staging/schema.yml").read_text())
    columns = {column["name"]: column for column in schema["models"][0]["columns"]}
    accepted = columns["entity_type"]["data_tests"][0]["accepted_values"]["arguments"]["values"]
    assert accepted == [str(kind) for kind in EntityType]


def test_every_mart_and_its_columns_are_described(repository: Path, built: Dbt) -> None:
    manifest = json.loads((built.scratch / "target" / "manifest.json").read_text())
    models = [node for node in manifest["nodes"].values() if node["resource_type"] == "model"]
    marts = {node["name"]: node for node in models if "marts" in node["path"]}
    assert set(marts) == {"kept_records", "records_per_entity", "field_fill_rate", "cost_per_kept_record"}
    assert all(node["description"] for node in models)


def test_usage_statistics_are_off_in_the_project_itself(repository: Path) -> None:
    flags = yaml.safe_load((repository / "dbt/dbt_project.yml").read_text())["flags"]
    assert flags["send_anonymous_usage_stats"] is False
    assert flags["version_check"] is False
