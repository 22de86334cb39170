"""dbt marts over the judged datasets, as assets."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_dbt import DagsterDbtTranslator, DbtCliResource, DbtProject, dbt_assets

from resources.project import ProjectResource

DBT_FOLDER = Path(__file__).resolve().parents[2] / "dbt"
#: The dbt of this environment, whatever PATH says.
DBT = str(Path(sys.executable).parent / "dbt")
# dbt phones home unless told not to, and looks for newer versions of itself.
os.environ.setdefault("DBT_SEND_ANONYMOUS_USAGE_STATS", "false")

dbt_project = DbtProject(project_dir=DBT_FOLDER, profiles_dir=DBT_FOLDER)


def ensure_manifest() -> Path:
    """The project's manifest, parsed once per checkout; raises CalledProcessError when it is broken."""
    if not dbt_project.manifest_path.exists():
        command = [
            DBT,
            "--no-version-check",
            "parse",
            "--project-dir",
            str(DBT_FOLDER),
            "--profiles-dir",
            str(DBT_FOLDER),
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return dbt_project.manifest_path


class MartTranslator(DagsterDbtTranslator):
    """Models are named after themselves, without a schema prefix, and form the group `marts`."""

    def get_asset_key(self, dbt_resource_props: Mapping[str, Any]) -> dg.AssetKey:
        """Sources keep the asset key that their `meta` states."""
        if dbt_resource_props["resource_type"] == "source":
            return super().get_asset_key(dbt_resource_props)
        return dg.AssetKey(dbt_resource_props["name"])

    def get_group_name(self, dbt_resource_props: Mapping[str, Any]) -> str:
        """One group for all marts."""
        del dbt_resource_props
        return "marts"


@dbt_assets(name="dbt_marts", manifest=ensure_manifest(), dagster_dbt_translator=MartTranslator(), pool="dbt")
def marts(context: dg.AssetExecutionContext, dbt: DbtCliResource, project: ProjectResource) -> Iterator[Any]:
    """Kept records, records per entity, fill rates and cost per kept record."""
    os.environ["STARLING_STORE"] = str(project.settings.store_root)
    os.environ["STARLING_DBT_DATABASE"] = str(project.settings.home / "marts.duckdb")
    yield from dbt.cli(["--no-version-check", "build"], context=context).stream()
