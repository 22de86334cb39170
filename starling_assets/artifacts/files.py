"""Atomic file writes: a reader sees the old bytes or the new ones, never a mixture."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


class StoreError(Exception):
    """A read or write of the artifact store failed; the message says where and what to do."""


def write_atomically(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Write ``path`` through a temporary file in the same folder, fsync it, then rename.

    ``write`` receives the open binary file. A failure (disk full, read-only store) leaves the earlier
    file intact and raises :class:`StoreError`.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    except OSError as error:
        raise StoreError(_explain(path, error)) from error
    try:
        with os.fdopen(descriptor, "wb") as handle:
            write(handle)
            handle.flush()
            os.fsync(handle.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
        _sync_folder(path.parent)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise StoreError(_explain(path, error)) from error
        raise


def write_bytes(path: Path, data: bytes) -> None:
    """Atomic counterpart of :meth:`pathlib.Path.write_bytes`."""
    write_atomically(path, lambda handle: _write_all(handle, data))


def write_text(path: Path, text: str) -> None:
    """Atomic counterpart of :meth:`pathlib.Path.write_text`, always UTF-8 with ``\\n`` line ends."""
    write_bytes(path, text.encode("utf-8"))


def _write_all(handle: BinaryIO, data: bytes) -> None:
    handle.write(data)


def _sync_folder(folder: Path) -> None:
    # A rename is durable only when the folder's own entry has reached the disk.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _explain(path: Path, error: OSError) -> str:
    reason = error.strerror or str(error)
    return (
        f"cannot write {path}: {reason}. The earlier output is intact; free space or fix the folder's "
        "permissions, then run the same command again."
    )
