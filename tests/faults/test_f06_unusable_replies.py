"""F6: replies that are no answer. Each is a classified failure with its bill; none is an empty success."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.endpoints import build_client
from starling_assets.inference.calls import UNUSABLE, FailureKind, ModelFailure
from starling_assets.inference.engine import run_blocking
from starling_assets.inference.ledger import read_ledger
from starling_assets.inference.replies import read_reply
from tests.endpoints.conftest import Found, a_call, one_compound, settings_for
from tests.stub_endpoint import Behaviour, StubEndpoint

GOOD = '{"records": [{"name": "aspirin", "value": 1.5, "quote": "aspirin 1.5"}]}'
FAULTS = [
    pytest.param(Behaviour.whitespace(), FailureKind.WHITESPACE_LOOP, id="white space without end"),
    pytest.param(Behaviour.reply(" " * 900, "stop"), FailureKind.WHITESPACE_LOOP, id="nothing but white space"),
    pytest.param(Behaviour.truncated(0.5), FailureKind.TRUNCATED, id="cut in the middle"),
    pytest.param(Behaviour.reply(GOOD, "length"), FailureKind.TRUNCATED, id="cut just after it parses"),
    pytest.param(Behaviour.reply(GOOD[:-9]), FailureKind.MALFORMED, id="cut by the server without a word"),
    pytest.param(Behaviour.wrong_schema(), FailureKind.SCHEMA_MISMATCH, id="JSON of another shape"),
    pytest.param(Behaviour.reply("{}"), FailureKind.SCHEMA_MISMATCH, id="an object without the list"),
    pytest.param(Behaviour.reply('{"records": null}'), FailureKind.SCHEMA_MISMATCH, id="null for the list"),
    pytest.param(Behaviour.reply("[]"), FailureKind.SCHEMA_MISMATCH, id="the bare list"),
    pytest.param(Behaviour.reply(GOOD.replace("1.5,", '"1.5",')), FailureKind.SCHEMA_MISMATCH, id="number as text"),
    pytest.param(Behaviour.prose(), FailureKind.MALFORMED, id="prose and a fence around it"),
    pytest.param(Behaviour.reply(GOOD + " I hope this helps."), FailureKind.MALFORMED, id="prose after it"),
    pytest.param(Behaviour.reply(GOOD + GOOD), FailureKind.MALFORMED, id="two answers"),
    pytest.param(Behaviour.reply(GOOD.replace("1.5,", "NaN,")), FailureKind.MALFORMED, id="NaN"),
    pytest.param(Behaviour.empty(), FailureKind.EMPTY, id="empty"),
    pytest.param(Behaviour.reply(" \n"), FailureKind.EMPTY, id="a blank"),
    pytest.param(Behaviour.reply(GOOD, "content_filter"), FailureKind.EMPTY, id="withheld"),
]


@pytest.mark.parametrize(("fault", "kind"), FAULTS)
def test_it_is_one_failure_of_its_kind_and_paid_for_once(fault: Behaviour, kind: FailureKind, tmp_path: Path) -> None:
    with StubEndpoint(answer=one_compound, behaviours=[fault]) as stub:
        with pytest.raises(ModelFailure) as caught:
            run_blocking(build_client(settings_for(stub, tmp_path)).complete(a_call()))
        assert caught.value.kind is kind
        assert kind in UNUSABLE
        assert len(stub.calls) == 1  # asking the same again is the caller's choice, with a smaller window
    assert caught.value.usage.prompt_tokens > 0
    assert caught.value.usage.cost > 0
    (row,) = read_ledger(tmp_path / "ledger").rows(named=True)
    assert row["outcome"] == kind.value
    assert row["cost"] == pytest.approx(caught.value.usage.cost)


def test_the_raw_text_is_kept_for_salvage() -> None:
    with pytest.raises(ModelFailure) as caught:
        read_reply(GOOD[:40], "length", Found)
    assert caught.value.raw == GOOD[:40]


def test_an_empty_list_that_was_asked_for_is_an_answer() -> None:
    assert read_reply('{"records": []}', "stop", Found) == Found(records=[])


@settings(deadline=None)
@given(st.integers(0, len(GOOD) - 1))
def test_no_prefix_of_an_answer_is_an_answer(length: int) -> None:
    with pytest.raises(ModelFailure):
        read_reply(GOOD[:length], "stop", Found)


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=8,
    )
)
def test_json_of_any_other_shape_is_a_mismatch(value: object) -> None:
    if isinstance(value, dict) and value.keys() == {"records"}:
        return
    with pytest.raises(ModelFailure) as caught:
        read_reply(json.dumps(value), "stop", Found)
    assert caught.value.kind in {FailureKind.SCHEMA_MISMATCH, FailureKind.EMPTY}


def test_the_output_of_a_looping_model_is_capped_by_the_request(tmp_path: Path) -> None:
    with StubEndpoint(answer=one_compound, behaviours=[Behaviour.whitespace()]) as stub:
        client = build_client(settings_for(stub, tmp_path))
        with pytest.raises(ModelFailure):
            run_blocking(client.complete(a_call(max_output_tokens=64)))
        assert stub.calls[0].body["max_tokens"] == 64
