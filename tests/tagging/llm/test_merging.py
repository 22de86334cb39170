"""One reading of a paper from many passes: votes, overlaps, and no influence of order."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from starling_assets.tagging.choosing import Choice
from starling_assets.tagging.collecting import Block
from starling_assets.tagging.llm.concepts import ConceptNames
from starling_assets.tagging.llm.grounding import (
    ALIAS_NOT_PRINTED,
    NOT_IN_PASSAGE,
    RESOLVED_NOT_PRINTED,
    Found,
    ground,
)
from starling_assets.tagging.llm.merging import Entity, Merged, merge
from starling_assets.tagging.llm.passages import Passage, Piece
from starling_assets.tagging.llm.replies import Named
from tests.ontology.vocabulary import HUMAN, MOUSE, lexicon


def passage(*texts: str, key: str = "p1", first: int = 0) -> Passage:
    pieces = [
        Piece(number, Block(0, "pmid:1", f"b{first + number}", first + number, first + number, text), 0, text)
        for number, text in enumerate(texts, start=1)
    ]
    return Passage(key, tuple(pieces))


def entity(kind: str, name: str, *forms: str, paragraphs: Sequence[int] = (1,), **more: Any) -> Named:
    return Named(kind, name, (), forms or (name,), tuple(paragraphs), **more)


def read(*pairs: tuple[Passage, list[Named]]) -> Merged:
    return merge([item for where, entities in pairs for item in ground(where, entities).found])


def shown(merged: Merged) -> list[tuple[str, str, str]]:
    """(surface, type, name) in the order of the text."""
    return [
        (spot.block.text[spot.start : spot.end], spot.key[0], merged.entities[spot.key].name) for spot in merged.spots
    ]


def test_the_name_that_most_passages_gave_stands_for_a_form() -> None:
    one = passage("AD was seen.", key="1")
    two = passage("AD again.", key="2", first=5)
    three = passage("AD and atopic dermatitis.", key="3", first=9)
    merged = read(
        (one, [entity("Disease", "Alzheimer disease", "AD")]),
        (two, [entity("Disease", "Alzheimer disease", "AD")]),
        (three, [entity("Disease", "atopic dermatitis", "AD", "atopic dermatitis")]),
    )
    names = {surface: name for surface, _, name in shown(merged)}
    assert names == {"AD": "Alzheimer disease", "atopic dermatitis": "atopic dermatitis"}
    assert merged.entities["Disease", "alzheimer disease"].synonyms == ()


def test_a_form_keeps_the_type_of_most_passages_and_ties_follow_the_fixed_order() -> None:
    one, two = passage("EGFR rose.", key="1"), passage("EGFR fell.", key="2", first=4)
    gene, protein = entity("Gene", "EGFR"), entity("Protein", "EGFR")
    assert [kind for _, kind, _ in shown(read((one, [gene, protein]), (two, [gene])))] == ["Gene", "Gene"]
    assert [kind for _, kind, _ in shown(read((one, [gene, protein])))] == ["Protein"]


def test_of_crossing_mentions_the_longer_stays_and_inside_only_another_type() -> None:
    text = passage("An EGFR inhibitor for non-small-cell lung cancer patients.")
    merged = read(
        (
            text,
            [
                entity("SmallMoleculeClass", "EGFR inhibitor"),
                entity("Protein", "EGFR"),
                entity("Disease", "non-small-cell lung cancer"),
                entity("Disease", "lung cancer"),
                entity("Disease", "cancer patients"),
                entity("Anatomy", "lung"),
            ],
        )
    )
    assert shown(merged) == [
        ("EGFR inhibitor", "SmallMoleculeClass", "EGFR inhibitor"),
        ("EGFR", "Protein", "EGFR"),
        ("non-small-cell lung cancer", "Disease", "non-small-cell lung cancer"),
        ("lung", "Anatomy", "lung"),
    ]


def test_a_form_stands_in_the_named_paragraphs_else_wherever_it_is() -> None:
    texts = passage("iron and zinc", "iron", "zinc")
    found = ground(
        texts, [entity("SmallMolecule", "iron", paragraphs=[2]), entity("SmallMolecule", "zinc", paragraphs=[2])]
    )
    assert [(item.surface, item.block.para_idx) for item in found.found] == [("zinc", 1), ("iron", 2), ("zinc", 3)]


def test_what_is_not_printed_is_refused_with_its_reason() -> None:
    one = passage("Compound 6f was given.")
    named = entity("SmallMolecule", "veltrine", "6f", "veltrine", alias="7g", resolved_name="2-aminoethanol")
    grounded = ground(one, [named])
    assert [item.surface for item in grounded.found] == ["6f"]
    assert (grounded.found[0].entity.alias, grounded.found[0].entity.resolved_name) == (None, None)
    assert {item.reason for item in grounded.rejected} == {NOT_IN_PASSAGE, ALIAS_NOT_PRINTED, RESOLVED_NOT_PRINTED}


_KINDS = ["Gene", "Protein", "Disease"]
_NAMES = ["EGFR", "egfr", "lung cancer", "cancer", "AD", "Alzheimer disease"]


@st.composite
def readings(draw: st.DrawFn) -> list[Found]:
    text = "EGFR in lung cancer, AD and Alzheimer disease; cancer and EGFR."
    found: list[Found] = []
    for number in range(draw(st.integers(1, 3))):
        where = passage(text, key=str(number), first=10 * number)
        entities = [
            entity(draw(st.sampled_from(_KINDS)), draw(st.sampled_from(_NAMES)), draw(st.sampled_from(_NAMES)))
            for _ in range(draw(st.integers(0, 5)))
        ]
        found += ground(where, entities).found
    return found


@given(readings(), st.randoms(use_true_random=False))
def test_the_order_of_replies_changes_nothing(found: list[Found], random: Random) -> None:
    merged = merge(found)
    shuffled = list(found)
    random.shuffle(shuffled)
    assert merge(shuffled) == merged


@given(readings())
def test_no_two_mentions_cross_share_a_span_or_lie_inside_their_own_type(found: list[Found]) -> None:
    spots = merge(found).spots
    for left in spots:
        for right in spots:
            if left is right or left.block != right.block:
                continue
            assert (left.start, left.end) != (right.start, right.end)
            if left.start < right.end and right.start < left.end:
                inside = left.start <= right.start and right.end <= left.end
                assert inside or (right.start <= left.start and left.end <= right.end)
                assert left.key[0] != right.key[0]


def choice(**values: Any) -> Choice:
    one = Entity(**values)
    return ConceptNames(lexicon(), [one]).choice(one)


def test_concepts_come_from_the_name_else_from_the_only_one_a_form_has() -> None:
    named = choice(entity_type="SmallMolecule", name="caffeine")
    assert named.concept_ids == ("CHEBI:27732",)
    by_form = choice(entity_type="SmallMolecule", name="ASA", forms=("aspirin",))
    assert by_form.concept_ids == ("CHEBI:15365",)
    assert choice(entity_type="Disease", name="caffeine").concept_ids == ()


def test_the_species_the_model_named_decides_between_genes() -> None:
    mouse = choice(entity_type="Gene", name="RAD51", organism="Mus musculus")
    assert (mouse.organism, mouse.concept_ids) == (MOUSE, ("MGI:97890",))
    human = choice(entity_type="Gene", name="RAD51", organism="Homo sapiens")
    assert (human.organism, human.concept_ids) == (HUMAN, ("HGNC:9817",))
    unknown = choice(entity_type="Gene", name="RAD51", organism="Zelvora minima")
    assert unknown.organism is None
    assert len(unknown.concept_ids) >= 2
