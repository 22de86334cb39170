"""The ledger of model calls: one JSON line per call, with what was asked, what it cost and how it ended.

Each process appends to a file of its own, so writers never wait for each other and a line is never interleaved. A call
that was killed in flight leaves no line.
"""

from __future__ import annotations

import os
import threading
import uuid
from pathlib import Path

import orjson
import polars as pl
from pydantic import BaseModel, ConfigDict

SCHEMA = pl.Schema(
    {
        "started_at": pl.String,
        "role": pl.String,
        "purpose": pl.String,
        "unit": pl.String,
        "model": pl.String,
        "prompt": pl.String,
        "outcome": pl.String,
        "message": pl.String,
        "prompt_tokens": pl.Int64,
        "completion_tokens": pl.Int64,
        "cached_tokens": pl.Int64,
        "latency_seconds": pl.Float64,
        "cost": pl.Float64,
        "retries": pl.Int64,
    }
)
OK = "ok"


class LedgerError(Exception):
    """The ledger cannot be written or read; the message says where and what to do."""


class LedgerEntry(BaseModel):
    """One call with all its tries. ``outcome`` is ``ok`` or the failure's kind; ``cost`` is in US dollars.

    ``started_at`` is UTC in ISO 8601; ``latency_seconds`` runs from the first send to the outcome, waits included.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    started_at: str
    role: str
    purpose: str
    unit: str
    model: str
    prompt: str
    outcome: str
    message: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    latency_seconds: float = 0.0
    cost: float = 0.0
    retries: int = 0


class Ledger:
    """Appends to ``folder/calls-<pid>-<random>.jsonl``; safe to share between threads and after a fork."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._pid = 0
        self._path = folder

    def write(self, entry: LedgerEntry) -> None:
        """Append one line; on return it is on disk. Raises :class:`LedgerError` when the disk refuses it."""
        line = orjson.dumps(entry.model_dump()) + b"\n"
        with self._lock:
            if self._pid != os.getpid():
                self._pid = os.getpid()
                self._path = self.folder / f"calls-{self._pid:08d}-{uuid.uuid4().hex[:8]}.jsonl"
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
                try:
                    _write_whole(descriptor, line)
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
            except OSError as error:
                self._pid = 0  # what was half written stays the last line of its file
                raise LedgerError(
                    f"cannot write the ledger {self._path}: {error.strerror or error}. Free space or fix the folder's "
                    "permissions, then run the same command again."
                ) from error


def read_ledger(folder: Path) -> pl.DataFrame:
    """All calls of all processes, in order of their start. A line that was cut off at the end of a file is left out.

    A damaged line elsewhere raises :class:`LedgerError` naming file and line: it is not an interrupted write.
    """
    rows: list[dict[str, object]] = []
    for path in sorted(folder.glob("calls-*.jsonl")):
        lines = path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, start=1):
            if not line:
                continue
            try:
                rows.append(LedgerEntry.model_validate_json(line).model_dump())
            except ValueError as error:
                if number == len(lines):  # no line end after it: the writer was killed
                    continue
                raise LedgerError(
                    f"{path}, line {number} is damaged. Move the file away to go on without it."
                ) from error
    return pl.DataFrame(rows, schema=SCHEMA).sort("started_at", "purpose", "unit")


def _write_whole(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
