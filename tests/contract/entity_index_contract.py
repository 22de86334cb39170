"""What every entity index must do. An implementation's test class inherits it and gives the fixture ``index``."""

from __future__ import annotations

import polars as pl
import pytest

from starling_assets.artifacts.files import StoreError
from starling_assets.retrieval.filterspec import FilterSpec, ResolvedFilter, Scope, Term
from starling_assets.retrieval.protocols import EntityIndex
from starling_assets.retrieval.tables import POSTINGS
from tests.retrieval.small_world import KNOWN, SmallWorld

# FC-08: P1 {aspirin, stroke}, P2 {aspirin}, P3 {stroke}, P4 {}, each in a paper of its own.
FOUR = SmallWorld([[{"aspirin", "stroke"}], [{"aspirin"}], [{"stroke"}], [set()]])
MANY = SmallWorld(
    [
        [{"aspirin"}, {"stroke", "V600E"}, set()],
        [{"caffeine", "brain"}, {"caffeine"}],
        [],
        [{"stroke"}, {"brain", "aspirin"}, {"V600E"}, {"caffeine"}],
    ]
)
FILTERS: list[list[list[str]]] = [
    [],
    [["aspirin"]],
    [["aspirin"], ["stroke"]],
    [["aspirin", "caffeine"], ["brain"]],
    [["SmallMolecule"], ["~Disease"]],
    [["~aspirin"]],
    [["~aspirin"], ["~stroke"]],
    [["~aspirin", "~stroke"]],
    [["brain", "~SmallMolecule"]],
    [["aspirin"], ["~aspirin"]],
    [["aspirin"], ["ghost"]],
    [["aspirin", "ghost"]],
    [["~ghost"]],
    [["V600E"]],
    [["GeneVariant", "stroke"], ["~caffeine", "brain"], ["~ghost"]],
]


class EntityIndexContract:
    """Inherit and provide ``index``, an empty :class:`EntityIndex`."""

    @pytest.fixture
    def index(self) -> EntityIndex:
        pytest.fail("an implementation of the contract gives its own index")

    @staticmethod
    def fill(index: EntityIndex, shard: str, world: SmallWorld) -> None:
        index.load(shard, *world.postings())

    @pytest.mark.parametrize("scope", list(Scope))
    def test_agrees_with_brute_force(self, index: EntityIndex, scope: Scope) -> None:
        self.fill(index, "s", MANY)
        for groups in FILTERS:
            spec = FilterSpec(entity_groups=groups, scope=scope)
            assert set(index.evaluate(MANY.resolved(spec), "s")) == MANY.brute_force(spec), groups

    @pytest.mark.parametrize("scope", list(Scope))
    def test_an_empty_or_of_ids_matches_nothing(self, index: EntityIndex, scope: Scope) -> None:
        self.fill(index, "s", FOUR)
        nothing = Term(text="nobody", kind="entity", ids=[])
        assert not index.evaluate(ResolvedFilter(groups=[[nothing]], scope=scope), "s")
        assert not index.evaluate(ResolvedFilter(groups=[[]], scope=scope), "s")
        absent = nothing.model_copy(update={"negated": True})
        assert set(index.evaluate(ResolvedFilter(groups=[[absent]], scope=scope), "s")) == {0, 1, 2, 3}

    @pytest.mark.parametrize("scope", list(Scope))
    def test_empty_lists_in_a_filter(self, index: EntityIndex, scope: Scope) -> None:
        self.fill(index, "s", FOUR)
        expected: list[tuple[list[list[str]], set[int]]] = [
            ([], {0, 1, 2, 3}),
            ([["aspirin"], ["ghost"]], set()),
            ([["aspirin", "ghost"]], {0, 1}),
            ([["~ghost"]], {0, 1, 2, 3}),
            ([["aspirin"], ["~aspirin"]], set()),
        ]
        for groups, rows in expected:
            query = FOUR.resolved(FilterSpec(entity_groups=groups, scope=scope))
            assert set(index.evaluate(query, "s")) == rows, groups
            assert index.count(query) == len(rows)

    def test_loading_replaces_the_shard(self, index: EntityIndex) -> None:
        self.fill(index, "s", MANY)
        self.fill(index, "t", MANY)
        self.fill(index, "s", FOUR)
        query = FOUR.resolved(FilterSpec(entity_groups=[["caffeine"]], scope=Scope.PAPER))
        assert not index.evaluate(query, "s")
        assert set(index.evaluate(query, "t")) == {1, 3}
        assert index.shards() == ["s", "t"]

    def test_loading_twice_doubles_nothing(self, index: EntityIndex) -> None:
        self.fill(index, "s", MANY)
        before = index.top_entities(Scope.PARAGRAPH, 10)
        self.fill(index, "s", MANY)
        assert index.top_entities(Scope.PARAGRAPH, 10) == before

    def test_duplicate_postings_count_once(self, index: EntityIndex) -> None:
        postings, units = FOUR.postings()
        index.load("s", pl.concat([postings, postings]), units)
        query = FOUR.resolved(FilterSpec(entity_groups=[["aspirin", "aspirin"]], scope=Scope.PARAGRAPH))
        assert index.count(query) == 2
        assert dict(index.top_entities(Scope.PARAGRAPH, 5))[KNOWN["aspirin"][0]] == 2

    def test_drop_forgets_and_forgives(self, index: EntityIndex) -> None:
        self.fill(index, "s", FOUR)
        index.drop("s")
        index.drop("never loaded")
        assert index.shards() == []
        assert index.count(FOUR.resolved(FilterSpec())) == 0
        with pytest.raises(StoreError, match="'s'"):
            index.evaluate(FOUR.resolved(FilterSpec()), "s")

    def test_an_empty_shard_is_a_shard(self, index: EntityIndex) -> None:
        index.load("none", pl.DataFrame(schema=POSTINGS), dict.fromkeys(Scope, 0))
        assert index.shards() == ["none"]
        for groups in FILTERS:
            query = MANY.resolved(FilterSpec(entity_groups=groups, scope=Scope.CHUNK))
            assert not index.evaluate(query, "none")
        assert index.sample(MANY.resolved(FilterSpec()), 5, seed=1) == []
        assert index.top_entities(Scope.PAPER, 5) == []

    def test_a_shard_without_mentions_has_units(self, index: EntityIndex) -> None:
        index.load("bare", pl.DataFrame(schema=POSTINGS), dict.fromkeys(Scope, 7))
        query = MANY.resolved(FilterSpec(entity_groups=[["~aspirin"]], scope=Scope.PAPER))
        assert set(index.evaluate(query, "bare")) == set(range(7))

    def test_counts_over_shards(self, index: EntityIndex) -> None:
        self.fill(index, "a", FOUR)
        self.fill(index, "b", MANY)
        spec = FilterSpec(entity_groups=[["aspirin"]], scope=Scope.PAPER)
        query = FOUR.resolved(spec)
        assert index.count(query) == len(FOUR.brute_force(spec)) + len(MANY.brute_force(spec))
        assert index.count(query, ["b"]) == len(MANY.brute_force(spec))
        assert index.count(query, []) == 0

    def test_sampling_is_repeatable_and_stays_inside(self, index: EntityIndex) -> None:
        self.fill(index, "a", FOUR)
        self.fill(index, "b", MANY)
        spec = FilterSpec(entity_groups=[["~ghost"]], scope=Scope.PARAGRAPH)
        query = FOUR.resolved(spec)
        everything = [("a", n) for n in range(4)] + [("b", n) for n in range(9)]
        draw = index.sample(query, 5, seed=11)
        assert draw == index.sample(query, 5, seed=11)
        assert len(set(draw)) == 5
        assert set(draw) <= set(everything)
        assert index.sample(query, 100, seed=3) == everything
        assert {tuple(index.sample(query, 5, seed=seed)) for seed in range(8)} != {tuple(draw)}

    def test_top_entities(self, index: EntityIndex) -> None:
        self.fill(index, "a", FOUR)
        self.fill(index, "b", MANY)
        top = index.top_entities(Scope.PARAGRAPH, 3)
        assert top == [(KNOWN["aspirin"][0], 4), (KNOWN["stroke"][0], 4), (KNOWN["caffeine"][0], 3)]
        assert index.top_entities(Scope.PARAGRAPH, 9, "Anatomy") == [(KNOWN["brain"][0], 2)]
        assert index.top_entities(Scope.PARAGRAPH, 9, "Antibody") == []

    def test_names_are_data(self, index: EntityIndex) -> None:
        # F38: signs that mean something to a shell or to SQL are part of a name and nothing else.
        hostile = [
            "x' OR '1'='1",
            'y"; DROP TABLE postings; --',
            "$(rm -rf ~)",
            "a\\",
            "`id`",
            "%2e%2e/..",
            "日本",
            "{x:String}",
        ]
        postings = pl.DataFrame(
            {
                "scope": ["paper"] * len(hostile),
                "posting_id": [f"name:{name}" for name in hostile],
                "entity_type": ["Gene"] * len(hostile),
                "ordinal": list(range(len(hostile))),
            },
            schema=POSTINGS,
        )
        shard = "drop'; DROP TABLE shards; -- ../../x"
        index.load(shard, postings, {Scope.PAPER: len(hostile)})
        assert index.shards() == [shard]
        for ordinal, name in enumerate(hostile):
            term = Term(text=name, kind="entity", ids=[f"name:{name}"])
            assert list(index.evaluate(ResolvedFilter(groups=[[term]], scope=Scope.PAPER), shard)) == [ordinal]
        index.drop(shard)
        assert index.shards() == []
