"""The Job of every role, built by dagster-k8s's own code, without a cluster."""

from __future__ import annotations

import ast
from typing import Any

import kubernetes_validate
import pytest

from resources.gpu_jobs.manifest import job_manifest
from starling_assets.settings import Settings

from .conftest import ROLES, VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
def test_valid_for_every_supported_kubernetes(job: dict[str, Any], version: str) -> None:
    assert kubernetes_validate.validate(job, version, strict=True) == version


def test_the_validator_would_notice_an_unknown_field(job: dict[str, Any]) -> None:
    broken = {**job, "spec": {**job["spec"], "backofLimit": 0}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, VERSIONS[0], strict=True)


def test_a_failed_pod_is_never_replaced_behind_dagsters_back(job: dict[str, Any]) -> None:
    assert job["spec"]["backoffLimit"] == 0
    assert job["spec"]["template"]["spec"]["restartPolicy"] == "Never"
    # Either policy changes which pods count as failed.
    assert "podFailurePolicy" not in job["spec"]
    assert "podReplacementPolicy" not in job["spec"]


def test_an_unschedulable_or_hanging_step_ends_by_itself(job: dict[str, Any], cluster: Settings) -> None:
    assert job["spec"]["activeDeadlineSeconds"] == cluster.cluster.job_deadline_seconds
    # On the job, not the pod: the time of waiting for a node counts too.
    assert "activeDeadlineSeconds" not in job["spec"]["template"]["spec"]


def test_finished_jobs_are_removed_but_stay_long_enough_to_be_read(job: dict[str, Any]) -> None:
    assert job["spec"]["ttlSecondsAfterFinished"] == 24 * 3600


def test_the_model_server_is_a_native_sidecar(pod: dict[str, Any], server: dict[str, Any]) -> None:
    # As a second ordinary container it would keep the job from ever finishing.
    assert [container["name"] for container in pod["containers"]] == ["dagster"]
    assert [container["name"] for container in pod["initContainers"]] == ["model"]
    assert server["restartPolicy"] == "Always"


def test_the_step_starts_only_when_the_model_answers(server: dict[str, Any]) -> None:
    probe = server["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] >= 1_800
    assert "livenessProbe" in server
    assert "readinessProbe" not in server


@pytest.mark.parametrize("name", ["startupProbe", "livenessProbe"])
def test_probes_ask_from_inside_the_pod(server: dict[str, Any], name: str) -> None:
    # The kubelet asks the pod's address, where a server bound to the loopback device does not listen.
    assert "httpGet" not in server[name]
    assert "tcpSocket" not in server[name]
    interpreter, flag, code = server[name]["exec"]["command"]
    assert (interpreter, flag) == ("python3", "-c")
    ast.parse(code)
    port = server["args"][server["args"].index("--port") + 1]
    assert f"http://127.0.0.1:{port}/health" in code


def test_the_server_listens_on_loopback_alone(server: dict[str, Any]) -> None:
    assert server["args"][server["args"].index("--host") + 1] == "127.0.0.1"
    assert "ports" not in server


def test_no_container_shares_the_host(pod: dict[str, Any]) -> None:
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
    assert all("hostPath" not in volume for volume in pod["volumes"])


def test_the_step_asks_the_server_of_its_own_pod(pod: dict[str, Any], server: dict[str, Any]) -> None:
    env = {item["name"]: item["value"] for item in pod["containers"][0]["env"]}
    port = server["args"][server["args"].index("--port") + 1]
    addresses = {name: value for name, value in env.items() if name.endswith("_BASE_URL")}
    models = {name: value for name, value in env.items() if name.endswith("_MODEL")}
    assert set(addresses.values()) == {f"http://127.0.0.1:{port}/v1"}
    assert set(models.values()) == {server["args"][server["args"].index("--served-model-name") + 1]}


def test_what_the_step_is_told_are_settings_of_starling(pod: dict[str, Any]) -> None:
    from starling_assets.settings import load_settings

    env = {item["name"]: item["value"] for item in pod["containers"][0]["env"] if item["name"].startswith("STARLING_")}
    settings = load_settings(environ=env)
    told = [role for role in ROLES if getattr(settings.llm, role).base_url]
    assert len(told) == len(env) / 2 == 1


def test_gpus_match_the_parallelism_and_the_pod_is_let_onto_gpu_nodes(
    pod: dict[str, Any], server: dict[str, Any], cluster: Settings
) -> None:
    gpus = server["args"][server["args"].index("--tensor-parallel-size") + 1]
    assert server["resources"]["limits"]["nvidia.com/gpu"] == gpus
    assert server["resources"]["requests"]["nvidia.com/gpu"] == gpus
    assert pod["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    assert pod["nodeSelector"] == cluster.cluster.gpu_node_selector
    assert "nvidia.com/gpu" not in str(pod["containers"][0]["resources"])


def test_memory_is_bounded_and_shared_memory_fits_in_it(pod: dict[str, Any], server: dict[str, Any]) -> None:
    shared = next(volume for volume in pod["volumes"] if volume["name"] == "shared-memory")
    assert shared["emptyDir"]["medium"] == "Memory"
    limit = int(server["resources"]["limits"]["memory"].removesuffix("Gi"))
    assert int(shared["emptyDir"]["sizeLimit"].removesuffix("Gi")) < limit
    assert pod["containers"][0]["resources"]["limits"]["memory"]


def test_every_mount_has_its_volume(pod: dict[str, Any]) -> None:
    volumes = {volume["name"] for volume in pod["volumes"]}
    mounts = {m["name"] for c in pod["containers"] + pod["initContainers"] for m in c.get("volumeMounts", [])}
    assert mounts <= volumes
    assert len(volumes) == len(pod["volumes"])


def test_no_container_runs_as_root_or_can_become_it(pod: dict[str, Any]) -> None:
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in pod["containers"] + pod["initContainers"]:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert context.get("runAsUser", pod["securityContext"]["runAsUser"]) != 0


def test_secrets_are_named_never_written(pod: dict[str, Any]) -> None:
    for container in pod["containers"] + pod["initContainers"]:
        for variable in container.get("env", []):
            if any(word in variable["name"] for word in ("TOKEN", "KEY", "PASSWORD", "SECRET")):
                assert "value" not in variable
                assert variable["valueFrom"]["secretKeyRef"]["optional"] is True


def test_the_server_reports_nothing_to_anyone(server: dict[str, Any]) -> None:
    env = {item["name"]: item.get("value") for item in server["env"]}
    assert env["VLLM_NO_USAGE_STATS"] == env["DO_NOT_TRACK"] == env["HF_HUB_DISABLE_TELEMETRY"] == "1"


def test_the_manifest_is_the_same_each_time(cluster: Settings) -> None:
    first, second = (job_manifest("judge", cluster, image="code:1") for _ in range(2))
    assert first == second


def test_pods_of_all_roles_can_be_told_apart(cluster: Settings) -> None:
    labels = [
        job_manifest(role, cluster, image="code:1")["spec"]["template"]["metadata"]["labels"]["starling/role"]
        for role in ROLES
    ]
    assert labels == ROLES
