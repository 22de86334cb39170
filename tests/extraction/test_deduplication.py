from __future__ import annotations

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from starling_assets.extraction.deduplication import group_facts, joined, same_words


def row(name: str, start: int = 0, para: int = 0, **changes: Any) -> dict[str, Any]:
    quote = changes.pop("quote", f"quote {name}")
    place = {
        "paper_id": "p",
        "block_key": f"b{para}",
        "para_idx": para,
        "start": start,
        "end": start + len(quote),
        "quote": quote,
    }
    base = {
        "entity": "aspirin",
        "concept_id": "C:1",
        "label": "active",
        "value": None,
        "value_low": None,
        "value_high": None,
        "qualifier": None,
        "value_text": None,
        "unit_text": None,
        "alignment": "exact",
        "fields": "{}",
        "probes": [name],
    }
    return {**base, "evidence": [place], **changes}


def test_overlapping_places_are_the_same_words_and_so_are_equal_sentences() -> None:
    assert same_words(row("a", 0), row("b", 3))
    assert not same_words(row("a", 0), row("b", 50))
    assert same_words(row("a", 0, quote="It – works"), row("b", 0, para=4, quote="it - WORKS"))
    assert not same_words(row("a", 0), row("b", 0, para=4))


def test_entity_label_and_value_make_a_fact() -> None:
    rows = [
        row("a"),
        row("b", 100, concept_id=None, entity="Aspirin "),
        row("c", 200, label="inactive"),
        row("d", 300, value=5.0, value_text="5"),
        row("e", 400, value=5.0, value_text="5.0"),
        row("f", 500, value=5.0, value_text="5", unit_text="mg"),
    ]
    groups = [[one["probes"][0] for one in group] for group in group_facts(rows)]
    assert groups == [["a"], ["b"], ["c"], ["d", "e"], ["f"]]


def test_a_field_that_contradicts_keeps_records_apart_and_a_missing_one_does_not() -> None:
    rows = [
        row("rat", fields='{"species":"rat"}'),
        row("none", 100, fields='{"species":null}'),
        row("mouse", 200, fields='{"species":"mouse"}'),
        row("RAT", 300, fields='{"species":"Rat"}'),
    ]
    groups = [sorted(one["probes"][0] for one in group) for group in group_facts(rows)]
    assert groups == [["RAT", "none", "rat"], ["mouse"]]


def test_the_fullest_record_leads_and_all_places_are_kept_once() -> None:
    rows = [row("thin"), row("full", 100, fields='{"species":"rat"}'), row("again", 0, quote="quote thin")]
    (group,) = group_facts(rows)
    made = joined(group)
    assert made["fields"] == '{"species":"rat"}'
    assert [item["start"] for item in made["evidence"]] == [100, 0]
    assert made["probes"] == ["again", "full", "thin"]


def test_relations_narrow_what_is_joined() -> None:
    rows = [row("a", 0), row("b", 3), row("c", 100)]
    groups = [[one["probes"][0] for one in group] for group in group_facts(rows, same_words)]
    assert groups == [["a", "b"], ["c"]]


FIELDS = st.sampled_from(['{"s":null}', '{"s":"rat"}', '{"s":"mouse"}', '{"s":"Rat"}'])
ROWS = st.lists(
    st.builds(
        row,
        st.text("xyz", min_size=1, max_size=2),
        st.integers(0, 60),
        st.integers(0, 2),
        fields=FIELDS,
        label=st.sampled_from(["active", "inactive"]),
        value=st.sampled_from([None, 1.0]),
    ),
    max_size=12,
)


@settings(deadline=None)
@given(ROWS, st.integers(0, 99))
def test_grouping_loses_nothing_and_does_not_depend_on_order(rows: list[dict[str, Any]], seed: int) -> None:
    groups = group_facts(rows, same_words)
    assert sum(len(group) for group in groups) == len(rows)
    mixed = list(rows)
    random.Random(seed).shuffle(mixed)
    assert [joined(group) for group in group_facts(mixed, same_words)] == [joined(group) for group in groups]
    for group in groups:
        assert len({(one["label"], one["value"]) for one in group}) == 1
        assert {item["quote"] for one in group for item in one["evidence"]} >= {
            item["quote"] for item in joined(group)["evidence"]
        }
