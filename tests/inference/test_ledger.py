"""The ledger: whole lines, one file per process, and a torn last line left out."""

from __future__ import annotations

import multiprocessing
import os
import threading
from pathlib import Path

import pytest

from starling_assets.inference import ledger as ledger_module
from starling_assets.inference.ledger import SCHEMA, Ledger, LedgerEntry, LedgerError, read_ledger


def entry(unit: str = "u1", started_at: str = "2026-11-30T12:00:00.000+00:00", **changes: object) -> LedgerEntry:
    values: dict[str, object] = {
        "started_at": started_at, "role": "extractor", "purpose": "bbb/extract", "unit": unit, "model": "m",
        "prompt": "extract@1", "outcome": "ok", "prompt_tokens": 10, "completion_tokens": 2, "cost": 0.5,
    }  # fmt: skip
    return LedgerEntry.model_validate({**values, **changes})


def test_lines_are_read_back_in_order_of_their_start(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "ledger")
    book.write(entry("late", "2026-11-30T12:00:02.000+00:00"))
    book.write(entry("early", "2026-11-30T12:00:01.000+00:00", outcome="timeout", message="a\nb “c”", retries=2))
    frame = read_ledger(tmp_path / "ledger")
    assert frame.schema == SCHEMA
    assert frame["unit"].to_list() == ["early", "late"]
    assert frame["message"].to_list() == ["a\nb “c”", ""]
    assert frame["retries"].to_list() == [2, 0]


def test_no_ledger_is_an_empty_table(tmp_path: Path) -> None:
    frame = read_ledger(tmp_path / "nothing")
    assert frame.height == 0
    assert frame.schema == SCHEMA


def test_a_line_cut_off_by_a_kill_is_left_out_wherever_the_cut_is(tmp_path: Path) -> None:
    book = Ledger(tmp_path)
    book.write(entry("a"))
    book.write(entry("b"))
    (path,) = tmp_path.glob("calls-*.jsonl")
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for cut in range(first, len(whole)):
        path.write_bytes(whole[:cut])
        units = read_ledger(tmp_path)["unit"].to_list()
        # The very last byte is the line end: without it the line is whole and counts.
        assert units == (["a", "b"] if cut == len(whole) - 1 else ["a"])


def test_damage_elsewhere_is_reported_with_its_place(tmp_path: Path) -> None:
    book = Ledger(tmp_path)
    book.write(entry("a"))
    (path,) = tmp_path.glob("calls-*.jsonl")
    path.write_bytes(b'{"role": \n' + path.read_bytes())
    with pytest.raises(LedgerError, match="line 1 is damaged"):
        read_ledger(tmp_path)


def test_threads_share_one_file_without_mixing_lines(tmp_path: Path) -> None:
    book = Ledger(tmp_path)

    def write(name: str) -> None:
        for number in range(20):
            book.write(entry(f"{name}{number:02d}", message="x" * 500))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(tmp_path.glob("*.jsonl"))) == 1
    assert sorted(read_ledger(tmp_path)["unit"]) == sorted(f"{n}{i:02d}" for n in "abcd" for i in range(20))


def write_many(folder: str) -> None:
    book = Ledger(Path(folder))
    for number in range(10):
        book.write(entry(f"{os.getpid()}-{number}"))


def test_processes_write_files_of_their_own(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    children = [context.Process(target=write_many, args=(str(tmp_path),)) for _ in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert len(list(tmp_path.glob("*.jsonl"))) == 2
    assert read_ledger(tmp_path).height == 20


def test_a_full_disk_is_a_clear_error_and_the_next_line_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = Ledger(tmp_path)
    real = os.write
    monkeypatch.setattr(ledger_module.os, "write", lambda descriptor, data: real(descriptor, data[:20]) and _no_space())
    with pytest.raises(LedgerError, match="No space left on device") as caught:
        book.write(entry("lost"))
    assert str(tmp_path) in str(caught.value)
    monkeypatch.undo()
    book.write(entry("kept"))
    assert read_ledger(tmp_path)["unit"].to_list() == ["kept"]


def _no_space() -> int:
    raise OSError(28, "No space left on device")
