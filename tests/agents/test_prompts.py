from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starling_assets.agents import extractor, judge
from starling_assets.agents.prompting import fence, read_prompt, visible
from starling_assets.agents.tasks import load_task, task_names
from starling_assets.inference.calls import FailureKind, ModelFailure, Role
from starling_assets.inference.schemas import Dialect, reply_schema
from starling_assets.inference.tokens import estimate_tokens

AXES = ("support_fidelity", "task_relevance", "entity_attribution", "label_correctness", "accuracy")


def verdict(name: str, **changes: object) -> judge.Verdict:
    values = {"id": name, **dict.fromkeys(AXES, True), "why": None, **changes}
    return judge.Verdict.model_validate(values)


def candidates(count: int) -> list[judge.Candidate]:
    return [judge.Candidate(f"r{n}", "Title", {"entity": "x"}, "context") for n in range(1, count + 1)]


@pytest.mark.parametrize("name", task_names())
def test_the_shared_prefix_is_short_and_the_same_for_all_windows(name: str) -> None:
    task = load_task(name)
    calls = [extractor.extract_call(task, f"u{n}", f"passage {n}", 700) for n in range(2)]
    assert calls[0].system == calls[1].system
    assert estimate_tokens(calls[0].system) < 800
    assert estimate_tokens(judge.system_prompt(task)) < 600
    assert "{{" not in calls[0].system + judge.system_prompt(task)
    assert calls[0].prompt == read_prompt("extract").reference
    assert calls[0].role is Role.EXTRACTOR
    assert calls[0].purpose == f"{name}/extract"


@pytest.mark.parametrize("name", task_names())
@pytest.mark.parametrize("dialect", list(Dialect))
def test_reply_types_are_closed_schemas_for_every_kind_of_server(name: str, dialect: Dialect) -> None:
    schema = reply_schema(extractor.reply_type(load_task(name)), dialect)
    text = json.dumps(schema)
    assert '"records"' in text
    assert reply_schema(judge.JudgeReply, dialect)


def test_a_task_has_one_reply_type_and_it_takes_its_own_example() -> None:
    task = load_task("bbb")
    kind = extractor.reply_type(task)
    assert kind is extractor.reply_type(load_task("bbb"))
    assert task.record.example is not None
    reply = kind.model_validate({"records": [task.record.example.record]})
    assert reply.objects() == [task.record.example.record]


def test_a_value_that_is_not_allowed_costs_no_reply_but_an_unknown_key_does() -> None:
    task = load_task("bbb")
    assert task.record.example is not None
    record = dict(task.record.example.record)
    kind = extractor.reply_type(task)
    assert (
        kind.model_validate({"records": [record | {"label": "so-so", "value_text": 0.42}]}).objects()[0]["value_text"]
        == "0.42"
    )
    with pytest.raises(ValueError, match="extra"):
        kind.model_validate({"records": [record | {"mood": "good"}]})
    with pytest.raises(ValueError, match="quote"):
        kind.model_validate({"records": [{"entity": "x"}]})


@settings(deadline=None)
@given(st.text(max_size=200))
def test_no_text_can_close_its_own_fence(text: str) -> None:
    fenced = fence("PASSAGE", text)
    first, last = fenced.split("\n")[0], fenced.split("\n")[-1]
    assert fenced == f"{first}\n{text}\n{last}"
    assert last not in text


@settings(deadline=None)
@given(st.text(max_size=100))
def test_visible_text_has_no_invisible_characters_and_loses_no_letter(text: str) -> None:
    shown = visible(text)
    assert not any(char in shown for char in "\u200b\u202e\u2066\U000e0041\x00")
    assert [char for char in shown if char.isalnum()] == [char for char in text if char.isalnum()]


def test_a_missing_slot_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        read_prompt("extract").fill({"sentence": "x"})


def test_one_verdict_per_id_is_accepted_in_any_order() -> None:
    reply = judge.JudgeReply(verdicts=[verdict("r2"), verdict("r1", accuracy=False)])
    found = judge.check_ids(reply, candidates(2))
    assert found["r1"].accuracy is False
    assert found["r2"].accuracy is True


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (["r1"], "no verdict for r2"),
        (["r1", "r2", "r3"], "unknown id r3"),
        (["r1", "r2", "r2"], "more than one verdict for r2"),
        ([], "no verdict for r1, r2"),
    ],
)
def test_wrong_ids_refuse_the_batch(ids: list[str], words: str) -> None:
    reply = judge.JudgeReply(verdicts=[verdict(name) for name in ids])
    with pytest.raises(ModelFailure) as caught:
        judge.check_ids(reply, candidates(2))
    assert caught.value.kind is FailureKind.SCHEMA_MISMATCH
    assert words in caught.value.message


def test_the_judge_sees_the_rubric_and_a_second_try_is_told_what_was_wrong() -> None:
    task = load_task("bbb")
    call = judge.judge_call(task, "u", candidates(2), 500, "no verdict for r2")
    assert "neighbours" in call.system
    assert call.user.endswith("Your last answer was refused: no verdict for r2. Answer again, each id once: r1, r2.")
    assert call.role is Role.JUDGE
    assert judge.judge_call(task, "u", candidates(2), 500).system == call.system
