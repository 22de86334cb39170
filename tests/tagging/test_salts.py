"""Salt and hydrate words beside a molecule belong to its mention."""

from __future__ import annotations

import pytest

from .papers import spans, tag


@pytest.mark.parametrize(
    ("text", "surface"),
    [
        ("caffeine citrate was given", "caffeine citrate"),
        ("Caffeine hydrochloride monohydrate", "Caffeine hydrochloride monohydrate"),
        ("aspirin lysine salt", "aspirin lysine"),
        ("caffeine in citrate", "caffeine"),
        ("caffeine, citrate", "caffeine"),
        ("caffeine citrates", "caffeine"),
        ("brain phosphate and caffeine", "caffeine"),
    ],
)
def test_the_mention_reaches_over_the_salt_words(text: str, surface: str) -> None:
    assert (surface, "SmallMolecule") in spans(text)
    assert len([kind for _, kind in spans(text) if kind == "SmallMolecule"]) == 1


def test_a_salt_is_another_entity_than_its_base_but_keeps_the_bases_concept() -> None:
    tags = tag("caffeine and Caffeine citrate and caffeine citrate").tags
    assert tags["canonical_name"].to_list() == ["caffeine", "caffeine citrate"]
    assert tags["concept_ids"].to_list() == [["CHEBI:27732"], ["CHEBI:27732"]]
    assert tags["surface_forms"].to_list()[1] == ["Caffeine citrate", "caffeine citrate"]
