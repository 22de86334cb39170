"""From a role to the Kubernetes configuration of a step: the step's container and, beside it, the model it asks.

How a step of this shape ends (F11). Every case ends the step visibly, within ``cluster.job_deadline_seconds``:

- step out of memory, evicted, pod deleted, node lost: the pod fails, and with ``backoffLimit`` 0 so does its job.
  Dagster's executor sees the failed job at its next look and either retries the step (the asset's retry policy: a
  bounded number of new jobs) or fails the run. A ``backoffLimit`` above 0 would start a pod that Dagster does not know
  of and leave the step in progress for ever.
- no node has the GPUs: the pod stays pending. The deadline counts from the job's start, so pending time is within it.
- model server out of memory or crashed: the kubelet starts it again; calls meanwhile fail with connection errors, which
  the one retry layer of the model door repeats. A server that never comes up holds the step back until the deadline.
- run cancelled: Dagster deletes the job; the step gets SIGTERM and has the grace period to close its journal.

Whatever the end, tables are written by rename and journals by whole part files: no half-written partition is visible,
and the next try pays only for what is missing.

``pod_failure_policy`` and ``pod_replacement_policy`` stay unset on purpose: with them a pod that is deleted while
pending is not counted as failed, and Dagster would wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starling_assets.settings import Settings, load_settings

from .models import ModelSpec, endpoint_of, model_of
from .sidecar import sidecar, volumes

#: The tag under which Dagster's Kubernetes executor looks for a step's configuration. Only op tags reach step pods, and
#: only under ``k8s_job_executor``; job tags do not.
CONFIG_TAG = "dagster-k8s/config"
#: The unprivileged user of the code image (k8s/images/code.Dockerfile).
STEP_UID = 1_000
GRACE_SECONDS = 60
DAY = 24 * 3600


def op_tags(role: str, settings: Settings | None = None, also: Sequence[str] = ()) -> dict[str, Any]:
    """Op tags of an asset that asks ``role`` (and the roles in ``also``, answered by the same server).

    Without ``settings`` those of the project are read. A role with an endpoint of its own (``llm.base_url`` or
    ``llm.<role>.base_url``) gets a step without a GPU. Raises ``ValueError`` for a role that no model serves, and
    ``SettingsError``. Executors other than ``k8s_job_executor`` ignore the tag.
    """
    return {CONFIG_TAG: step_config(role, settings or load_settings(), also)}


def step_config(role: str, settings: Settings, also: Sequence[str] = ()) -> dict[str, Any]:
    """The value of :data:`CONFIG_TAG`: plain JSON values with Kubernetes' snake_case field names."""
    role = str(role)
    spec = model_of(role, settings)
    local = [str(name) for name in (role, *also) if not endpoint_of(name, settings).base_url]
    config: dict[str, Any] = {
        "container_config": _step_container(),
        "pod_template_spec_metadata": {"labels": {"starling/role": role}},
        "pod_spec_config": {
            "termination_grace_period_seconds": GRACE_SECONDS,
            "enable_service_links": False,
            "security_context": {
                "run_as_user": STEP_UID,
                "run_as_non_root": True,
                # Both containers write to the shared volumes through this group.
                "fs_group": STEP_UID,
                "fs_group_change_policy": "OnRootMismatch",
                "seccomp_profile": {"type": "RuntimeDefault"},
            },
        },
        "job_spec_config": {
            "backoff_limit": 0,
            "active_deadline_seconds": settings.cluster.job_deadline_seconds,
            "ttl_seconds_after_finished": DAY,
        },
        "merge_behavior": "DEEP",
    }
    if local:
        _add_server(config, spec, local)
    return config


def _step_container() -> dict[str, Any]:
    return {
        "resources": {"requests": {"cpu": "1", "memory": "4Gi"}, "limits": {"memory": "12Gi"}},
        "security_context": {
            "run_as_non_root": True,
            "allow_privilege_escalation": False,
            "capabilities": {"drop": ["ALL"]},
        },
        "termination_message_policy": "FallbackToLogsOnError",
    }


def _add_server(config: dict[str, Any], spec: ModelSpec, roles: Sequence[str]) -> None:
    address = f"http://127.0.0.1:{spec.port}/v1"
    config["container_config"]["env"] = [
        variable
        for name in dict.fromkeys(roles)
        for variable in (
            {"name": f"STARLING_LLM_{name.upper()}_BASE_URL", "value": address},
            {"name": f"STARLING_LLM_{name.upper()}_MODEL", "value": spec.model},
        )
    ]
    config["pod_template_spec_metadata"]["labels"]["starling/model-server"] = "true"
    config["pod_spec_config"] |= {
        "init_containers": [sidecar(spec)],
        "volumes": volumes(spec),
        "node_selector": dict(spec.node_selector or {}),
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
    }
