"""dbt marts over the judged datasets, as assets."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg

from resources.project import ProjectResource
from starling_assets.defs.mart_specs import asset_key, mart_checks, mart_specs

DBT_FOLDER = Path(__file__).resolve().parents[2] / "dbt"
MANIFEST = DBT_FOLDER / "target" / "manifest.json"
#: The dbt of this environment, whatever PATH says.
DBT = str(Path(sys.executable).parent / "dbt")
# dbt phones home unless told not to, and looks for newer versions of itself.
os.environ.setdefault("DBT_SEND_ANONYMOUS_USAGE_STATS", "false")


def ensure_manifest() -> Mapping[str, Any]:
    """The project's manifest, parsed again when a file of it changed; raises CalledProcessError when it is broken."""
    sources = [path for name in ("models", "macros", "tests") for path in (DBT_FOLDER / name).rglob("*.*")]
    newest = max(path.stat().st_mtime for path in [DBT_FOLDER / "dbt_project.yml", *sources])
    if not MANIFEST.exists() or MANIFEST.stat().st_mtime < newest:
        folders = ["--project-dir", str(DBT_FOLDER), "--profiles-dir", str(DBT_FOLDER)]
        subprocess.run([DBT, "--no-version-check", "parse", *folders], check=True, stdout=subprocess.DEVNULL)
    manifest: Mapping[str, Any] = json.loads(MANIFEST.read_bytes())
    return manifest


_manifest = ensure_manifest()


@dg.multi_asset(
    name="dbt_marts",
    specs=mart_specs(_manifest),
    check_specs=mart_checks(_manifest),
    can_subset=True,
    pool="dbt",
)
def marts(context: dg.AssetExecutionContext, project: ProjectResource) -> Iterator[Any]:
    """Kept records, records per entity, fill rates and cost per kept record."""
    # Here and not above: it imports dbt, and every process that loads the definitions would wait for that.
    from dagster_dbt import DagsterDbtTranslator, DbtCliResource

    class MartTranslator(DagsterDbtTranslator):
        """Keys as the specs have them."""

        def get_asset_key(self, dbt_resource_props: Mapping[str, Any]) -> dg.AssetKey:
            return asset_key(dbt_resource_props)

    home = project.settings.home
    home.mkdir(parents=True, exist_ok=True)
    os.environ["STARLING_STORE"] = str(project.settings.store_root)
    os.environ["STARLING_DBT_DATABASE"] = str(home / "marts.duckdb")
    manifest, translator = ensure_manifest(), MartTranslator()
    chosen = [key.to_user_string() for key in context.selected_asset_keys]
    chosen += [key.name for key in context.selected_asset_check_keys]
    # Only what was asked for: dbt would add the tests that touch a chosen model.
    arguments = ["--no-version-check", "build", "--indirect-selection", "empty", "--select", " ".join(sorted(chosen))]
    dbt = DbtCliResource(project_dir=str(DBT_FOLDER), profiles_dir=str(DBT_FOLDER), dbt_executable=DBT)
    invocation = dbt.cli(arguments, manifest=manifest, dagster_dbt_translator=translator, target_path=home / "dbt")
    for event in invocation.stream_raw_events():
        yield from event.to_default_asset_events(manifest, translator, context, invocation.target_path)
