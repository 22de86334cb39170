"""The model server as a native sidecar: it starts before the step, stays beside it, and ends with it."""

from __future__ import annotations

from typing import Any

from .models import ModelSpec

#: Claim of the shared model cache (k8s/base/storage.yaml) and where the server sees it.
CACHE_CLAIM = "starling-model-cache"
CACHE_PATH = "/models"
#: Secret with a hub token, for gated models only; the pod starts without it. Its name, never a value, is in manifests.
HUB_SECRET = "starling-hub"  # noqa: S105 - the name of a Secret object, not a secret
#: The unprivileged user that the server's image ships (`vllm`), with a home folder it may write to.
SERVER_UID = 2_000
SIDECAR_NAME = "model"
_PROBE_SECONDS = 10


def sidecar(spec: ModelSpec) -> dict[str, Any]:
    """The container of the model server, with Kubernetes' snake_case field names.

    ``restart_policy: Always`` on an init container is what makes it a sidecar (stable since Kubernetes 1.33): the step
    starts only after the start-up probe passed, a crashed server is started again, and the server is stopped once the
    step is done, so it never keeps the job from finishing.
    """
    if spec.image is None:
        raise ValueError(f"the spec of {spec.model} names no image: take it from model_of, which fills it in")
    return {
        "name": SIDECAR_NAME,
        "image": spec.image,
        "image_pull_policy": "IfNotPresent",
        "restart_policy": "Always",
        "command": ["vllm", "serve", spec.model],
        "args": [
            # Only the step in this pod may ask: containers of a pod share the loopback device, nobody else does.
            *("--host", "127.0.0.1", "--port", str(spec.port)),
            *("--served-model-name", spec.model),
            *("--tensor-parallel-size", str(spec.gpus)),
            *("--max-model-len", str(spec.max_length)),
            *("--gpu-memory-utilization", str(spec.gpu_memory_share)),
            # Sampling as the call says, and not as the model's repository suggests.
            *("--generation-config", "vllm"),
            *spec.arguments,
        ],
        "env": [
            {"name": "HF_HOME", "value": f"{CACHE_PATH}/hub"},
            {"name": "VLLM_NO_USAGE_STATS", "value": "1"},
            {"name": "DO_NOT_TRACK", "value": "1"},
            {"name": "HF_HUB_DISABLE_TELEMETRY", "value": "1"},
            {
                "name": "HF_TOKEN",
                "value_from": {"secret_key_ref": {"name": HUB_SECRET, "key": "token", "optional": True}},
            },
        ],
        "resources": {
            "requests": {"cpu": spec.cpu, "memory": spec.memory, "nvidia.com/gpu": str(spec.gpus)},
            "limits": {"memory": spec.memory, "nvidia.com/gpu": str(spec.gpus)},
        },
        "startup_probe": _probe(spec, failures=-(-spec.startup_seconds // _PROBE_SECONDS), period=_PROBE_SECONDS),
        "liveness_probe": _probe(spec, failures=6, period=30),
        "security_context": {
            "run_as_user": SERVER_UID,
            "run_as_non_root": True,
            "allow_privilege_escalation": False,
            "capabilities": {"drop": ["ALL"]},
            # The root file system stays writable: the server compiles kernels below its home folder.
        },
        # The last log lines of a server that dies become the container's message, which `kubectl describe` shows.
        "termination_message_policy": "FallbackToLogsOnError",
        "volume_mounts": [
            {"name": "shared-memory", "mount_path": "/dev/shm"},  # noqa: S108 - where NCCL looks for it
            {"name": "model-cache", "mount_path": CACHE_PATH},
        ],
    }


def volumes(spec: ModelSpec) -> list[dict[str, Any]]:
    """Volumes of the pod that :func:`sidecar` mounts."""
    return [
        {"name": "shared-memory", "empty_dir": {"medium": "Memory", "size_limit": spec.shared_memory}},
        {"name": "model-cache", "persistent_volume_claim": {"claim_name": CACHE_CLAIM}},
    ]


def _probe(spec: ModelSpec, failures: int, period: int) -> dict[str, Any]:
    # An HTTP probe comes from the node and would not reach a server on the pod's loopback device: ask from inside.
    ask = f"import urllib.request as r; r.urlopen('http://127.0.0.1:{spec.port}/health', timeout=5)"
    return {
        "exec": {"command": ["python3", "-c", ask]},
        "period_seconds": period,
        "timeout_seconds": 8,
        "failure_threshold": failures,
    }
