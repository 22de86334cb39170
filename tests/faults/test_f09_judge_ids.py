"""F9: the judge returns missing, repeated, unknown or contradictory record ids; also the last row of FC-07."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from starling_assets.artifacts.journal import Journal
from starling_assets.extraction.tables import AXES
from tests.extraction.test_judging import judge, judged, make_records
from tests.scripted import ScriptedClient

Verdicts = list[dict[str, Any]]


def missing(rows: Verdicts) -> Verdicts:
    return rows[1:]


def repeated(rows: Verdicts) -> Verdicts:
    return [*rows, rows[0]]


def contradictory(rows: Verdicts) -> Verdicts:
    return [*rows, {**rows[0], **dict.fromkeys(AXES, False)}]


def unknown(rows: Verdicts) -> Verdicts:
    return [*rows, {**rows[0], "id": "r9"}]


def exchanged(rows: Verdicts) -> Verdicts:
    return [{**rows[0], "id": "r9"}, *rows[1:]]


@pytest.mark.parametrize("fault", [missing, repeated, contradictory, unknown, exchanged])
def test_the_batch_is_refused_and_asked_for_once_more(tmp_path: Path, fault: Any) -> None:
    records = make_records(tmp_path / "x")
    faults = iter([fault])

    def answer(messages: list[dict[str, str]], schema: dict[str, Any]) -> dict[str, Any]:
        rows = judge(messages, schema)["verdicts"]
        broken = next(faults, None)
        return {"verdicts": broken(rows) if broken else rows}

    client = ScriptedClient(answer)
    frame = judged(records, client, tmp_path / "j")
    assert len(client.calls) == 5
    assert "Your last answer was refused" in client.calls[1].user
    assert client.calls[0].unit == client.calls[1].unit
    assert frame["kept"].sum() == 10
    assert set(frame["status"]) == {"ok"}


@pytest.mark.parametrize("fault", [missing, repeated, contradictory, unknown, exchanged])
def test_a_judge_that_stays_wrong_fails_its_batch_and_nothing_is_dropped(tmp_path: Path, fault: Any) -> None:
    records = make_records(tmp_path / "x")

    def answer(messages: list[dict[str, str]], schema: dict[str, Any]) -> dict[str, Any]:
        rows = judge(messages, schema)["verdicts"]
        return {"verdicts": fault(rows) if len(rows) == 4 else rows}

    client = ScriptedClient(answer)
    frame = judged(records, client, tmp_path / "j")
    tally = Journal(tmp_path / "j").tally()
    assert (tally.ok, tally.failed) == (2, 2)
    assert frame.height == records.height
    assert (frame["status"] == "failed").sum() == 8
    assert not frame.filter(frame["status"] == "failed")["kept"].any()
    # A later run pays for the refused batches only.
    calls = len(client.calls)
    mended = ScriptedClient(judge)
    assert judged(records, mended, tmp_path / "j")["kept"].sum() == 10
    assert (calls, len(mended.calls)) == (6, 2)
