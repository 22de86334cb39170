"""The asset graph as a snapshot, and the policy every asset must state."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from syrupy.assertion import SnapshotAssertion

from starling_assets.definitions import defs
from starling_assets.defs.policy import FILL_GAPS, FOLLOW_INPUTS


def graph() -> dg.AssetGraph:  # type: ignore[name-defined]
    return defs.resolve_asset_graph()


def described(node: Any) -> dict[str, Any]:
    partitions = node.partitions_def
    return {
        "group": node.group_name,
        "deps": sorted(key.to_user_string() for key in node.parent_keys),
        "partitions": type(partitions).__name__ if partitions else None,
        "checks": sorted(key.name for key in node.check_keys),
        "automation": getattr(node.automation_condition, "label", None),
        "pools": sorted(node.pools or ()),
    }


def test_the_graph_is_as_reviewed(snapshot: SnapshotAssertion) -> None:
    """Keys, groups, dependencies, partitions, checks, automation and pools; review every change of this file."""
    nodes = {key.to_user_string(): described(graph().get(key)) for key in graph().get_all_asset_keys()}
    assert dict(sorted(nodes.items())) == snapshot


def test_jobs_and_sensors_are_as_reviewed(snapshot: SnapshotAssertion) -> None:
    repository = defs.get_repository_def()
    assert {
        "jobs": sorted(job.name for job in repository.get_all_jobs() if not job.name.startswith("__")),
        "sensors": sorted(f"{sensor.name}: {sensor.default_status.value}" for sensor in repository.sensor_defs),
    } == snapshot


def test_every_partitioned_asset_states_backfill_policy_and_pool() -> None:
    missing = []
    for definition in defs.resolve_asset_graph().assets_defs:
        if not definition.is_executable or definition.partitions_def is None:
            continue
        if definition.backfill_policy is None:
            missing.append(f"{definition.key}: backfill policy")
        if not definition.op.pool:
            missing.append(f"{definition.key}: pool")
    assert missing == []


def test_every_asset_has_owner_description_and_stage() -> None:
    for definition in defs.resolve_asset_graph().assets_defs:
        for spec in definition.specs:
            assert spec.owners == ["team:starling"], spec.key
            assert spec.tags["starling/stage"], spec.key
            assert spec.description, spec.key


def test_automation_fills_cells_and_follows_datasets() -> None:
    nodes = graph()
    for name in ("retrieval_set", "subcorpus", "raw_extractions", "judgments"):
        assert nodes.get(dg.AssetKey(name)).automation_condition == FILL_GAPS
    assert nodes.get(dg.AssetKey("judged_dataset")).automation_condition == FOLLOW_INPUTS
    assert nodes.get(dg.AssetKey("papers")).automation_condition is None


def test_model_hungry_assets_carry_the_shape_of_their_step() -> None:
    by_key = {key.to_user_string(): d for d in defs.resolve_asset_graph().assets_defs for key in d.keys}
    for name in ("raw_extractions", "judgments"):
        config = by_key[name].op.tags["dagster-k8s/config"]
        assert "active_deadline_seconds" in str(config)


@pytest.mark.slow
def test_heavy_libraries_are_not_imported_with_the_code_location(repository: Path) -> None:
    heavy = (
        "torch", "rdkit", "faiss", "onnxruntime", "clickhouse_connect", "pymilvus", "openai", "xllamacpp",
        "dbt", "dagster_dbt", "networkx", "httpx", "duckdb", "kubernetes",
    )  # fmt: skip
    code = f"import sys, starling_assets.definitions\nprint([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True,
        env={**os.environ, "DAGSTER_DISABLE_TELEMETRY": "yes"},
    )  # fmt: skip
    assert done.stdout.strip().splitlines()[-1] == "[]"
