"""Fixtures: a small cluster, and a Dagster instance that launches into it as the chart configures it."""

from __future__ import annotations

import functools
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
import yaml

from .fake_kube_api import Cluster, fake_cluster

NAMESPACE = "starling"


@pytest.fixture(name="kube")
def kube_fixture(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A cluster with four GPUs; `vllm` on the path of its containers."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "vllm").write_text(f'#!/bin/sh\nexec "{sys.executable}" "{repository}/tests/k8s/fake_vllm.py" "$@"\n')
    (programs / "vllm").chmod(0o755)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    (tmp_path / "notes").mkdir()
    monkeypatch.setenv("POD_JOB_PORT", port)
    environment = {
        "PATH": os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(repository),
        "POD_JOB_PORT": port,
        "POD_JOB_NOTES": str(tmp_path / "notes"),
        "HOME": str(tmp_path),
    }
    with fake_cluster(4, environment) as (running, url):
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "fake", "cluster": {"server": url}}],
            "users": [{"name": "nobody", "user": {}}],
            "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "nobody", "namespace": NAMESPACE}}],
            "current-context": "fake",
        }
        (tmp_path / "kubeconfig").write_text(yaml.safe_dump(config))
        yield running


@pytest.fixture(name="kube_instance")
def kube_instance_fixture(
    tmp_path: Path, kube: Cluster, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dg.DagsterInstance]:
    """A Dagster instance that launches into that cluster, as the chart configures it."""
    home = tmp_path / "dagster"
    home.mkdir()
    launcher = {
        "module": "dagster_k8s",
        "class": "K8sRunLauncher",
        "config": {
            "load_incluster_config": False,
            "kubeconfig_file": str(tmp_path / "kubeconfig"),
            "job_namespace": NAMESPACE,
            "job_image": "registry.example.org/starling/code:1",
            "service_account_name": "starling",
            "instance_config_map": "dagster-instance",
            "dagster_home": str(home),
        },
    }
    (home / "dagster.yaml").write_text(yaml.safe_dump({"run_launcher": launcher, "telemetry": {"enabled": False}}))
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    # Only the pace: the executor looks at its jobs every second and not every twenty.
    import dagster_k8s.executor as under_test

    often = functools.partial(under_test.StepDelegatingExecutor, check_step_health_interval_seconds=1)
    monkeypatch.setattr(under_test, "StepDelegatingExecutor", often)
    with dg.DagsterInstance.get() as made:
        yield made


def notes(tmp_path: Path, op: str) -> list[str]:
    return [path.read_text() for path in sorted((tmp_path / "notes").glob(f"{op}-*"))]


def run(job: str, instance: dg.DagsterInstance) -> dg.ExecuteJobResult | object:
    from dagster._core.definitions.reconstruct import reconstructable

    from . import pod_job

    return dg.execute_job(reconstructable(getattr(pod_job, job)), instance=instance)
