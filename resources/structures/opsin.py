"""OPSIN as one long-lived JVM process: names on its standard input, SMILES on its standard output.

Starting the JVM takes about two seconds, a name a few milliseconds. Every wait is bounded; a process that does not
answer is ended and started anew once, and the name it choked on has no structure.
"""

from __future__ import annotations

import importlib.util
import queue
import shutil
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

_FIRST_ANSWER_SECONDS = 60.0
_ANSWER_SECONDS = 20.0
_LONGEST_NAME = 1_000


class OpsinUnavailable(Exception):
    """Java or the OPSIN jar is missing; the message says what to install."""


def opsin_jar() -> Path:
    """The jar inside the installed ``py2opsin`` package."""
    spec = importlib.util.find_spec("py2opsin")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    jars = sorted(folder.glob("opsin-cli-*.jar")) if folder else []
    if not jars:
        raise OpsinUnavailable("the OPSIN jar is missing: install the package py2opsin. Names keep no OPSIN structure.")
    return jars[-1]


class Opsin:
    """Names to SMILES. Thread-safe; one process, started on first use, ended by :meth:`close`."""

    def __init__(self, java: str = "java") -> None:
        self._java = java
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str | None] = queue.Queue()

    def available(self) -> str | None:
        """None when OPSIN can run, else one line that says what is missing."""
        if shutil.which(self._java) is None:
            return (
                "Java is not installed, so names get structures from vocabularies only. "
                "Install a Java runtime (17 or newer)."
            )
        try:
            opsin_jar()
        except OpsinUnavailable as error:
            return str(error)
        return None

    def smiles(self, names: Sequence[str]) -> list[str | None]:
        """One SMILES or None per name, in order."""
        with self._lock:
            return [self._one(name) for name in names]

    def close(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            self._stop()

    def _one(self, name: str) -> str | None:
        line = " ".join(name.split())
        # The process reads lines: an empty one would end the dialogue, an overlong one is no chemical name.
        if not line or len(line) > _LONGEST_NAME:
            return None
        for _ in range(2):
            first = self._process is None
            process = self._start() if self._process is None else self._process
            if process.stdin is None:
                return None
            try:
                process.stdin.write(line + "\n")
                process.stdin.flush()
                answer = self._answers.get(timeout=_FIRST_ANSWER_SECONDS if first else _ANSWER_SECONDS)
            except (OSError, queue.Empty):
                answer = None
            if answer is not None:
                return answer.strip() or None
            self._stop()
        return None

    def _start(self) -> subprocess.Popen[str]:
        problem = self.available()
        if problem:
            raise OpsinUnavailable(problem)
        process = subprocess.Popen(
            [self._java, "-Xmx512m", "-XX:+UseSerialGC", "-jar", str(opsin_jar()), "-osmi"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        self._process = process
        self._answers = queue.Queue()
        threading.Thread(target=_pump, args=(process, self._answers), daemon=True).start()
        return process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # the pipe of a killed process still holds bytes that nobody will read
                    continue


def _pump(process: subprocess.Popen[str], answers: queue.Queue[str | None]) -> None:
    stream = process.stdout
    if stream is None:
        return
    try:
        for line in stream:
            answers.put(line)
    except ValueError:
        return  # closed under the reader, when the process was stopped
    answers.put(None)
