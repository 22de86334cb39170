"""Values for Dagster's chart, put through Dagster's own configuration types; what the chart would write is rebuilt."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import kubernetes
import kubernetes_validate
import pytest
import yaml

from resources.gpu_jobs import CONFIG_TAG, op_tags
from starling_assets.settings import Settings


@pytest.fixture(scope="module")
def values(repository: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((repository / "k8s/dagster-values.yaml").read_text())
    return loaded


@pytest.fixture(scope="module")
def deployment(values: dict[str, Any]) -> dict[str, Any]:
    (only,) = values["dagster-user-deployments"]["deployments"]
    assert isinstance(only, dict)
    return only


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda match: "_" + match.group(1).lower(), name)


def launcher_config(values: dict[str, Any]) -> dict[str, Any]:
    """Configuration of K8sRunLauncher that the chart derives from the values."""
    given = values["runLauncher"]["config"]["k8sRunLauncher"]
    return {
        "instance_config_map": "dagster-instance",
        "postgres_password_secret": values["global"]["postgresqlSecretName"],
        "dagster_home": values["global"]["dagsterHome"],
        "service_account_name": values["serviceAccount"]["name"],
        "job_namespace": "starling",
        "load_incluster_config": given["loadInclusterConfig"],
        "image_pull_policy": given["imagePullPolicy"],
        "fail_pod_on_run_failure": given["failPodOnRunFailure"],
        "run_k8s_config": {snake(key): value for key, value in given["runK8sConfig"].items()},
    }


def code_location_context(deployment: dict[str, Any]) -> dict[str, Any]:
    """The container context that the chart hands to runs of the code location."""
    assert deployment["includeConfigInLaunchedRuns"] == {"enabled": True}
    return {
        "k8s": {
            "env": deployment["env"],
            "env_secrets": [secret["name"] for secret in deployment["envSecrets"]],
            "volumes": deployment["volumes"],
            "volume_mounts": deployment["volumeMounts"],
            "resources": deployment["resources"],
            "security_context": deployment["securityContext"],
            "run_k8s_config": {"pod_spec_config": {"security_context": deployment["podSecurityContext"]}},
        }
    }


def merged_step(values: dict[str, Any], deployment: dict[str, Any], tags: dict[str, str]) -> dict[str, Any]:
    """A step's Job with everything merged in the executor's order: run launcher, code location, op tags."""
    from dagster_k8s.container_context import K8sContainerContext
    from dagster_k8s.job import UserDefinedDagsterK8sConfig, construct_dagster_k8s_job, get_user_defined_k8s_config

    launcher = launcher_config(values)
    of_launcher = K8sContainerContext(
        image_pull_policy=launcher["image_pull_policy"],
        service_account_name=launcher["service_account_name"],
        namespace=launcher["job_namespace"],
        run_k8s_config=UserDefinedDagsterK8sConfig.from_dict(launcher["run_k8s_config"]),
    )
    of_location = K8sContainerContext.create_from_config(code_location_context(deployment))
    of_step = K8sContainerContext(run_k8s_config=get_user_defined_k8s_config(tags))
    context = of_launcher.merge(of_location).merge(of_step)
    image = deployment["image"]
    job = construct_dagster_k8s_job(
        job_config=context.get_k8s_job_config(f"{image['repository']}:{image['tag']}", SimpleNamespace(**launcher)),
        args=["dagster", "api", "execute_step"],
        job_name="dagster-step-1",
        user_defined_k8s_config=context.run_k8s_config,
        component="step_worker",
    )
    manifest: dict[str, Any] = kubernetes.client.ApiClient().sanitize_for_serialization(job)
    return manifest


@pytest.fixture(scope="module")
def step(values: dict[str, Any], deployment: dict[str, Any]) -> dict[str, Any]:
    """A step that asks the judge."""
    tags = {CONFIG_TAG: json.dumps(op_tags("judge", Settings(profile="cluster"))[CONFIG_TAG])}
    return merged_step(values, deployment, tags)


@pytest.fixture(scope="module")
def plain_step(values: dict[str, Any], deployment: dict[str, Any]) -> dict[str, Any]:
    """A step that asks no model."""
    return merged_step(values, deployment, {})


def test_the_run_launcher_accepts_its_configuration(values: dict[str, Any]) -> None:
    from dagster._config import process_config, resolve_to_config_type
    from dagster_k8s.launcher import K8sRunLauncher

    result = process_config(resolve_to_config_type(K8sRunLauncher.config_type()), launcher_config(values))
    assert result.success, result.errors


def test_dagster_accepts_the_instance_configuration(values: dict[str, Any]) -> None:
    from dagster._config import validate_config
    from dagster._core.instance.config import dagster_instance_config_schema

    daemon = values["dagsterDaemon"]
    coordinator = daemon["runCoordinator"]
    queued = coordinator["config"]["queuedRunCoordinator"]
    monitoring = {snake(key): value for key, value in daemon["runMonitoring"].items()}
    purge = values["retention"]["sensor"]["purgeAfterDays"]
    instance = {
        "run_coordinator": {
            "module": "dagster.core.run_coordinator",
            "class": coordinator["type"],
            "config": {
                "max_concurrent_runs": queued["maxConcurrentRuns"],
                "tag_concurrency_limits": queued["tagConcurrencyLimits"],
            },
        },
        "run_monitoring": monitoring,
        "run_retries": {snake(key): value for key, value in daemon["runRetries"].items()},
        "telemetry": values["telemetry"],
        "retention": {"sensor": {"purge_after_days": purge}},
        **values["additionalInstanceConfig"],
    }
    result = validate_config(dagster_instance_config_schema(), instance)
    assert result.success, result.errors


def test_the_queue_accepts_its_limits(values: dict[str, Any]) -> None:
    from dagster._config import process_config, resolve_to_config_type
    from dagster._core.run_coordinator import QueuedRunCoordinator

    queued = values["dagsterDaemon"]["runCoordinator"]["config"]["queuedRunCoordinator"]
    config = {snake(key): value for key, value in queued.items()}
    result = process_config(resolve_to_config_type(QueuedRunCoordinator.config_type()), config)
    assert result.success, result.errors


def test_a_step_with_everything_merged_is_valid(step: dict[str, Any]) -> None:
    for version in ("1.33", "1.37"):
        assert kubernetes_validate.validate(step, version, strict=True) == version


def test_a_step_without_a_model_is_valid_and_has_room_to_work(plain_step: dict[str, Any]) -> None:
    assert kubernetes_validate.validate(plain_step, "1.33", strict=True) == "1.33"
    spec = plain_step["spec"]["template"]["spec"]
    assert "initContainers" not in spec
    # The chart hands the code server's resources to its runs, where they win over those of the run launcher.
    assert spec["containers"][0]["resources"]["limits"] == {"memory": "12Gi"}
    assert plain_step["spec"]["backoffLimit"] == 0


def test_merging_keeps_the_shape_of_the_step(step: dict[str, Any]) -> None:
    spec = step["spec"]["template"]["spec"]
    assert step["spec"]["backoffLimit"] == 0
    assert step["spec"]["activeDeadlineSeconds"] == Settings().cluster.job_deadline_seconds
    assert [container["name"] for container in spec["initContainers"]] == ["model"]
    assert spec["serviceAccountName"] == "starling"
    drops = [c["securityContext"]["capabilities"]["drop"] for c in spec["containers"] + spec["initContainers"]]
    assert drops == [["ALL"], ["ALL"]]


def test_a_step_sees_settings_store_inbox_and_models(step: dict[str, Any]) -> None:
    spec = step["spec"]["template"]["spec"]
    mounts = {mount["mountPath"] for mount in spec["containers"][0]["volumeMounts"]}
    assert {"/etc/starling", "/var/starling", "/var/starling-inbox"} <= mounts
    names = [volume["name"] for volume in spec["volumes"]]
    assert len(names) == len(set(names))
    assert {"settings", "store", "inbox", "model-cache", "shared-memory"} == set(names)


def test_a_step_gets_secrets_by_name_and_its_model_by_address(step: dict[str, Any]) -> None:
    container = step["spec"]["template"]["spec"]["containers"][0]
    assert {"secretRef": {"name": "starling-secrets"}} in container["envFrom"]
    env = {item["name"]: item.get("value") for item in container["env"]}
    assert env["STARLING_PROJECT"] == "/etc/starling"
    assert env["STARLING_LLM_JUDGE_BASE_URL"] == "http://127.0.0.1:8000/v1"


def test_the_environment_names_only_settings_that_exist(step: dict[str, Any]) -> None:
    from starling_assets.settings import load_settings

    container = step["spec"]["template"]["spec"]["containers"][0]
    env = {item["name"]: item["value"] for item in container["env"] if item.get("value")}
    load_settings(Path("/nowhere"), environ=env)


def test_no_password_and_no_telemetry(repository: Path, values: dict[str, Any]) -> None:
    assert values["telemetry"]["enabled"] is False
    assert values["generatePostgresqlPasswordSecret"] is False
    text = (repository / "k8s/dagster-values.yaml").read_text()
    assert not re.search(r"(?i)^\s*\w*(password|token|api_?key)\s*:", text, re.MULTILINE)


def test_slots_of_dead_runs_are_given_back_and_retries_are_bounded(values: dict[str, Any]) -> None:
    daemon = values["dagsterDaemon"]
    assert daemon["runMonitoring"]["enabled"] is True
    assert daemon["runMonitoring"]["freeSlotsAfterRunEndSeconds"] > 0
    assert 0 < daemon["runRetries"]["maxRetries"] <= 3


def test_the_ui_is_not_published(values: dict[str, Any]) -> None:
    assert values["dagsterWebserver"]["service"]["type"] == "ClusterIP"
    assert values["ingress"]["enabled"] is False


def test_the_chart_version_named_is_that_of_the_locked_dagster(repository: Path) -> None:
    lock = (repository / "uv.lock").read_text()
    locked = re.search(r'^name = "dagster"\nversion = "([^"]+)"', lock, re.MULTILINE)
    assert locked is not None
    assert f"--version {locked[1]} " in (repository / "k8s/dagster-values.yaml").read_text()


def test_the_server_image_is_that_of_the_locked_vllm(repository: Path) -> None:
    lock = (repository / "uv.lock").read_text()
    locked = re.search(r'^name = "vllm"\nversion = "([^"]+)"', lock, re.MULTILINE)
    assert locked is not None
    assert Settings().cluster.vllm_image == f"vllm/vllm-openai:v{locked[1]}"


def test_the_code_image_installs_extras_that_exist_and_runs_unprivileged(repository: Path) -> None:
    import tomllib

    text = (repository / "k8s/images/code.Dockerfile").read_text()
    extras = tomllib.loads((repository / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    used = set(re.findall(r"--extra (\w[\w-]*)", text))
    assert {"clickhouse", "milvus"} <= used <= set(extras)
    assert re.search(r"^USER 1000:1000$", text, re.MULTILINE)
    copied = re.findall(r"^COPY (\w+) ", text, re.MULTILINE)
    assert all((repository / name).is_dir() for name in copied)
