"""Base and overlays as kustomize renders them. Skipped with a reason where no kubectl is at hand."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from resources.gpu_jobs import ROLE_MODELS
from resources.gpu_jobs.sidecar import CACHE_CLAIM, HUB_SECRET
from starling_assets.settings import load_settings

FOLDERS = ("base", "overlays/single-gpu", "overlays/cloud")
Objects = dict[tuple[str, str], dict[str, Any]]


def _kubectl(repository: Path) -> str:
    fetched = repository / ".tools" / "kubectl"
    found = shutil.which("kubectl") or (str(fetched) if fetched.is_file() else None)
    if found is None:
        pytest.skip("no kubectl on PATH or in .tools (k8s/render.sh fetches one)")
    return found


@pytest.fixture(scope="module", params=FOLDERS)
def folder(request: pytest.FixtureRequest, repository: Path) -> Path:
    path: Path = repository / "k8s" / request.param
    return path


@pytest.fixture(scope="module")
def rendered(folder: Path, repository: Path) -> Objects:
    """Objects by kind and name."""
    command = [_kubectl(repository), "kustomize", str(folder)]
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=50).stdout
    documents = [document for document in yaml.safe_load_all(text) if document]
    objects = {(item["kind"], item["metadata"]["name"]): item for item in documents}
    assert len(objects) == len(documents)
    return objects


def test_every_object_is_valid(rendered: Objects) -> None:
    for item in rendered.values():
        assert kubernetes_validate.validate(item, "1.33", strict=True) == "1.33"


def test_no_secret_is_among_the_objects(rendered: Objects) -> None:
    assert not [name for kind, name in rendered if kind == "Secret"]
    for item in rendered.values():
        assert "stringData" not in item


def test_everything_lies_in_the_namespace_of_the_settings(rendered: Objects, folder: Path) -> None:
    namespace = tomllib.loads((folder / "starling.toml").read_text())["cluster"]["namespace"]
    assert ("Namespace", namespace) in rendered
    assert {item["metadata"]["namespace"] for (kind, _), item in rendered.items() if kind != "Namespace"} == {namespace}


def test_the_settings_that_pods_mount_are_those_of_the_folder_and_load(
    rendered: Objects, folder: Path, tmp_path: Path
) -> None:
    text = rendered["ConfigMap", "starling-settings"]["data"]["starling.toml"]
    assert text == (folder / "starling.toml").read_text()
    (tmp_path / "starling.toml").write_text(text)
    settings = load_settings(tmp_path, environ={})
    assert settings.profile == "cluster"
    assert settings.store_root == Path("/var/starling/store")
    assert settings.inbox == Path("/var/starling-inbox")


def test_the_claims_that_step_pods_mount_exist(rendered: Objects) -> None:
    claims = {name for kind, name in rendered if kind == "PersistentVolumeClaim"}
    assert {CACHE_CLAIM, "starling-store", "starling-inbox"} == claims


def test_the_account_may_do_nothing_outside_its_namespace(rendered: Objects) -> None:
    assert not {kind for kind, _ in rendered} & {"ClusterRole", "ClusterRoleBinding"}
    rules = rendered["Role", "starling"]["rules"]
    granted = {(resource, verb) for rule in rules for resource in rule["resources"] for verb in rule["verbs"]}
    assert "*" not in {part for pair in granted for part in pair}
    assert not [pair for pair in granted if pair[0] == "secrets"]
    # What dagster-k8s calls: create, look at, follow and delete step jobs and their pods.
    assert {("jobs", "create"), ("jobs/status", "get"), ("jobs", "delete"), ("pods/log", "get")} <= granted


def test_step_pods_accept_no_connection_and_cannot_reach_the_metadata_service(rendered: Objects) -> None:
    policies = {name: item["spec"] for (kind, name), item in rendered.items() if kind == "NetworkPolicy"}
    assert policies["default-deny-ingress"] == {"podSelector": {}, "policyTypes": ["Ingress"]}
    allowed = policies["within-the-namespace"]["podSelector"]["matchExpressions"]
    assert allowed == [
        {"key": "app.kubernetes.io/component", "operator": "NotIn", "values": ["step_worker", "run_worker"]}
    ]
    blocks = [to["ipBlock"] for rule in policies["workers-egress"]["egress"] for to in rule["to"] if "ipBlock" in to]
    assert all("169.254.0.0/16" in block["except"] for block in blocks)


def test_the_database_does_not_run_as_root(rendered: Objects, folder: Path) -> None:
    if folder.name == "cloud":
        assert not [name for kind, name in rendered if kind == "StatefulSet"]
        return
    pod = rendered["StatefulSet", "starling-postgres"]["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    password = next(env for env in pod["containers"][0]["env"] if env["name"] == "POSTGRES_PASSWORD")
    assert set(password) == {"name", "valueFrom"}


def test_one_gpu_serves_every_role_in_the_small_overlay(repository: Path) -> None:
    from resources.gpu_jobs import model_of

    settings = load_settings(repository / "k8s/overlays/single-gpu", environ={})
    agents = sorted(set(ROLE_MODELS) - {"embedder", "ocr"})
    assert {model_of(role, settings).model for role in agents} == {settings.llm.model}
    assert {model_of(role, settings).gpus for role in ROLE_MODELS} == {1}


def test_the_secrets_named_are_those_that_the_readme_lists(repository: Path) -> None:
    text = (repository / "k8s/README.md").read_text()
    for name in ("starling-postgres", "starling-secrets", HUB_SECRET):
        assert f"`{name}`" in text
