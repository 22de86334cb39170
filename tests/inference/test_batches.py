"""Batch files: what is written is what the live door sends; what is read is what the live door would have given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from starling_assets.inference.batches import BatchError, read_replies, write_requests
from starling_assets.inference.budget import Prices
from starling_assets.inference.calls import FailureKind, ModelCall, Role
from starling_assets.inference.ledger import Ledger, read_ledger
from starling_assets.inference.requests import request_body
from starling_assets.inference.schemas import Dialect

PRICES = Prices(0.5, 2.0)


class Answer(BaseModel):
    label: str


def a_call(unit: str, user: str = "text") -> ModelCall[Answer]:
    return ModelCall(Role.TAGGER, "bbb/tag", unit, "Tag it.", f"{user} of {unit}", Answer, "tag@1", 50)


def answer_line(
    unit: str, text: str | None = '{"label": "x"}', finish: str = "stop", status: int = 200, **body: Any
) -> str:
    completion = {
        "created": 1_790_000_000,
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}},
    }
    response = {"status_code": status, "request_id": f"r-{unit}", "body": {**completion, **body}}
    return json.dumps({"id": f"b-{unit}", "custom_id": unit, "response": response, "error": None})


def error_line(unit: str, status: int, code: str, message: str = "no") -> str:
    body = {"error": {"message": message, "code": code, "type": code}}
    return json.dumps({"custom_id": unit, "response": {"status_code": status, "body": body}, "error": None})


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_a_request_is_the_one_the_live_door_sends(tmp_path: Path) -> None:
    call = a_call("u1", "β-blocker “text”\n2")
    (path,) = write_requests([call], tmp_path / "batch", "gpt-x")
    (line,) = path.read_text(encoding="utf-8").splitlines()
    asked = json.loads(line)
    assert (asked["custom_id"], asked["method"], asked["url"]) == ("u1", "POST", "/v1/chat/completions")
    assert asked["body"] == request_body(call, "gpt-x", Dialect.STRICT, temperature=0.0, seed=7)
    assert asked["body"]["messages"][1]["content"] == call.user


@given(count=st.integers(0, 30), most=st.integers(1, 12))
def test_files_hold_every_request_once_and_keep_their_bounds(
    count: int, most: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("batch")
    calls = [a_call(f"u{number}") for number in range(count)]
    paths = write_requests(calls, folder, "m", most_requests=most, most_bytes=2_000)
    lines = [path.read_bytes().splitlines() for path in paths]
    assert [json.loads(line)["custom_id"] for file in lines for line in file] == [call.unit for call in calls]
    assert all(1 <= len(file) <= most for file in lines)
    assert all(path.stat().st_size <= 2_000 for path in paths)
    assert sorted(folder.iterdir()) == paths


def test_two_writings_give_the_same_bytes(tmp_path: Path) -> None:
    calls = [a_call(f"u{number}") for number in range(3)]
    (one,) = write_requests(calls, tmp_path / "a", "m")
    (two,) = write_requests(calls, tmp_path / "b", "m")
    assert one.read_bytes() == two.read_bytes()


def test_a_unit_asked_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BatchError, match="'u1' is asked twice"):
        write_requests([a_call("u1"), a_call("u1")], tmp_path, "m")


def test_answers_in_any_order_reach_their_units(tmp_path: Path) -> None:
    calls = [a_call(unit) for unit in ("a", "b", "c")]
    out = write(tmp_path / "out.jsonl", answer_line("c", '{"label": "C"}'), answer_line("a", '{"label": "A"}'))
    found = read_replies(calls, [out], "m", PRICES)
    assert {unit: reply.value.label for unit, reply in found.replies.items()} == {"a": "A", "c": "C"}
    assert found.failures["b"].kind is FailureKind.CONNECTION  # still to be done
    usage = found.replies["a"].usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == (100, 10, 40)
    assert usage.cost == pytest.approx((100 * 0.5 + 10 * 2.0) / 1e6)
    assert found.replies.keys() | found.failures.keys() == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (answer_line("a", '{"label": "x'), FailureKind.MALFORMED),
        (answer_line("a", '{"label": "x"}', "length"), FailureKind.TRUNCATED),
        (answer_line("a", ""), FailureKind.EMPTY),
        (answer_line("a", None), FailureKind.EMPTY),
        (answer_line("a", '{"tag": 1}'), FailureKind.SCHEMA_MISMATCH),
        (answer_line("a", choices=[]), FailureKind.SERVER_ERROR),
        (error_line("a", 429, "insufficient_quota"), FailureKind.QUOTA),
        (error_line("a", 429, "rate_limit_exceeded"), FailureKind.RATE_LIMITED),
        (error_line("a", 400, "context_length_exceeded"), FailureKind.BAD_REQUEST),
        (error_line("a", 401, "invalid_api_key"), FailureKind.AUTHENTICATION),
        (error_line("a", 500, "server_error"), FailureKind.SERVER_ERROR),
        ('{"custom_id": "a", "response": null, "error": {"code": "batch_expired"}}', FailureKind.SERVER_ERROR),
        ('{"custom_id": "a", "response": null, "error": null}', FailureKind.SERVER_ERROR),
    ],
)  # fmt: skip
def test_failures_have_the_classes_of_the_live_door(line: str, kind: FailureKind, tmp_path: Path) -> None:
    found = read_replies([a_call("a")], [write(tmp_path / "out.jsonl", line)], "m", PRICES)
    assert found.replies == {}
    assert found.failures["a"].kind is kind


def test_two_different_answers_are_no_answer_and_both_are_paid(tmp_path: Path) -> None:
    out = write(tmp_path / "out.jsonl", answer_line("a", '{"label": "x"}'), answer_line("a", '{"label": "y"}'))
    found = read_replies([a_call("a")], [out], "m", PRICES)
    assert found.failures["a"].kind is FailureKind.MALFORMED
    assert found.failures["a"].usage.prompt_tokens == 200


def test_an_answer_after_a_failure_counts_and_the_failure_is_paid(tmp_path: Path) -> None:
    first = write(tmp_path / "1.jsonl", answer_line("a", "no JSON"))
    second = write(tmp_path / "2.jsonl", answer_line("a"))
    for files in ([first, second], [second, first]):
        found = read_replies([a_call("a")], files, "m", PRICES)
        assert found.replies["a"].value.label == "x"
        assert found.replies["a"].usage.calls == 2


def test_a_file_given_twice_counts_once(tmp_path: Path) -> None:
    out = write(tmp_path / "out.jsonl", answer_line("a"))
    copy = write(tmp_path / "copy.jsonl", answer_line("a"))
    assert read_replies([a_call("a")], [out, out, copy], "m", PRICES).replies["a"].usage.calls == 1


def test_answers_to_nobody_and_torn_lines_are_counted(tmp_path: Path) -> None:
    out = write(
        tmp_path / "out.jsonl", answer_line("a"), answer_line("z"), '{"custom_id": "b", "resp', "[]", '{"id": 1}'
    )
    found = read_replies([a_call("a"), a_call("b")], [out], "m", PRICES)
    assert found.unknown == ("z",)
    assert found.torn == 3
    assert set(found.failures) == {"b"}


def test_the_ledger_gets_each_answer_once(tmp_path: Path) -> None:
    calls = [a_call("a"), a_call("b"), a_call("c")]
    out = write(tmp_path / "out.jsonl", answer_line("a"), answer_line("b", "prose"))
    for _ in range(2):
        read_replies(calls, [out], "m", PRICES, Ledger(tmp_path / "ledger"))
    frame = read_ledger(tmp_path / "ledger")
    assert frame.select("unit", "outcome").rows() == [("a", "ok"), ("b", "malformed")]
    assert frame["cost"].sum() == pytest.approx(2 * 70e-6)
    assert frame["started_at"][0].startswith("2026-")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BatchError, match=r"gone\.jsonl"):
        read_replies([a_call("a")], [tmp_path / "gone.jsonl"], "m", PRICES)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BatchError, match="cannot write"):
        write_requests([a_call("a")], tmp_path / "file" / "batch", "m")
