"""One run per partition, one demo per project: the second is refused, never queued silently (F10)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from .files import StoreError


class Busy(StoreError):
    """Another process holds the lock."""


@contextmanager
def partition_lock(folder: Path, what: str) -> Iterator[None]:
    """Hold the lock of ``folder`` or raise :class:`Busy` at once. The lock goes with the process (flock)."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot use {folder}: {error.strerror}. Check the folder's permissions.") from error
    lock = FileLock(str(folder / ".lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise Busy(
            f"{what} is being worked on by another process (lock {folder / '.lock'}). Wait until it is done, "
            "or stop it, then run the same command again."
        ) from None
    try:
        yield
    finally:
        lock.release()
