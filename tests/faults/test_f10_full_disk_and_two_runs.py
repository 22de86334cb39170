"""F10: disk full, read-only store, two runs on one partition: a clear error, the earlier output intact."""

from __future__ import annotations

import errno
import multiprocessing
import os
from pathlib import Path

import polars as pl
import pytest

from starling_assets.artifacts import files
from starling_assets.artifacts.files import StoreError
from starling_assets.artifacts.journal import Journal, Outcome
from starling_assets.artifacts.locks import Busy, partition_lock
from starling_assets.artifacts.store import Store


def no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_leaves_the_earlier_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    store.write(pl.DataFrame({"a": [1]}), "papers", "s")
    monkeypatch.setattr(files.os, "fsync", no_space)
    with pytest.raises(StoreError, match="free space"):
        store.write(pl.DataFrame({"a": [2]}), "papers", "s")
    assert store.read("papers", "s")["a"].to_list() == [1]


def test_a_full_disk_does_not_lose_recorded_outcomes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path)
    journal.plan(["a", "b"])
    journal.record([Outcome(unit="a", status="ok")])
    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", no_space)
        with pytest.raises(StoreError):
            journal.record([Outcome(unit="b", status="ok")])
    assert Journal(tmp_path).missing() == ["b"]


def test_a_read_only_store_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(files.tempfile, "mkstemp", refuse)
    with pytest.raises(StoreError, match=r"cannot write .*papers.*Read-only"):
        Store(tmp_path).write(pl.DataFrame({"a": [2]}), "papers", "s")


def _hold(folder: str, ready: object, release: object) -> None:
    with partition_lock(Path(folder), "extraction of bbb on s1"):
        ready.set()  # type: ignore[attr-defined]
        release.wait(20)  # type: ignore[attr-defined]


def test_the_second_run_on_a_partition_is_refused_and_the_first_undisturbed(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    ready, release = spawn.Event(), spawn.Event()
    holder = spawn.Process(target=_hold, args=(str(tmp_path), ready, release))
    holder.start()
    try:
        assert ready.wait(20)
        with (
            pytest.raises(Busy, match="extraction of bbb on s1 is being worked on"),
            partition_lock(tmp_path, "extraction of bbb on s1"),
        ):
            pass
    finally:
        release.set()
        holder.join(20)
    assert holder.exitcode == 0


def test_a_killed_holder_leaves_no_lock_behind(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    ready, release = spawn.Event(), spawn.Event()
    holder = spawn.Process(target=_hold, args=(str(tmp_path), ready, release))
    holder.start()
    assert ready.wait(20)
    holder.kill()
    holder.join(20)
    with partition_lock(tmp_path, "the partition"):
        assert (tmp_path / ".lock").exists()
