"""Atomic writes: whole or absent, and an error that says what to do."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import BinaryIO

import pytest

from starling_assets.artifacts.files import StoreError, write_atomically, write_bytes, write_text


def test_a_write_creates_folders_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b" / "table.bin"
    write_bytes(target, b"new")
    assert target.read_bytes() == b"new"
    assert [p.name for p in target.parent.iterdir()] == ["table.bin"]


def test_text_is_utf8_with_unix_line_ends(tmp_path: Path) -> None:
    write_text(tmp_path / "t", "β\n")
    assert (tmp_path / "t").read_bytes() == b"\xce\xb2\n"


def test_a_failing_writer_leaves_the_old_bytes(tmp_path: Path) -> None:
    target = tmp_path / "table.bin"
    write_bytes(target, b"old")

    def half(handle: BinaryIO) -> None:
        handle.write(b"ne")
        raise RuntimeError("stopped in the middle")

    with pytest.raises(RuntimeError, match="middle"):
        write_atomically(target, half)
    assert target.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


def test_disk_full_names_the_file_and_the_remedy(tmp_path: Path) -> None:
    target = tmp_path / "table.bin"
    write_bytes(target, b"old")

    def full(handle: BinaryIO) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(StoreError, match=r"No space left.*earlier output is intact"):
        write_atomically(target, full)
    assert target.read_bytes() == b"old"


def test_a_folder_that_is_a_file_is_an_error_for_people(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot write"):
        write_bytes(tmp_path / "file" / "table", b"x")
