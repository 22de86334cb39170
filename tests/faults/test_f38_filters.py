"""F38: shell, SQL and path signs in filter names, shard names and queries are data."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.entity_index.local import LocalEntityIndex
from starling_assets.retrieval.filterspec import FilterSpec, Scope
from starling_assets.retrieval.grammar import parse_text, to_text
from starling_assets.retrieval.resolution import UnresolvedTerms, resolve
from starling_assets.retrieval.vocabulary import Vocabulary
from starling_assets.settings.model import RetrievalSettings
from tests.contract.entity_index_contract import FOUR
from tests.retrieval.small_world import concepts, lexicon

HOSTILE = [
    "x'; DROP TABLE postings; --",
    'a" OR ""="',
    "$(touch /tmp/starling-was-here)",
    "`id`",
    "../../etc/passwd",
    "%2e%2e%2f",
    "{{7*7}}",
    "\\'",
    "a.*b|c",
    "|| rm -rf ~",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_a_name(name: str) -> None:
    rows = [(name, "X:1", "SmallMolecule"), ("aspirin", "CHEBI:15365", "SmallMolecule")]
    vocabulary = Vocabulary.from_frames(lexicon(rows), concepts(rows))
    spec = FilterSpec(entity_groups=[[name], [f"~{name}", "aspirin"]])
    query = resolve(spec, vocabulary, RetrievalSettings())
    assert query.groups[0][0].chosen == [f"X:1 {name}"]
    assert parse_text(to_text(spec)) == spec
    with pytest.raises(UnresolvedTerms):
        resolve(spec, Vocabulary.from_frames(lexicon(rows[1:]), concepts(rows[1:])), RetrievalSettings())


@given(st.text(min_size=1, max_size=20))
@settings(max_examples=60, deadline=None)
def test_a_pattern_in_a_name_is_not_a_pattern(name: str) -> None:
    # The search for near spellings must take every sign literally and never fail.
    rows = [("aspirin", "CHEBI:15365", "SmallMolecule"), ("a.*n", "X:2", "SmallMolecule")]
    assert isinstance(Vocabulary.from_frames(lexicon(rows), concepts(rows)).suggestions(name), list)


@pytest.mark.parametrize("shard", HOSTILE)
def test_a_hostile_shard_name_stays_inside_the_root(tmp_path: Path, shard: str) -> None:
    root = tmp_path / "index"
    index = LocalEntityIndex(root)
    index.load(shard, *FOUR.postings())
    assert index.shards() == [shard]
    assert index.count(FOUR.resolved(FilterSpec(entity_groups=[["aspirin"]], scope=Scope.PAPER))) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
    assert len(list(root.iterdir())) == 1
    index.drop(shard)
    assert list(root.iterdir()) == []
