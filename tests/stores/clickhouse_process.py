"""Start and stop the HTTP face in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path


class ClickHouseProcess:
    """The face over ``folder``. ``port`` is fixed by the first start, so that a restart is found where it was."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "engine"
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/default"

    def start(self, seconds: float = 50.0) -> None:
        ready = self.folder.with_suffix(".port")
        ready.unlink(missing_ok=True)
        command = [sys.executable, "-m", "tests.stores.clickhouse_http", str(self.folder), str(self.port)]
        self._process = subprocess.Popen(command, cwd=Path(__file__).resolve().parents[2])
        end = time.monotonic() + seconds
        while not (ready.is_file() and ready.read_text()):
            if self._process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise RuntimeError("the HTTP face of the embedded engine did not start")
            time.sleep(0.05)
        self.port = int(ready.read_text())

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
