"""The executor of each profile."""

from __future__ import annotations

import dagster as dg
import pytest

from resources.gpu_jobs import executor_for
from starling_assets.settings import Settings


def test_one_machine_runs_steps_in_the_process_of_the_run() -> None:
    assert executor_for(Settings()) is dg.in_process_executor


@pytest.fixture(scope="module")
def cluster_executor() -> dg.ExecutorDefinition:
    return executor_for(
        Settings.model_validate({"profile": "cluster", "cluster": {"namespace": "lab", "job_deadline_seconds": 900}})
    )


def test_the_cluster_runs_each_step_as_a_job(cluster_executor: dg.ExecutorDefinition) -> None:
    assert cluster_executor.name == "k8s_job_executor"


def test_steps_without_a_model_end_in_time_too(cluster_executor: dg.ExecutorDefinition) -> None:
    processed = cluster_executor.apply_config_mapping({"config": {}})
    assert processed.success
    config = processed.value["config"]
    assert config["job_namespace"] == "lab"
    assert config["enable_owner_references"] is True
    assert config["step_k8s_config"]["job_spec_config"] == {"backoff_limit": 0, "active_deadline_seconds": 900}


def test_an_asset_job_can_use_it(cluster_executor: dg.ExecutorDefinition) -> None:
    @dg.asset
    def anything() -> int:
        """An asset."""
        return 1

    definitions = dg.Definitions(assets=[anything], jobs=[dg.define_asset_job("all")], executor=cluster_executor)
    assert definitions.resolve_job_def("all").executor_def is cluster_executor
