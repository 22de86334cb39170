"""The dictionary tagger: what is tagged, as what, where."""

from __future__ import annotations

from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.artifacts.keys import content_key
from starling_assets.tagging.entity_types import EntityType
from starling_assets.tagging.tables import MENTIONS, TAGS

from .papers import blocks, check_offsets, spans, tag, tagger


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Caffeine reached the brain.", [("Caffeine", "SmallMolecule"), ("brain", "Anatomy")]),
        ("the blood–brain barrier", [("blood–brain barrier", "Anatomy")]),
        ("Alzheimer’s disease", [("Alzheimer’s disease", "Disease")]),
        ("cancer, pain and cancer pain", [("cancer", "Disease"), ("cancer pain", "Disease")]),
        ("the cat sat; CAT activity", [("CAT", "Protein")]),
        ("catechin and (+)-catechin", [("catechin", "SmallMoleculeClass"), ("(+)-catechin", "SmallMolecule")]),
        ("Na+ and Na", [("Na+", "SmallMolecule")]),
        ("HL60 and HL-60 cells", [("HL60", "CellLine"), ("HL-60", "CellLine")]),
        ("HEL cells but not HEL", [("HEL", "CellLine")]),
        ("patients with PSX", []),
        ("PSX protein expression", [("PSX", "Protein")]),
        ("mice and mouse brains", [("mice", "Organism"), ("mouse", "Organism"), ("brains", "Anatomy")]),
        ("nothing here", []),
        (
            "NCT01234567, V600E and miR-21",
            [("NCT01234567", "ClinicalTrial"), ("V600E", "GeneVariant"), ("miR-21", "RNA")],
        ),
    ],
)
def test_mentions(text: str, expected: list[tuple[str, str]]) -> None:
    assert spans(text) == expected


def test_schemas_order_and_known_types() -> None:
    tagged = tag("Caffeine reached the brain of mice.", "# Caffeine heading", "Caffeine again; compound 6f; 6f.")
    assert dict(tagged.tags.schema) == TAGS
    assert dict(tagged.mentions.schema) == MENTIONS
    assert set(tagged.tags["entity_type"]) <= {str(kind) for kind in EntityType}
    assert tagged.mentions.equals(tagged.mentions.sort("paper_ordinal", "para_idx", "start"))
    caffeine = tagged.tags.filter(pl.col("canonical_name") == "caffeine").to_dicts()[0]
    assert caffeine["paragraphs"] == [0, 1]
    assert caffeine["surface_forms"] == ["Caffeine"]
    assert caffeine["concept_ids"] == ["CHEBI:27732"]
    assert caffeine["entity_key"] == content_key("SmallMolecule", "caffeine")


def test_headings_are_not_tagged() -> None:
    assert spans("# Caffeine in the brain") == []


def test_abbreviations_carry_through_the_paper_and_only_there() -> None:
    texts = ("BBB first.", "The blood-brain barrier (BBB) is tight.", "The BBB opens.")
    assert spans(*texts) == [
        ("BBB", "Anatomy"),
        ("blood-brain barrier", "Anatomy"),
        ("BBB", "Anatomy"),
        ("BBB", "Anatomy"),
    ]
    both = tagger().tag(pl.concat([blocks(*texts), blocks("The BBB elsewhere.", paper=1)]))
    assert set(both.mentions["paper_id"]) == {"pmid:0"}


def test_an_abbreviation_defined_as_something_unknown_is_not_the_vocabularys_entity() -> None:
    assert spans("PSX protein levels") == [("PSX", "Protein")]
    assert spans("post surgical xylophone (PSX) protein levels; PSX protein") == []


def test_aliases_are_entities_of_one_paper() -> None:
    first = tagger().tag(blocks("Compound 6f and the caffeine derivative 6g. 6f was best."))
    second = tagger().tag(blocks("Compound 6f.", paper=1))
    alias = first.tags.filter(pl.col("alias") == "6f").to_dicts()[0]
    assert (alias["canonical_name"], alias["entity_type"], alias["concept_ids"]) == ("compound 6f", "SmallMolecule", [])
    assert first.mentions.filter(pl.col("surface") == "6f").height == 2
    assert alias["entity_key"] != second.tags.filter(pl.col("alias") == "6f")["entity_key"][0]


def test_an_alias_in_brackets_is_resolved_by_the_name_before() -> None:
    tagged = tag("We made caffeine (6f) as compound 6f.")
    assert tagged.tags.filter(pl.col("alias") == "6f")["resolved_name"].to_list() == ["caffeine"]


def test_no_paper_and_no_hit_give_empty_tables() -> None:
    for frame in (blocks(), blocks("nothing"), blocks("# only a heading")):
        tagged = tagger().tag(frame)
        assert tagged.tags.height == tagged.mentions.height == 0
        assert dict(tagged.tags.schema) == TAGS


def test_the_order_of_blocks_does_not_matter() -> None:
    frame = pl.concat([blocks("caffeine and RAD51 in mouse", "PSX protein"), blocks("brain", paper=1)])
    first, second = tagger().tag(frame), tagger().tag(frame.reverse())
    assert first.tags.equals(second.tags)
    assert first.mentions.equals(second.mentions)


PIECES = st.sampled_from(
    [
        "caffeine",
        "CAFFEINE",
        "blood-brain barrier",
        "TNF-α",
        "𝛼-SMA",
        "é",
        "e\u0301",
        "İ",
        "ß",
        "(BBB)",
        " ",
        ", ",
        "-",
        "\n",
        "RAD51",
        "V600E",
        "compound 6f",
        "6f",
        "Na+",
        "(+)-catechin",
        "ﬁ",
        "²",
        "\u00ad",
        "cells",
        "HL60",
    ]
)


@given(st.lists(PIECES, max_size=25).map("".join))
def test_offsets_are_exact_in_any_text_and_mentions_do_not_overlap(text: str) -> None:
    frame = blocks(text)
    tagged = tagger().tag(frame)
    check_offsets(tagged, frame)
    rows = tagged.mentions.select("start", "end").rows()
    assert all(left[1] <= right[0] for left, right in pairwise(rows))
    assert set(tagged.mentions["entity_key"]) == set(tagged.tags["entity_key"])


def test_metacharacters_in_names_and_text_have_no_effect() -> None:
    text = "'; DROP TABLE tags; -- caffeine $(rm -rf /) `brain`"
    assert spans(text) == [("caffeine", "SmallMolecule"), ("brain", "Anatomy")]
