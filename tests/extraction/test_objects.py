from __future__ import annotations

from typing import Any

import pytest

from starling_assets.extraction.entities import Entities, is_whole_word
from starling_assets.extraction.objects import Draft, Refused, check_object
from starling_assets.extraction.windows import Window

from .world import blocks_of, reply, segment, small_task, tagged, window

PASSAGE = window(
    "Compound 3 inhibited JAK2 (IC50 12.5 nM). Compound 6 gave 7.1 nM.", "Aspirin was inactive.", title="On ibuprofen"
)


def entities(names: dict[str, dict[str, Any]] | None = None, texts: list[str] | None = None) -> Entities:
    tags, mentions, links = tagged(blocks_of([texts or []]), names or {})
    return Entities(tags, mentions, links, ["SmallMolecule"])


def check(item: dict[str, Any], passage: Window = PASSAGE, used: dict[Any, str] | None = None, **task: Any) -> Draft:
    return check_object(small_task(**task), passage, item, entities(), 0.92, used or {})


def refused(item: dict[str, Any], passage: Window = PASSAGE) -> Refused:
    with pytest.raises(Refused) as caught:
        check(item, passage)
    return caught.value


GOOD = reply(quote="Compound 3 inhibited JAK2 (IC50 12.5 nM)", entity="Compound 3", value_text="12.5", unit="nM")


def test_a_good_object_is_grounded_with_the_stored_words() -> None:
    draft = check(GOOD)
    assert draft.quote == GOOD["quote"]
    assert (draft.start, draft.end, draft.alignment) == (0, 40, "exact")
    assert draft.quantity is not None
    assert (draft.quantity.value, draft.quantity.unit, draft.unit_in_text) == (12.5, "nM", True)
    assert draft.label == "active"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"quote": "Compound 9 inhibited JAK2"}, "ungrounded"),
        ({"quote": None}, "absent"),
        ({"quote": "null"}, "absent"),
        ({"entity": "N/A"}, "absent"),
        ({"entity": "Compound 33"}, "entity_not_in_window"),
        ({"entity": "ompound 3"}, "entity_not_in_window"),
        ({"label": "so-so"}, "not_allowed"),
        ({"label": None}, "absent"),
        ({"value_text": "0.0"}, "value_not_in_quote"),
        ({"value_text": "7.1"}, "value_not_in_quote"),  # of another compound, in the same paragraph
        ({"value_text": "2.5"}, "value_not_in_quote"),
        ({"value_text": "12.5-99"}, "value_not_in_quote"),
        ({"relation": "equal"}, "not_allowed"),
        ({"ratio": "NaN%"}, "not_finite"),
        ({"ratio": float("inf")}, "not_finite"),
        ({"ratio": True}, "not_finite"),
        ({"fasted": "perhaps"}, "not_allowed"),
    ],
)
def test_each_fault_is_refused_with_its_reason(changes: dict[str, Any], reason: str) -> None:
    assert refused(GOOD | changes).reason == reason


@pytest.mark.parametrize(
    ("changes", "name", "value"),
    [
        ({"relation": "<"}, "relation", "<"),
        ({"ratio": "1,5"}, "ratio", 1.5),
        ({"ratio": 2}, "ratio", 2.0),
        ({"fasted": "Yes"}, "fasted", True),
        ({"fasted": False}, "fasted", False),
        ({"tissues": ["brain", "N/A"]}, "tissues", ["brain"]),
        ({"tissues": "brain"}, "tissues", ["brain"]),
        ({"tissues": []}, "tissues", None),
        ({"species": " rat "}, "species", "rat"),
        ({"species": "not reported"}, "species", None),
    ],
)
def test_fields_are_read_by_their_type(changes: dict[str, Any], name: str, value: object) -> None:
    assert check(GOOD | changes).fields[name] == value


def test_an_alias_is_allowed_only_where_it_is_written_down() -> None:
    record = small_task().record
    label = record.label.model_copy(update={"aliases": {"potent": "active"}})
    task = small_task(record=record.model_copy(update={"label": label}))
    assert check_object(task, PASSAGE, GOOD | {"label": "Potent"}, entities(), 0.92, {}).label == "active"
    assert refused(GOOD | {"label": "Potent"}).reason == "not_allowed"


def test_absent_values_are_no_value_and_where_one_is_required_no_record() -> None:
    assert check(GOOD | {"value_text": "N/A", "unit": "null"}).quantity is None
    record = small_task().record
    needed = record.model_copy(update={"value": record.value.model_copy(update={"required": True})})
    for text in (None, "null", "N/A", "high"):
        with pytest.raises(Refused) as caught:
            check(GOOD | {"value_text": text}, record=needed)
        assert caught.value.reason == "absent"


def test_words_as_value_are_left_out_unless_the_quote_holds_them() -> None:
    assert check(GOOD | {"value_text": "permeable"}).note == "value 'permeable' is not in the quote"
    assert check(GOOD | {"value_text": "inhibited"}).note is None


def test_a_unit_that_the_paragraph_does_not_print_is_not_believed() -> None:
    assert check(GOOD | {"unit": "µM"}).unit_in_text is False


def test_an_entity_of_the_title_counts_and_one_of_the_prompt_does_not() -> None:
    assert check(GOOD | {"entity": "ibuprofen"}).spots == ()
    assert refused(GOOD | {"entity": "Zelvorane"}).reason == "entity_not_in_window"


def test_records_that_cite_the_same_words_get_the_place_of_their_own_entity() -> None:
    text = "HL-60: JQ1 lowered MYC (IC50 77 nM). K-562: JQ1 lowered MYC (IC50 77 nM)."
    quote = "JQ1 lowered MYC (IC50 77 nM)"
    for order in (("HL-60", "K-562"), ("K-562", "HL-60")):
        used: dict[Any, str] = {}
        places = {}
        for name in order:
            draft = check(reply(quote=quote, entity=name), window(text), used)
            used[(draft.segment.block_key, draft.start, draft.end)] = name
            places[name] = (draft.start, draft.end)
        assert places == {"HL-60": (7, 35), "K-562": (44, 72)}


def test_a_name_known_to_the_tagger_is_found_by_its_synonym() -> None:
    text = "ASA reached the brain."
    known = entities({"ASA": {"key": "aspirin", "canonical": "aspirin", "concept": "CHEBI:15365"}}, [text])
    passage = Window("u", "pmid:1", "", (window(text).segments[0],))
    item = reply(quote=text, entity="aspirin")
    assert refused(item, passage).reason == "entity_not_in_window"
    (block,) = blocks_of([[text]])["block_key"]
    passage = Window("u", "pmid:1", "", (type(passage.segments[0])(block, 0, "paragraph", (), 0, text),))
    draft = check_object(small_task(), passage, item, known, 0.92, {})
    identity = known.identity(passage, draft.entity, draft.spots)
    assert (identity.concept_id, identity.entity_type) == ("CHEBI:15365", "SmallMolecule")


def test_identity_prefers_the_task_type_and_ignores_parts_of_longer_names() -> None:
    text = "Benzene sulfonamide and lead crossed."
    names = {
        "Benzene": {"key": "benzene", "concept": "CHEBI:1"},
        "lead": {"key": "lead-gene", "type": "Gene", "concept": "HGNC:1"},
    }
    known = entities(names, [text])
    (block,) = blocks_of([[text]])["block_key"]
    passage = Window("u", "pmid:1", "", (type(PASSAGE.segments[0])(block, 0, "paragraph", (), 0, text),))
    part = known.identity(passage, "Benzene sulfonamide", known.spots(passage, "Benzene sulfonamide"))
    assert part.concept_id is None
    assert known.identity(passage, "lead", known.spots(passage, "lead")).entity_type == "Gene"


@pytest.mark.parametrize(
    ("text", "word", "whole"),
    [("a station", "ion", False), ("two drugs", "drug", True), ("drugstore", "drug", False), ("(K-11)", "K-11", True)],
)
def test_whole_words(text: str, word: str, whole: bool) -> None:
    at = text.index(word)
    assert is_whole_word(text, at, at + len(word)) is whole


def test_a_value_of_a_table_is_read_by_its_column() -> None:
    rows = ["Compound: K-11 | LD50 (nM): 236,85 | n: 6", "Compound: K-12 | LD50 (nM): 18268,500 | n: 16.000"]
    table = Window("u", "pmid:1", "", (segment("\n".join(rows), kind="table"),))
    decimal = check(reply(quote=rows[1], entity="K-12", value_text="18268,500", unit="nM"), table)
    assert decimal.quantity is not None
    assert decimal.quantity.value == 18268.5
    unclear = check(reply(quote=rows[1], entity="K-12", value_text="16.000"), table)
    assert unclear.quantity is not None
    assert (unclear.quantity.value, unclear.quantity.text) == (None, "16.000")
    assert "does not tell" in str(unclear.quantity.flag)
