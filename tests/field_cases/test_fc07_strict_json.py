"""FC-07: a reply that almost parses. Finished objects may be salvaged, all are counted, none is guessed."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, BeforeValidator

from starling_assets.inference.calls import FailureKind, ModelFailure
from starling_assets.inference.replies import read_reply
from starling_assets.inference.strict_json import (
    KEY_TWICE,
    NOT_FINITE,
    WRONG_SHAPE,
    absent_to_none,
    salvage_items,
    salvage_objects,
)

REPLY = """Sure, here it is:
```json
{"records": [
 {"compound": "3", "value": 12.5, "unit": "nM", "relation": "=", "quote": "Compound 3 inhibited JAK2 (IC50 12.5 nM)"},
 {"compound": "4", "value": NaN, "unit": "nM", "relation": "=", "quote": "Compound 3 inhibited JAK2 (IC50 12.5 nM)"},
 {"compound": "6", "value": 7.1, "value": 71, "unit": "nM", "relation": "=", "quote": "Compound 6 gave 7.1 nM"},
 {"compound": "7", "value": 0.0, "unit": "nM", "relation": "equal", "quote": "Compound 7 was not measured"},
 {"compound": "7", "value": "null", "unit": "N/A", "relation": "=", "quote": "Compound 7 was not measured"},
 {"compound": "8", "val
"""


class Potency(BaseModel):
    compound: str
    value: Annotated[float | None, BeforeValidator(absent_to_none)]
    unit: Annotated[str | None, BeforeValidator(absent_to_none)]
    relation: Literal["=", "<", ">"]
    quote: str


class Potencies(BaseModel):
    records: list[Potency]


class Verdict(BaseModel):
    keep: bool


def test_the_call_counts_as_truncated_and_keeps_its_text() -> None:
    with pytest.raises(ModelFailure) as caught:
        read_reply(REPLY, "length", Potencies)
    assert caught.value.kind is FailureKind.TRUNCATED
    assert caught.value.raw == REPLY


def test_the_same_text_without_a_cut_is_malformed() -> None:
    with pytest.raises(ModelFailure) as caught:
        read_reply(REPLY, "stop", Potencies)
    assert caught.value.kind is FailureKind.MALFORMED


def test_of_the_finished_objects_three_parse_and_every_one_is_counted() -> None:
    found = salvage_objects(REPLY)
    assert [item["compound"] for item in found.objects] == ["3", "7", "7"]
    assert [rejected.reason for rejected in found.rejected] == [NOT_FINITE, KEY_TWICE]
    assert '"compound": "4"' in found.rejected[0].text
    assert found.unfinished == 1
    assert found.seen == 6


def test_only_the_first_says_something_in_the_asked_form() -> None:
    values, found = salvage_items(REPLY, Potency)
    reported = [value for value in values if value.value is not None]
    assert [(value.compound, value.value, value.unit) for value in reported] == [("3", 12.5, "nM")]
    reasons = Counter(rejected.reason.split(":")[0] for rejected in found.rejected)
    assert reasons == {NOT_FINITE: 1, KEY_TWICE: 1, WRONG_SHAPE: 1}
    (wrong,) = (rejected for rejected in found.rejected if rejected.reason.startswith(WRONG_SHAPE))
    assert "relation" in wrong.reason
    assert '"equal"' in wrong.text
    assert found.seen == len(values) + len(found.rejected) + found.unfinished == 6


def test_words_for_absence_are_absence_and_neither_text_nor_zero() -> None:
    values, _ = salvage_items(REPLY, Potency)
    (unreported,) = (value for value in values if value.compound == "7")
    assert unreported.value is None
    assert unreported.unit is None


@pytest.mark.parametrize(
    "reply",
    [
        '{"keep": true}\n{"keep": false}',
        '{"keep": true, "keep": false}',
        '{"keep": false} {"keep": false}',
        '[{"keep": true}, {"keep": false}]',
    ],
)
def test_a_judge_that_answers_twice_is_refused(reply: str) -> None:
    with pytest.raises(ModelFailure) as caught:
        read_reply(reply, "stop", Verdict)
    assert caught.value.kind in {FailureKind.MALFORMED, FailureKind.SCHEMA_MISMATCH}
