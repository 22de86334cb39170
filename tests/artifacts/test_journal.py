"""The journal: planned units, append-only outcomes, resumable anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starling_assets.artifacts import journal as module
from starling_assets.artifacts.files import StoreError
from starling_assets.artifacts.journal import Journal, Outcome


def ok(unit: str, payload: object = None) -> Outcome:
    return Outcome(unit=unit, status="ok", payload=payload)


def failed(unit: str, reason: str = "truncated") -> Outcome:
    return Outcome(unit=unit, status="failed", reason=reason)


def test_counts_add_up_at_every_moment(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.plan(["a", "b", "c", "d"])
    assert journal.tally().pending == 4
    journal.record([ok("a"), Outcome(unit="b", status="empty")])
    journal.record([failed("c")])
    tally = journal.tally()
    assert (tally.ok, tally.empty, tally.failed, tally.pending) == (1, 1, 1, 1)
    assert tally.reasons == {"truncated": 1}
    assert not tally.complete


def test_a_later_process_goes_on_where_the_earlier_one_stopped(tmp_path: Path) -> None:
    first = Journal(tmp_path)
    first.plan(["a", "b", "c"])
    first.record([ok("a", {"records": [1]})])
    second = Journal(tmp_path)
    assert second.missing() == ["b", "c"]
    second.record([ok("b")])
    assert Journal(tmp_path).missing() == ["c"]
    assert Journal(tmp_path).outcomes()["a"].payload == {"records": [1]}


def test_a_failed_unit_is_tried_again_and_its_success_counts(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.plan(["a"])
    journal.record([failed("a")])
    assert journal.missing() == ["a"]
    journal.record([ok("a")])
    assert journal.tally().ok == 1
    assert Journal(tmp_path).missing() == []


def test_a_success_is_never_replaced(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.plan(["a"])
    journal.record([ok("a", 1)])
    journal.record([failed("a"), ok("a", 2)])
    assert journal.outcomes()["a"].payload == 1


def test_units_outside_the_plan_are_kept_but_not_counted(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.plan(["a"])
    journal.record([ok("old"), ok("a")])
    assert journal.tally().planned == journal.tally().ok == 1
    journal.plan(["a", "old"])
    assert journal.missing() == []


def test_a_plan_with_a_unit_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="twice"):
        Journal(tmp_path).plan(["a", "a"])


@settings(max_examples=40, deadline=None)
@given(
    events=st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["ok", "empty", "failed"])), max_size=12),
    data=st.data(),
)
def test_however_the_outcomes_are_split_into_parts_the_result_is_the_same(
    events: list[tuple[str, str]], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outcomes = [Outcome(unit=unit, status=status, reason="x") for unit, status in events]  # type: ignore[arg-type]
    whole = Journal(tmp_path_factory.mktemp("whole"))
    split = Journal(tmp_path_factory.mktemp("split"))
    for journal in (whole, split):
        journal.plan(list("abcd"))
    whole.record(outcomes)
    cut = data.draw(st.integers(0, len(outcomes)))
    split.record(outcomes[:cut])
    split.record(outcomes[cut:])
    assert whole.tally() == split.tally()
    assert sum((whole.tally().ok, whole.tally().empty, whole.tally().failed, whole.tally().pending)) == 4


def test_many_parts_are_merged_by_the_next_plan_and_nothing_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PARTS_TO_MERGE", 4)
    journal = Journal(tmp_path)
    units = [f"u{number}" for number in range(6)]
    journal.plan(units)
    for number, unit in enumerate(units):
        journal.record([failed(unit) if number == 3 else ok(unit, number)])
    before = Journal(tmp_path).outcomes()
    again = Journal(tmp_path)
    again.plan(units)
    assert len(list(tmp_path.glob("part-*.jsonl"))) == 1
    assert Journal(tmp_path).outcomes() == before
    assert Journal(tmp_path).missing() == ["u3"]
