"""`starling up`: the Dagster UI and daemon on loopback, with the project's own home."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from rich.console import Console

from starling_assets.artifacts.locks import Busy, partition_lock

from .errors import UserError
from .instance import open_instance
from .project import Project

_PATIENCE_SECONDS = 30.0


def ui_command(project: Project, port: int | None = None) -> list[str]:
    """Command that serves the UI and runs the daemon over this code location."""
    settings = project.settings.serve
    return [
        str(Path(sys.executable).parent / "dagster"),
        "dev",
        "--module-name",
        "starling_assets.definitions",
        "--host",
        settings.host,
        "--port",
        str(port or settings.port),
    ]


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask the servers to end; insist after half a minute."""
    process.terminate()
    try:
        process.wait(timeout=_PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def serve(port: int | None) -> None:
    """Run until Ctrl-C; the drop folder is watched meanwhile."""
    project, console = Project(), Console()
    settings = project.settings
    settings.inbox.mkdir(parents=True, exist_ok=True)
    open_instance(settings).dispose()
    address = f"http://{settings.serve.host}:{port or settings.serve.port}"
    environment = {
        **os.environ,
        "DAGSTER_HOME": str(settings.dagster_home),
        "STARLING_PROJECT": str(project.root),
        "DAGSTER_DISABLE_TELEMETRY": "yes",
        # `dagster dev` is what `dg dev` calls; here it needs no project scan.
        "PYTHONWARNINGS": "ignore",
    }
    try:
        with partition_lock(settings.home / "serve", "the UI of this project"):
            console.print(f"UI: {address}    drop folder: {settings.inbox}    stop with Ctrl-C", soft_wrap=True)
            process = subprocess.Popen(ui_command(project, port), env=environment)
            # A service manager stops with SIGTERM; the servers below want the same orderly end as with Ctrl-C.
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            try:
                code = process.wait()
            except KeyboardInterrupt:
                _stop(process)
                return
            if code:
                raise UserError(f"the UI ended with code {code}; is port {port or settings.serve.port} in use?")
    except Busy:
        raise UserError(f"the UI of this project runs already: {address}") from None
