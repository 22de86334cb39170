"""Settings of a cluster, and manifests as the API server would get them."""

from __future__ import annotations

from typing import Any

import pytest

from resources.gpu_jobs import ROLE_MODELS
from resources.gpu_jobs.manifest import job_manifest
from starling_assets.settings import Settings

ROLES = sorted(ROLE_MODELS)
#: Kubernetes versions that manifests are checked against: native sidecars are stable since 1.33.
VERSIONS = ("1.33", "1.34", "1.35", "1.36", "1.37")


@pytest.fixture(scope="session")
def cluster() -> Settings:
    """Settings of the cluster profile with nothing else changed."""
    return Settings(profile="cluster")


@pytest.fixture(scope="session", params=ROLES)
def job(request: pytest.FixtureRequest, cluster: Settings) -> dict[str, Any]:
    """The Job of a step, one per role."""
    return job_manifest(request.param, cluster, image="code:1", claims={"starling-store": "/var/starling"})


@pytest.fixture(scope="session")
def pod(job: dict[str, Any]) -> dict[str, Any]:
    """The pod spec of that Job."""
    spec: dict[str, Any] = job["spec"]["template"]["spec"]
    return spec


@pytest.fixture(scope="session")
def server(pod: dict[str, Any]) -> dict[str, Any]:
    """Its model server."""
    container: dict[str, Any] = pod["initContainers"][0]
    return container
