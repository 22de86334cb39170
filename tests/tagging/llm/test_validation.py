"""Candidates by spelling and meaning, decisions checked id by id, and the overlay they give."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.artifacts.journal import Journal, Outcome
from starling_assets.artifacts.store import Store
from starling_assets.inference.calls import FailureKind, ModelFailure, Usage
from starling_assets.ontology.folding import fold
from starling_assets.ontology.tables import LEXICON
from starling_assets.tagging.candidates import Candidates, Entry, Frequent, most_frequent, words_around
from starling_assets.tagging.entity_types import EntityType
from starling_assets.tagging.name_search import NameSearch
from starling_assets.tagging.overlay import build_overlay, lexicon_in_use, replace_names, with_overlay
from starling_assets.tagging.tables import MENTIONS, TAGS
from starling_assets.tagging.validation import ask_batch, decision_rows, plan_batches, validate
from starling_assets.tagging.validation_calls import Batch, Question, batch_call, system_text
from starling_assets.tagging.vocabulary import Vocabulary
from tests.ontology.vocabulary import HUMAN, MOUSE, lexicon
from tests.scripted import ScriptedClient
from tests.scripted.tagging import validating

from .world import blocks_of


def frequent(name: str, *forms: str, organism: str | None = None, key: str = "") -> Frequent:
    return Frequent(key or fold(name), name, organism, forms or (name,), (), 3, 5)


def tags_frame(*rows: dict[str, Any]) -> pl.DataFrame:
    lists = {"synonyms": [], "surface_forms": [], "paragraphs": [0], "concept_ids": []}
    filled = [{**dict.fromkeys(TAGS), "entity_type": "Disease", **lists, **row} for row in rows]
    return pl.DataFrame(filled, schema=TAGS)


@given(st.lists(st.text("ab c1α", max_size=8), max_size=8), st.text("ab c1α", max_size=8))
def test_a_name_is_found_by_itself_and_similarity_is_a_share(names: list[str], asked: str) -> None:
    found = NameSearch(names).alike(asked, 20)
    assert all(0 < item.similarity <= 1 for item in found)
    assert [item.similarity for item in found] == sorted((item.similarity for item in found), reverse=True)
    if asked in names and asked:
        assert found[0].similarity == 1
        assert asked in [names[item.position] for item in found]


def test_misspelled_names_find_their_neighbours() -> None:
    names = ["aspirin", "breast cancer", "lung cancer", "cancer"]
    search = NameSearch(names)
    assert [names[item.position] for item in search.alike("brest cancer", 2)] == ["breast cancer", "cancer"]
    assert search.alike("", 3) == []
    assert NameSearch([]).alike("x", 3) == []


def test_the_most_frequent_entities_are_counted_by_papers_over_all_shards() -> None:
    one = tags_frame(
        {"paper_id": "a", "entity_key": "k1", "canonical_name": "AD", "surface_forms": ["AD"]},
        {"paper_id": "a", "entity_key": "k2", "canonical_name": "rare", "paragraphs": [1, 2, 3]},
        {"paper_id": "a", "entity_key": "k3", "canonical_name": "6f", "alias": "6f"},
        {"paper_id": "a", "entity_key": "k4", "canonical_name": "iron", "entity_type": "SmallMolecule"},
    )
    two = tags_frame(
        {"paper_id": "b", "entity_key": "k1", "canonical_name": "Alzheimer", "surface_forms": ["AD", "Alzheimer"]},
        {"paper_id": "c", "entity_key": "k1", "canonical_name": "AD", "surface_forms": ["Alzheimer", "AD"]},
    )
    found = most_frequent([one, two], "Disease", 10)
    assert [(item.name, item.papers, item.paragraphs) for item in found] == [("AD", 3, 3), ("rare", 1, 3)]
    assert found[0].forms == ("AD", "Alzheimer")
    assert [item.name for item in most_frequent([one, two], "Disease", 1)] == ["AD"]
    assert most_frequent([], "Disease", 5) == []


def test_candidates_begin_with_the_same_name_and_keep_to_the_species() -> None:
    candidates = Candidates(lexicon(), "Gene")
    human, mouse = candidates.of([frequent("RAD51", organism=HUMAN), frequent("RAD51", organism=MOUSE)], 10)
    assert (human[0].concept_id, mouse[0].concept_id) == ("HGNC:9817", "MGI:97890")
    assert "MGI:97890" not in [entry.concept_id for entry in human]


def test_meaning_brings_candidates_that_spelling_does_not() -> None:
    def embed(texts: Any) -> np.ndarray:
        near = {"dementia of old age": 0, "Alzheimer disease": 0}
        return np.asarray([np.eye(2, dtype=np.float32)[near.get(text, 1)] for text in texts])

    (spelled,) = Candidates(lexicon(), "Disease").of([frequent("dementia of old age")], 3)
    (meant,) = Candidates(lexicon(), "Disease", embed).of([frequent("dementia of old age")], 3)
    assert "MONDO:4975" not in [entry.concept_id for entry in spelled]
    assert "MONDO:4975" in [entry.concept_id for entry in meant]


def test_a_type_without_vocabulary_has_no_candidates() -> None:
    assert Candidates(lexicon(), "ClinicalTrial").of([frequent("NCT1")], 5) == [[]]


def test_words_around_the_first_mention_are_shown() -> None:
    blocks = blocks_of([["x" * 300 + " the AD patients " + "y" * 300]])
    row = {"paper_ordinal": 0, "para_idx": 0, "start": 305, "end": 307, "entity_key": "k"}
    mentions = pl.DataFrame([{**dict.fromkeys(MENTIONS), **row}], schema=MENTIONS)
    (shown,) = words_around(mentions, blocks, {"k", "other"}).values()
    assert "the AD patients" in shown
    assert len(shown) < 250


ENTRIES = (Entry("D:1", "Alzheimer disease", ("AD",)), Entry("D:2", "cancer", ()))
QUESTIONS = [
    Question(frequent("Alzheimer disease"), ENTRIES, "a sentence\u200b with\nlines"),
    Question(frequent("unheard of"), ENTRIES),
    Question(frequent("nothing alike"), ()),
    Question(frequent("cancer"), ENTRIES[::-1]),
]


def batches(size: int = 2) -> list[Batch]:
    return plan_batches(EntityType.DISEASE, QUESTIONS, "m", size)


def test_every_question_gets_a_decision_or_says_why_not(tmp_path: Path) -> None:
    client = ScriptedClient(validating)
    tally = validate(batches(), client, Journal(tmp_path), 1)
    assert (tally.planned, tally.ok) == (2, 2)
    rows = decision_rows(EntityType.DISEASE, QUESTIONS, batches(), Journal(tmp_path).outcomes())
    assert rows["status"].to_list() == ["chosen", "rejected", "no_candidate", "chosen"]
    assert rows["concept_id"].to_list() == ["D:1", None, None, "D:2"]
    validate(batches(), client, Journal(tmp_path), 1)
    assert len(client.calls) == 2


def test_the_call_shows_candidates_by_number_without_hidden_characters() -> None:
    call = batch_call(batches()[0])
    assert "id: e1\nname: Alzheimer disease\nprinted as: Alzheimer disease" in call.user
    assert "sentence: a sentence with lines" in call.user
    assert "1: Alzheimer disease (also: AD)\n2: cancer" in call.user
    assert call.system == system_text(EntityType.DISEASE)
    assert "{{" not in call.system


@pytest.mark.parametrize(
    ("decisions", "complaint"),
    [
        ([("e1", 1)], "no decision for e2"),
        ([("e1", 1), ("e1", 1), ("e2", 0)], "more than one decision for e1"),
        ([("e1", 1), ("e2", 3)], "e2 has no candidate 3"),
        ([("e1", 1), ("e2", -1)], "e2 has no candidate -1"),
        ([("e1", 1), ("e2", 0), ("e9", 1)], "unknown id e9"),
    ],
)
def test_an_answer_that_lost_count_is_refused_and_asked_for_once_more(
    decisions: list[tuple[str, int]], complaint: str
) -> None:
    answers = iter([decisions, [("e1", 1), ("e2", 0)]])

    def answer(*_: Any) -> dict[str, Any]:
        return {"decisions": [{"id": name, "choice": choice, "why": None} for name, choice in next(answers)]}

    client = ScriptedClient(answer)
    outcome, usage = asyncio.run(ask_batch(batches()[0], client))
    assert (outcome.status, usage.calls) == ("ok", 2)
    assert complaint in client.calls[1].user


def test_two_bad_answers_fail_the_batch_and_a_fatal_failure_is_raised() -> None:
    client = ScriptedClient(lambda *_: {"decisions": []})
    outcome, _ = asyncio.run(ask_batch(batches()[0], client))
    assert (outcome.status, outcome.reason) == ("failed", "schema_mismatch")
    rows = decision_rows(EntityType.DISEASE, QUESTIONS, batches(), {outcome.unit: outcome})
    assert rows["status"].to_list() == ["failed", "failed", "no_candidate", "failed"]
    client.failures.append(ModelFailure(FailureKind.QUOTA, "gone", Usage()))
    with pytest.raises(ModelFailure, match="quota"):
        asyncio.run(ask_batch(batches()[0], client))


def test_a_unit_depends_on_everything_the_model_sees() -> None:
    (first, *_), (other, *_) = batches(), plan_batches(EntityType.DISEASE, QUESTIONS, "n", 2)
    changed = [Question(QUESTIONS[0].entity, ENTRIES[:1], ""), *QUESTIONS[1:]]
    phenotype = plan_batches(EntityType.PHENOTYPE, QUESTIONS, "m", 2)[0]
    units = {first.unit, other.unit, plan_batches(EntityType.DISEASE, changed, "m", 2)[0].unit, phenotype.unit}
    assert len(units) == 4


def decided() -> pl.DataFrame:
    outcome = Outcome(
        unit=plan_batches(EntityType.DISEASE, chosen_questions(), "m", 8)[0].unit,
        status="ok",
        payload={
            "decisions": [{"choice": 1, "why": None}, {"choice": 0, "why": "no"}], "model": "m", "prompt": "p",
        },
    )  # fmt: skip
    questions = chosen_questions()
    planned = plan_batches(EntityType.DISEASE, questions, "m", 8)
    return decision_rows(EntityType.DISEASE, questions, planned, {outcome.unit: outcome})


def chosen_questions() -> list[Question]:
    entry = Entry("MONDO:4975", "Alzheimer disease", ("Alzheimer's disease",))
    return [
        Question(frequent("senile dementia", "AD", "Senile Dementia", key="k1"), (entry,)),
        Question(frequent("old age", key="k2"), (entry,)),
    ]


def test_the_overlay_adds_what_the_ontology_lacks_and_leaves_the_lexicon_alone(tmp_path: Path) -> None:
    before = lexicon()
    overlay = build_overlay(decided(), before)
    assert overlay.rows.select("folded", "concept_id").rows() == [("senile dementia", "MONDO:4975")]
    joined = with_overlay(before, [overlay.rows])
    assert joined.height == before.height + 1
    assert [row.concept_id for row in Vocabulary(joined, 3).rows("senile dementia")] == ["MONDO:4975"]
    assert lexicon().equals(before)
    assert build_overlay(decided(), before).version == overlay.version
    assert build_overlay(decided().head(1), before).version != overlay.version
    assert with_overlay(before, []) is before
    store = Store(tmp_path)
    store.write(before, "lexicon", schema=LEXICON)
    store.write(overlay.rows, "vocabulary_validation", "Disease", table="overlay", schema=LEXICON)
    assert lexicon_in_use(store, overlay=False).height == before.height
    assert lexicon_in_use(store, overlay=True).equals(joined)


def test_validated_names_replace_the_teachers_and_the_rest_stays() -> None:
    tags = tags_frame(
        {"entity_key": "k1", "canonical_name": "senile dementia", "synonyms": ["old"]},
        {"entity_key": "k2", "canonical_name": "old age", "synonyms": ["kept"]},
    )
    named = replace_names(tags, decided())
    assert named.select("canonical_name", "synonyms", "concept_ids").rows() == [
        ("Alzheimer disease", ["Alzheimer's disease"], ["MONDO:4975"]),
        ("old age", ["kept"], []),
    ]
    assert named.columns == tags.columns
