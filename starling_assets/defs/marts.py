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
    """The project's manifest, parsed again when a file of it changed; raises CalledProcessError when it is broken."""
    manifest: Path = dbt_project.manifest_path
    sources = [path for name in ("models", "macros", "tests") for path in (DBT_FOLDER / name).rglob("*.*")]
    newest = max(path.stat().st_mtime for path in [DBT_FOLDER / "dbt_project.yml", *sources])
    if not manifest.exists() or manifest.stat().st_mtime < newest:
        folders = ["--project-dir", str(DBT_FOLDER), "--profiles-dir", str(DBT_FOLDER)]
        subprocess.run([DBT, "--no-version-check", "parse", *folders], check=True, stdout=subprocess.DEVNULL)
    return manifest


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
