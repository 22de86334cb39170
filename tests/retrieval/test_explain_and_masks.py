"""A filter explained with its counts; papers that a later shard replaced stay out."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from pyroaring import BitMap

from resources.entity_index.local import LocalEntityIndex
from starling_assets.literature.versions import STANDING
from starling_assets.retrieval.explain import FilterExplained, explain
from starling_assets.retrieval.filterspec import FilterSpec, Scope
from starling_assets.retrieval.grammar import FilterError
from starling_assets.retrieval.masks import current_papers, superseded_papers, without_superseded
from starling_assets.retrieval.vocabulary import Vocabulary
from starling_assets.settings.model import RetrievalSettings
from tests.contract.entity_index_contract import FOUR, MANY
from tests.retrieval.small_world import KNOWN, concepts, edges, lexicon

ROWS = [
    *((name, concept, kind) for name, (concept, kind) in KNOWN.items()),
    ("Stroke", "HGNC:77", "Gene"),
    ("drug", "CHEBI:23888", "SmallMoleculeClass"),
]
EDGES = edges([("CHEBI:15365", "CHEBI:23888"), ("CHEBI:27732", "CHEBI:23888")])
VOCABULARY = Vocabulary.from_frames(lexicon(ROWS), concepts(ROWS), EDGES)


@pytest.fixture
def index(tmp_path: Path) -> LocalEntityIndex:
    index = LocalEntityIndex(tmp_path)
    index.load("a", *FOUR.postings())
    index.load("b", *MANY.postings())
    return index


def explained(index: LocalEntityIndex, groups: list[list[str]], **settings: int) -> FilterExplained:
    spec = FilterSpec(entity_groups=groups, scope=Scope.PARAGRAPH)
    return explain(spec, VOCABULARY, index, RetrievalSettings.model_validate(settings))


def test_counts_of_terms_and_clauses(index: LocalEntityIndex) -> None:
    found = explained(index, [["drug"], ["~stroke", "ghost"]])
    assert (found.units, found.matches, found.silent) == (13, 6, ["ghost"])
    first, second = found.clauses
    # aspirin in 2 + 2 paragraphs, caffeine in 3.
    assert (first.text, first.units, first.remaining) == ("drug", 7, 7)
    (drug,) = first.terms
    assert (drug.ids, drug.expansion_total, drug.truncated, drug.units) == (3, 3, False, 7)
    assert (second.units, second.remaining) == (9, 6)
    stroke, ghost = second.terms
    assert (stroke.term, stroke.units, stroke.ambiguous) == ("~stroke", 4, True)
    assert stroke.chosen == ["MONDO:0005098 stroke"]
    assert stroke.other_candidates == ["HGNC:77 Stroke"]
    assert ghost.units == 0


def test_the_lines_say_what_a_person_must_know(index: LocalEntityIndex) -> None:
    text = "\n".join(explained(index, [["drug"], ["~stroke"], ["ghost"]], expansion_cap=2).lines)
    assert "drug AND NOT stroke AND ghost: 0 of 13 paragraphs" in text
    assert "cut: 2 of 3 narrower concepts" in text
    assert "ambiguous; also HGNC:77 Stroke" in text
    assert '"ghost" is known, but nothing in the corpus mentions it' in text


def test_no_condition_matches_everything(index: LocalEntityIndex) -> None:
    found = explained(index, [])
    assert (found.matches, found.units, found.clauses, found.silent) == (13, 13, [], [])
    assert found.lines == ["(no condition): 13 of 13 paragraphs"]


def test_explaining_refuses_what_resolving_refuses(index: LocalEntityIndex) -> None:
    with pytest.raises(FilterError, match='no vocabulary knows "asprin"; did you mean "aspirin"'):
        explained(index, [["asprin"]])


def _standing(rows: list[tuple[str, int, bool]]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {**dict.fromkeys(STANDING), "shard": shard, "paper_ordinal": paper, "current": current}
            for shard, paper, current in rows
        ],
        schema=STANDING,
    )


def test_superseded_papers_lose_their_chunks_only_in_their_shard() -> None:
    standing = _standing([("s", 0, True), ("s", 1, False), ("s", 3, True), ("t", 0, False), ("t", 1, True)])
    assert current_papers(standing, "s") == BitMap([0, 3])
    assert superseded_papers(standing, "s") == BitMap([1])
    hits = BitMap([0, 2, 4])  # chunk 2 is paper 1's only one
    assert without_superseded(hits, standing, "s", MANY.chunks()) == BitMap([0, 4])
    assert without_superseded(hits, standing, "t", MANY.chunks()) == BitMap([2, 4])
    assert without_superseded(hits, standing, "unknown", MANY.chunks()) == hits
