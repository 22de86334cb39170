"""A step through dagster-k8s and its executor, against the stand-in for the Kubernetes API."""

from __future__ import annotations

import time
from pathlib import Path

import dagster as dg
import pytest

from tests.k8s.fake_kube_api import Cluster
from tests.k8s.pods import NAMESPACE, kube_fixture, kube_instance_fixture, notes, run  # noqa: F401

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def test_a_step_asks_the_model_of_its_own_pod(tmp_path: Path, kube: Cluster, kube_instance: dg.DagsterInstance) -> None:
    result = run("good_pods", kube_instance)
    assert result.success  # type: ignore[attr-defined]
    assert notes(tmp_path, "asks_model") == ["Qwen/Qwen3.5-9B"]
    assert [name.rpartition("/")[2] for name in kube.started] == ["model", "dagster"]
    # Dagster goes by the step's own events; the pod ends a moment later.
    (job,) = kube.of_kind("jobs", NAMESPACE, {})
    deadline = time.monotonic() + 30
    while "conditions" not in job["status"] and time.monotonic() < deadline:
        time.sleep(0.1)
    assert job["status"]["succeeded"] == 1
    # The sidecar ended with the step; nothing is left running.
    assert not kube._processes
