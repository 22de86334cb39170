"""How spans of the encoder, names of the dictionary and patterns come together."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from starling_assets.settings.model import TaggingSettings
from starling_assets.tagging.collecting import Tagged
from starling_assets.tagging.encoder import Encoder, EncoderSpan, Read
from starling_assets.tagging.encoder_features import Features
from starling_assets.tagging.encoder_tagger import EncoderTagger
from starling_assets.tagging.gold_corpora import HEADS
from tests.ontology.vocabulary import lexicon

from .papers import blocks, check_offsets


class Scripted:
    """Says that the given surfaces are mentions, and how likely any other token is one."""

    heads = HEADS

    def __init__(self, text: str, said: dict[str, str], elsewhere: float) -> None:
        self._spans = [
            EncoderSpan(text.index(surface), text.index(surface) + len(surface), head, -0.1)
            for surface, head in said.items()
        ]
        self._outside = np.log(1 - elsewhere)

    def read(self, paragraphs: list[Features]) -> list[Read]:
        return [
            Read(self._spans, np.full((len(item.starts), len(HEADS)), self._outside, np.float32)) for item in paragraphs
        ]


def spans(tagged: Tagged) -> list[tuple[str, str]]:
    return [(row["surface"], row["entity_type"]) for row in tagged.mentions.iter_rows(named=True)]


def tag(text: str, said: dict[str, str], elsewhere: float = 0.01) -> Tagged:
    scripted = cast("Encoder", Scripted(text, said, elsewhere))
    tagged = EncoderTagger(lexicon(), TaggingSettings(), scripted).tag(blocks(text))
    check_offsets(tagged, blocks(text))
    return tagged


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        # A span without a name in the vocabulary is tagged all the same.
        ("unheardol was given", {"unheardol": "Chemical"}, [("unheardol", "SmallMolecule")]),
        # A name that the encoder does not believe goes, if it is of a type it learnt.
        ("Caffeine reached the brain.", {"brain": "Anatomy"}, [("brain", "Anatomy")]),
        # Types that it never learnt are the dictionary's.
        ("registered as NCT01234567", {}, [("NCT01234567", "ClinicalTrial")]),
        ("the variant V600E", {}, [("V600E", "GeneVariant")]),
        # Longer spans win over what lies inside them.
        ("severe cancer pain", {"severe cancer pain": "Disease"}, [("severe cancer pain", "Disease")]),
        ("unheardol toxicity", {"unheardol": "Chemical", "unheardol toxicity": "Disease"},
         [("unheardol toxicity", "Disease")]),
    ],
)  # fmt: skip
def test_who_decides(text: str, said: dict[str, str], expected: list[tuple[str, str]]) -> None:
    assert spans(tag(text, said)) == expected


def test_a_name_stays_where_the_encoder_thinks_it_possible() -> None:
    assert spans(tag("Caffeine reached the brain.", {}, elsewhere=0.6)) == [
        ("Caffeine", "SmallMolecule"),
        ("brain", "Anatomy"),
    ]


def test_a_span_gets_the_concepts_of_its_name() -> None:
    (tagged,) = tag("Caffeine was given", {"Caffeine": "Chemical"}).tags.to_dicts()
    assert tagged["canonical_name"] == "caffeine"
    assert tagged["concept_ids"]
    assert tagged["tagger"] == "encoder"


def test_a_longer_span_gets_the_concept_of_its_last_words() -> None:
    (tagged,) = tag("chronic cancer pain", {"chronic cancer pain": "Disease"}).tags.to_dicts()
    (known,) = tag("cancer pain", {"cancer pain": "Disease"}).tags.to_dicts()
    assert tagged["surface_forms"] == ["chronic cancer pain"]
    assert tagged["concept_ids"] == known["concept_ids"]


def test_a_gene_is_told_from_its_protein_by_the_words_around() -> None:
    assert spans(tag("the UNHEARD1 gene", {"UNHEARD1": "Gene"})) == [("UNHEARD1", "Gene")]
    assert spans(tag("UNHEARD1 was phosphorylated", {"UNHEARD1": "Gene"})) == [("UNHEARD1", "Protein")]


def test_the_packaged_encoder_tags_papers_with_exact_offsets() -> None:
    text = "Caffeine and pentostatin caused hypotension in mice; V600E was seen in HL-60 cells."
    tagger = EncoderTagger(lexicon(), TaggingSettings())
    tagged = tagger.tag(blocks(text))
    check_offsets(tagged, blocks(text))
    assert {"Caffeine", "pentostatin", "mice", "V600E"} <= {surface for surface, _ in spans(tagged)}
    again = tagger.tag(blocks(text))
    assert again.tags.equals(tagged.tags)
    assert again.mentions.equals(tagged.mentions)
