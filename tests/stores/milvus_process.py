"""Start and stop a Milvus Lite server in a process of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path


class MilvusProcess:
    """A Lite server over ``folder`` on loopback. ``STARLING_TEST_MILVUS_URI`` names a real server to use instead."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def uri(self) -> str:
        return os.environ.get("STARLING_TEST_MILVUS_URI") or f"http://127.0.0.1:{self.port}"

    def start(self, seconds: float = 50.0) -> None:
        if os.environ.get("STARLING_TEST_MILVUS_URI"):
            return
        if not self.port:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = int(probe.getsockname()[1])
        command = [
            str(Path(sys.executable).with_name("milvus-lite")), "server", "--data-dir", str(self.folder / "milvus"),
            "--host", "127.0.0.1", "--port", str(self.port),
        ]  # fmt: skip
        log = (self.folder / "milvus.log").open("ab")
        self._process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        log.close()
        end = time.monotonic() + seconds
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                if self._process.poll() is not None or time.monotonic() > end:
                    self.stop()
                    raise RuntimeError("the Milvus Lite server did not start") from None
                time.sleep(0.1)
            else:
                return

    def stop(self) -> None:
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None
