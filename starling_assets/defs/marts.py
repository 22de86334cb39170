"""dbt marts over the judged datasets, as assets."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_dbt import DagsterDbtTranslator, DbtCliResource, DbtProject, dbt_assets

from resources.project import ProjectResource

DBT_FOLDER = Path(__file__).resolve().parents[2] / "dbt"
# dbt phones home unless told not to, and looks for newer versions of itself.
os.environ.setdefault("DBT_SEND_ANONYMOUS_USAGE_STATS", "false")

dbt_project = DbtProject(project_dir=DBT_FOLDER, profiles_dir=DBT_FOLDER)
if not dbt_project.manifest_path.exists():
    dbt_project.preparer.prepare(dbt_project)


class MartTranslator(DagsterDbtTranslator):
    """dbt's source `judged_dataset` is our asset of that name; models form the group `marts`."""

    def get_asset_key(self, dbt_resource_props: Mapping[str, Any]) -> dg.AssetKey:
        """Sources map to the assets that write them, models to their own names."""
        if dbt_resource_props["resource_type"] == "source":
            return dg.AssetKey("judged_dataset")
        return dg.AssetKey(dbt_resource_props["name"])

    def get_group_name(self, dbt_resource_props: Mapping[str, Any]) -> str:
        """One group for all marts."""
        del dbt_resource_props
        return "marts"


@dbt_assets(manifest=dbt_project.manifest_path, dagster_dbt_translator=MartTranslator(), pool="dbt")
def marts(context: dg.AssetExecutionContext, dbt: DbtCliResource, project: ProjectResource) -> Iterator[Any]:
    """Kept records, records per entity, fill rates and cost per kept record."""
    os.environ["STARLING_STORE"] = str(project.settings.store_root)
    os.environ["STARLING_DBT_DATABASE"] = str(project.settings.home / "marts.duckdb")
    yield from dbt.cli(["--no-version-check", "build"], context=context).stream()
