"""Child processes that touch untrusted PDFs: bounded in memory, CPU time and wall clock, and without any secret."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from starling_assets.settings.model import LiteratureSettings

_MAX_OUTPUT = 200_000_000
_CRASHES = frozenset({-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGTRAP, -signal.SIGILL, -signal.SIGBUS, 1})


def run_child(path: Path, limits: LiteratureSettings, *, layout: bool = True) -> dict[str, Any]:
    """What the child process says of ``path``, or ``{"problem": reason}``, also when it was stopped.

    With ``layout`` its blocks (``chunks``), without it the text of the pages that need OCR (``layers``).
    """
    command = [
        sys.executable, "-m", "starling_assets.literature.pdf_child", str(path.resolve()), str(limits.pdf_memory_bytes),
        str(cpu_seconds(limits)), str(limits.pdf_pages), "layout" if layout else "statuses",
    ]  # fmt: skip
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=child_environment(),
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=limits.pdf_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return {"problem": f"took longer than {limits.pdf_seconds:g} s (literature.pdf_seconds)"}
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0 or len(output) > _MAX_OUTPUT:
        return {"problem": explain_exit(process.returncode, limits)}
    try:
        result = json.loads(output)
    except ValueError:
        return {"problem": "the PDF reader gave no answer"}
    return result if isinstance(result, dict) else {"problem": "the PDF reader gave no answer"}


def cpu_seconds(limits: LiteratureSettings) -> int:
    """CPU time a child may use, in whole seconds."""
    return max(1, int(limits.pdf_seconds))


def child_environment(**more: str) -> dict[str, str]:
    """The environment of a child that reads an untrusted file: no secret of this process goes along."""
    environment = {
        name: os.environ[name] for name in ("PATH", "HOME", "LANG", "PYTHONPATH", "VIRTUAL_ENV") if name in os.environ
    }
    package_root = str(Path(__file__).resolve().parents[2])
    environment["PYTHONPATH"] = os.pathsep.join(part for part in (package_root, environment.get("PYTHONPATH")) if part)
    return environment | more


def explain_exit(code: int, limits: LiteratureSettings) -> str:
    """Why a child that reads a PDF ended with ``code``; one line for a person."""
    if code in {-signal.SIGXCPU, -signal.SIGKILL}:
        return f"took more than {limits.pdf_seconds:g} s of CPU time (literature.pdf_seconds)"
    if code in _CRASHES:
        return f"the PDF reader needed more than {limits.pdf_memory_bytes:,} bytes of memory or crashed on this file"
    return f"the PDF reader stopped with code {code}"
