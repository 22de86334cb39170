"""F2: a torn or truncated part file is detected, set aside and reported; it is never glued to the next record."""

from __future__ import annotations

from pathlib import Path

import pytest

from starling_assets.artifacts.journal import Journal, Outcome


def two_parts(folder: Path) -> list[Path]:
    journal = Journal(folder)
    journal.plan(["a", "b", "c"])
    journal.record([Outcome(unit="a", status="ok", payload="first"), Outcome(unit="b", status="ok")])
    journal.record([Outcome(unit="c", status="ok")])
    return sorted(folder.glob("part-*.jsonl"))


@pytest.mark.parametrize("keep", range(0, 400, 7))
def test_a_part_cut_anywhere_is_set_aside_whole(tmp_path: Path, keep: int) -> None:
    first, _ = two_parts(tmp_path)
    raw = first.read_bytes()
    keep = min(keep, len(raw) - 2)  # the last byte is a line end that carries nothing
    first.write_bytes(raw[:keep])
    journal = Journal(tmp_path)
    assert journal.missing() == ["a", "b"]
    assert [Path(part.path).name for part in journal.torn] == [first.name]
    assert (tmp_path / "torn" / first.name).read_bytes() == raw[:keep]
    assert not first.exists()


def test_a_changed_byte_is_noticed(tmp_path: Path) -> None:
    first, _ = two_parts(tmp_path)
    first.write_bytes(first.read_bytes().replace(b"first", b"fIrst"))
    journal = Journal(tmp_path)
    assert "a" not in journal.outcomes()
    assert "checksum" in journal.torn[0].reason


def test_parts_glued_together_are_not_taken_for_one(tmp_path: Path) -> None:
    first, second = two_parts(tmp_path)
    first.write_bytes(first.read_bytes() + second.read_bytes())
    second.unlink()
    journal = Journal(tmp_path)
    assert journal.missing() == ["a", "b", "c"]
    assert len(journal.torn) == 1


def test_work_goes_on_after_a_torn_part_and_never_reuses_its_name(tmp_path: Path) -> None:
    first, second = two_parts(tmp_path)
    second.write_bytes(second.read_bytes()[:20])
    journal = Journal(tmp_path)
    assert journal.missing() == ["c"]
    journal.record([Outcome(unit="c", status="empty")])
    again = Journal(tmp_path)
    assert again.tally().model_dump(exclude={"reasons"}) == {
        "planned": 3,
        "ok": 2,
        "empty": 1,
        "failed": 0,
        "pending": 0,
    }
    assert first.exists()


def test_a_temporary_file_of_a_killed_writer_is_ignored(tmp_path: Path) -> None:
    two_parts(tmp_path)
    (tmp_path / ".part-00000002-x.jsonl.abc.tmp").write_bytes(b'{"unit": "z"')
    assert Journal(tmp_path).tally().ok == 3
