"""Mentions and links to postings, against counting by hand."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap

from starling_assets.retrieval.filterspec import Scope
from starling_assets.retrieval.postings import build_bitmaps, build_postings, grouped_ordinals, unit_counts
from starling_assets.retrieval.tables import BITMAPS, POSTINGS
from tests.contract.entity_index_contract import MANY
from tests.retrieval.small_world import KNOWN, SmallWorld

worlds = st.builds(
    SmallWorld,
    st.lists(st.lists(st.sets(st.sampled_from([*KNOWN, "V600E"]), max_size=3), max_size=5), max_size=4),
    chunk_paragraphs=st.sampled_from([1, 2, 3]),
)


@given(worlds)
@settings(max_examples=60, deadline=None)
def test_postings_are_what_the_units_hold(world: SmallWorld) -> None:
    postings, units = world.postings()
    assert list(postings.columns) == list(POSTINGS)
    assert postings.equals(postings.unique().sort("scope", "posting_id", "ordinal"))
    for scope in Scope:
        holders = world.units(scope)
        assert units[scope] == len(holders)
        expected = {
            (posting, ordinal)
            for ordinal, names in enumerate(holders)
            for name in names
            for posting in (
                KNOWN[name][0] if name in KNOWN else f"name:{world.key_of(name)}",
                f"type:{world.type_of(name)}",
            )
        }
        rows = postings.filter(pl.col("scope") == str(scope)).select("posting_id", "ordinal").rows()
        assert set(rows) == expected


def test_a_mention_outside_the_paragraphs_counts_for_its_paper() -> None:
    mentions = (
        MANY.mentions()
        .head(1)
        .with_columns(para_ordinal=pl.lit(None, dtype=pl.UInt32), para_idx=pl.lit(None, dtype=pl.UInt32))
    )
    postings = build_postings(mentions, MANY.links(), MANY.chunks())
    assert postings.select("scope", "posting_id", "ordinal").rows() == [
        ("paper", "CHEBI:15365", 0),
        ("paper", "type:SmallMolecule", 0),
    ]


def test_equal_candidates_of_other_ontologies_are_posted_too() -> None:
    world = SmallWorld([[{"brain"}]])
    candidates = [
        {"concept_id": "UBERON:0000955", "name": "brain", "score": 1.0},
        {"concept_id": "MESH:D001921", "name": "Brain", "score": 1.0},
        {"concept_id": "MESH:D999999", "name": "Brain stem", "score": 0.4},
        {"concept_id": "X:1", "name": "unscored", "score": None},
    ]
    schema = world.links().schema
    links = world.links().with_columns(
        candidates=pl.lit([candidates], dtype=pl.List(pl.List(schema["candidates"].inner))).explode()
    )
    postings = build_postings(world.mentions(), links, world.chunks())
    paragraph = postings.filter(pl.col("scope") == "paragraph")
    assert paragraph.select("posting_id", "entity_type").rows() == [
        ("MESH:D001921", "Anatomy"),
        ("UBERON:0000955", "Anatomy"),
        ("type:Anatomy", None),
    ]


def test_an_entity_without_a_link_row_is_posted_under_its_name() -> None:
    world = SmallWorld([[{"aspirin"}]])
    postings = build_postings(world.mentions(), world.links().clear(), world.chunks())
    assert set(postings["posting_id"]) == {f"name:{world.key_of('aspirin')}", "type:SmallMolecule"}


def test_an_id_of_two_types_is_one_posting_list() -> None:
    rows = pl.DataFrame(
        {
            "scope": ["paper"] * 3,
            "posting_id": ["X:1"] * 3,
            "entity_type": ["Gene"] * 3,
            "ordinal": [3, 1, 3],
        },
        schema=POSTINGS,
    )
    ((scope, posting, kind, ordinals),) = grouped_ordinals(rows)
    assert (scope, posting, kind, ordinals.tolist()) == ("paper", "X:1", "Gene", [1, 3])
    world = SmallWorld([[{"p53", "TP53"}]], entity_type={"p53": "Protein", "TP53": "Gene"})
    links = world.links().with_columns(concept_id=pl.lit("X:1"), score=pl.lit(1.0, dtype=pl.Float32))
    postings = build_postings(world.mentions(), links, world.chunks())
    assert postings.filter(pl.col("posting_id") == "X:1")["entity_type"].unique().to_list() == ["Gene"]


def test_bitmaps_hold_the_postings_and_repeat_to_the_byte() -> None:
    postings, _ = MANY.postings()
    bitmaps = build_bitmaps(postings)
    assert list(bitmaps.columns) == list(BITMAPS)
    assert bitmaps.equals(build_bitmaps(postings.sample(fraction=1.0, shuffle=True, seed=2)))
    counted = postings.group_by("scope", "posting_id").agg(units=pl.len().cast(pl.UInt32)).sort("scope", "posting_id")
    assert bitmaps.select("scope", "posting_id", "units").equals(counted)
    first = bitmaps.row(0, named=True)
    assert len(BitMap.deserialize(first["bitmap"])) == first["units"]


def test_empty_tables() -> None:
    nothing = SmallWorld([])
    postings, units = nothing.postings()
    assert postings.is_empty()
    assert build_bitmaps(postings).is_empty()
    assert units == dict.fromkeys(Scope, 0)
    assert grouped_ordinals(postings) == []


def test_units_count_papers_without_paragraphs() -> None:
    world = SmallWorld([[], [set()], []])
    assert unit_counts(world.blocks(), world.chunks(), world.paper_table()) == {
        Scope.PARAGRAPH: 1,
        Scope.CHUNK: 1,
        Scope.PAPER: 3,
    }
