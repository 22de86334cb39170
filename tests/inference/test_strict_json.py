"""The strict reader against Python's lenient one, and salvage on texts cut anywhere."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.inference.strict_json import (
    ABSENT_WORDS,
    BAD_CHARACTER,
    KEY_TWICE,
    MORE_THAN_ONE,
    NOT_AN_OBJECT,
    NOT_FINITE,
    NOT_JSON,
    TEXT_AROUND,
    TOO_DEEP,
    StrictJsonError,
    absent_to_none,
    parse,
    salvage_objects,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.lists(st.dictionaries(TEXT, VALUES, max_size=3), min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", NOT_JSON),
        ("   ", NOT_JSON),
        ("I cannot help with that.", NOT_JSON),
        ('{"a": 1', NOT_JSON),
        ("{'a': 1}", NOT_JSON),
        ('{"a": 1,}', NOT_JSON),
        ('{"a": 01}', NOT_JSON),
        ('{"a": "line\nbreak"}', NOT_JSON),
        ("// note\n1", NOT_JSON),
        ('Here: {"a": 1}', TEXT_AROUND),
        ('```json\n{"a": 1}\n```', TEXT_AROUND),
        ('{"a": 1} done', TEXT_AROUND),
        ('{"a": 1}{"a": 1}', MORE_THAN_ONE),
        ('{"a": 1} [2]', MORE_THAN_ONE),
        ('{"a": NaN}', NOT_FINITE),
        ('{"a": -Infinity}', NOT_FINITE),
        ('{"a": 1e999}', NOT_FINITE),
        ('{"a": ' + "9" * 5_000 + "}", NOT_FINITE),
        ('{"a": 1, "a": 2}', KEY_TWICE),
        ('{"a": 1, "a": true}', KEY_TWICE),
        ('{"a": 1, "a": 1.0}', KEY_TWICE),
        ('{"b": [{"a": "x", "a": "y"}]}', KEY_TWICE),
        ('{"a": "\\ud800"}', BAD_CHARACTER),
        ('{"\\udfff": 1}', BAD_CHARACTER),
        ("[" * 80 + "]" * 80, TOO_DEEP),
        ("[" * 100_000, TOO_DEEP),
    ],
)
def test_it_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(StrictJsonError) as caught:
        parse(text)
    assert caught.value.reason == reason


def test_a_key_given_twice_with_one_value_says_nothing_wrong() -> None:
    assert parse('{"a": [1, {"b": 2}], "a": [1, {"b": 2}]}') == {"a": [1, {"b": 2}]}


@given(VALUES)
def test_what_is_strict_is_read_as_python_reads_it(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert parse(f"\n {text}\t") == json.loads(text)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        value = parse(text)
    except StrictJsonError:
        return
    json.dumps(value, allow_nan=False).encode()


@given(OBJECTS, st.data())
def test_a_list_cut_anywhere_loses_only_what_was_not_finished(items: list[dict[str, Any]], data: st.DataObject) -> None:
    written = [json.dumps(item) for item in items]
    text = '{"records": [' + ", ".join(written) + "]}"
    cut = data.draw(st.integers(text.index("[") + 2, len(text)))
    found = salvage_objects(text[:cut])
    ends, position = [], text.index("[") + 1
    for item in written:
        ends.append(position + len(item))
        position = ends[-1] + 2
    whole = sum(end <= cut for end in ends)
    assert list(found.objects) == [json.loads(item) for item in written[:whole]]
    assert found.rejected == ()
    starts = [end - len(item) for end, item in zip(ends, written, strict=True)]
    assert found.unfinished == int(any(start < cut < end for start, end in zip(starts, ends, strict=True)))


@pytest.mark.parametrize("text", ["[{}}", "[{}, }}]", '[{"a": 1}}, {"b": 2}]', "[{]}", "[{}:"])
def test_a_bracket_that_closes_nothing_does_not_stop_the_scan(text: str) -> None:
    # The scan once stood still on a stray brace for ever.
    found = salvage_objects(text)
    assert found.seen <= len(text)


@given(st.text(alphabet='[]{}",:ab1\\ \n', max_size=80))
def test_salvage_always_ends_and_its_counts_add_up(text: str) -> None:
    found = salvage_objects(text)
    assert found.seen == len(found.objects) + len(found.rejected) + found.unfinished
    assert found.unfinished in {0, 1}


def test_salvage_sets_aside_what_is_no_object() -> None:
    found = salvage_objects('[{"a": 1}, 7, "x, y", [1, 2], {"b": 2}]')
    assert [*found.objects] == [{"a": 1}, {"b": 2}]
    assert [item.reason for item in found.rejected] == [NOT_AN_OBJECT] * 3


def test_brackets_inside_strings_end_nothing() -> None:
    found = salvage_objects('[{"quote": "a } ] \\" { b"}, {"quote": "c')
    assert found.objects == ({"quote": 'a } ] " { b'},)
    assert found.unfinished == 1


def test_text_without_a_list_of_objects_holds_none() -> None:
    assert salvage_objects("see reference [3]").seen == 0
    assert salvage_objects('{"records": []}').seen == 0


@pytest.mark.parametrize("word", sorted(ABSENT_WORDS))
def test_words_for_absence_in_any_case(word: str) -> None:
    assert absent_to_none(f" {word.upper()} ") is None


@pytest.mark.parametrize("value", ["0", "no", "nan-1", "Na", 0, 0.0, False, [], "none of them crossed"])
def test_a_value_is_not_absence(value: object) -> None:
    assert absent_to_none(value) == value
    assert absent_to_none(value) is not None
