"""The Job manifest of a step, built by the code that Dagster's executor builds it with: for validation and review.

``python -m resources.gpu_jobs.manifest`` prints one manifest per role as YAML, with the settings of the project.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from starling_assets.settings import Settings, SettingsError, load_settings

from .models import ROLE_MODELS
from .step_config import CONFIG_TAG, op_tags


def job_manifest(role: str, settings: Settings, image: str, claims: dict[str, str] | None = None) -> dict[str, Any]:
    """The ``batch/v1`` Job of one step that asks ``role``, as the API server would receive it (camelCase).

    ``image`` is the code image; ``claims`` maps volume claims to mount paths that the run launcher adds to every pod.
    """
    import kubernetes
    from dagster_k8s.job import DagsterK8sJobConfig, construct_dagster_k8s_job, get_user_defined_k8s_config

    # Tag values travel as JSON text: what is not plain data would fail here, as it would in a run.
    tags = {CONFIG_TAG: json.dumps(op_tags(role, settings)[CONFIG_TAG])}
    claims = claims or {}
    job = construct_dagster_k8s_job(
        job_config=DagsterK8sJobConfig(
            job_image=image,
            image_pull_policy="IfNotPresent",
            service_account_name="starling",
            instance_config_map="dagster-instance",
            volumes=[{"name": claim, "persistent_volume_claim": {"claim_name": claim}} for claim in claims],
            volume_mounts=[{"name": claim, "mount_path": path} for claim, path in claims.items()],
        ),
        args=["dagster", "api", "execute_step"],
        job_name=f"dagster-step-{role}",
        user_defined_k8s_config=get_user_defined_k8s_config(tags),
        component="step_worker",
    )
    manifest: dict[str, Any] = kubernetes.client.ApiClient().sanitize_for_serialization(job)
    return manifest


def main() -> int:
    """Print the manifests of all roles; 1 with a message when the settings are wrong."""
    import yaml

    try:
        settings = load_settings()
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    manifests = [
        job_manifest(role, settings, image="starling-code:local", claims={"starling-store": "/var/starling"})
        for role in sorted(ROLE_MODELS)
    ]
    yaml.safe_dump_all(manifests, sys.stdout, sort_keys=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
