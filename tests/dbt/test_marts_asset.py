"""The marts as a step: what was asked for is built, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import dagster as dg
import pytest

from resources.project import ProjectResource

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(180),
    pytest.mark.filterwarnings("ignore:sqlglotrs is deprecated:DeprecationWarning"),
]


def test_one_mart_asked_for_is_the_one_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from starling_assets.defs.marts import marts

    # The step sets these for dbt; the test gives them back afterwards.
    for name in ("STARLING_STORE", "STARLING_DBT_DATABASE"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    (tmp_path / "starling.toml").write_text("")
    result = dg.materialize(
        [marts, dg.AssetSpec("judged_dataset")],
        resources={"project": ProjectResource(root=str(tmp_path))},
        selection=dg.AssetSelection.assets("stg_judged_records", "kept_records"),
    )
    assert result.success
    built = {event.asset_key.to_user_string() for event in result.get_asset_materialization_events() if event.asset_key}
    assert built == {"stg_judged_records", "kept_records"}
    checked = result.get_asset_check_evaluations()
    assert {"unique_kept_records_record_id", "not_null_kept_records_entity"} <= {check.check_name for check in checked}
    assert all(check.passed for check in checked)
    assert {check.asset_key.to_user_string() for check in checked} <= built
