"""The marts' specs, read from the manifest without dbt, against those dagster-dbt makes of the same manifest."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

import dagster as dg
import pytest

from starling_assets.defs.mart_specs import asset_key, mart_checks, mart_specs

from .conftest import Dbt


@pytest.fixture(scope="module")
def manifest(built: Dbt) -> Mapping[str, Any]:
    read: Mapping[str, Any] = json.loads((built.scratch / "target" / "manifest.json").read_bytes())
    return read


def test_marts_stand_on_the_judged_dataset(manifest: Mapping[str, Any]) -> None:
    specs = {spec.key.to_user_string(): spec for spec in mart_specs(manifest)}
    assert {dep.asset_key for dep in specs["stg_judged_records"].deps} == {dg.AssetKey("judged_dataset")}
    assert {"kept_records", "records_per_entity", "field_fill_rate", "cost_per_kept_record"} <= set(specs)
    assert all(spec.group_name == "marts" and spec.code_version for spec in specs.values())


def test_description_columns_and_sql_are_there_to_look_at(manifest: Mapping[str, Any]) -> None:
    spec = next(spec for spec in mart_specs(manifest) if spec.key == dg.AssetKey("kept_records"))
    assert spec.description is not None
    assert spec.description.startswith("Records that passed all five axes")
    assert "```sql" in spec.description
    schema = spec.metadata["dagster/column_schema"]
    assert isinstance(schema, dg.TableSchema)
    assert "record_id" in {column.name for column in schema.columns}


@pytest.mark.filterwarnings("ignore:sqlglotrs is deprecated:DeprecationWarning")
def test_same_assets_edges_and_checks_as_dagster_dbt_makes(manifest: Mapping[str, Any]) -> None:
    from dagster_dbt import DagsterDbtTranslator, dbt_assets

    class Translator(DagsterDbtTranslator):
        def get_asset_key(self, dbt_resource_props: Mapping[str, Any]) -> dg.AssetKey:
            return asset_key(dbt_resource_props)

    @dbt_assets(manifest=manifest, dagster_dbt_translator=Translator())
    def reference():  # type: ignore[no-untyped-def]  # an annotation would be read as the outputs' types
        yield

    def edges(specs: Any) -> dict[str, set[str]]:
        return {spec.key.to_user_string(): {dep.asset_key.to_user_string() for dep in spec.deps} for spec in specs}

    def checks(specs: Any) -> set[tuple[Any, ...]]:
        return {
            (spec.asset_key, spec.name, spec.blocking, frozenset(dep.asset_key for dep in spec.additional_deps))
            for spec in specs
        }

    assert edges(mart_specs(manifest)) == edges(reference.specs)
    assert checks(mart_checks(manifest)) == checks(reference.check_specs)


def test_a_warning_does_not_block_what_follows(manifest: Mapping[str, Any]) -> None:
    changed = copy.deepcopy(dict(manifest))
    test = next(node for node in changed["nodes"].values() if node["name"] == "unique_kept_records_record_id")
    test["config"]["severity"] = "warn"
    blocking = {spec.name: spec.blocking for spec in mart_checks(changed)}
    assert not blocking["unique_kept_records_record_id"]
    assert all(value for name, value in blocking.items() if name != "unique_kept_records_record_id")
