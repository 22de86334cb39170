"""FC-08: an OR of nothing is false, an AND of nothing is true, NOT of nothing is true."""

from __future__ import annotations

import pytest

from resources.entity_index.local import LocalEntityIndex
from starling_assets.retrieval.filterspec import FilterSpec, Scope
from starling_assets.retrieval.grammar import FilterError, parse_text
from starling_assets.retrieval.probes import Probe, probe_chunks, resolve_probe, run_probe, silent_terms
from starling_assets.retrieval.resolution import resolve
from starling_assets.retrieval.vocabulary import Vocabulary
from starling_assets.settings.model import RetrievalSettings
from tests.contract.entity_index_contract import FOUR
from tests.retrieval.small_world import KNOWN, concepts, lexicon

ROWS = [(name, concept, kind) for name, (concept, kind) in KNOWN.items()]
VOCABULARY = Vocabulary.from_frames(lexicon(ROWS), concepts(ROWS))
SETTINGS = RetrievalSettings()


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> LocalEntityIndex:
    index = LocalEntityIndex(tmp_path_factory.mktemp("index"))
    index.load("s", *FOUR.postings())
    return index


@pytest.mark.parametrize("scope", list(Scope))
@pytest.mark.parametrize(
    ("groups", "rows"),
    [
        ([], {0, 1, 2, 3}),
        ([["aspirin"], ["ghost"]], set()),
        ([["aspirin", "ghost"]], {0, 1}),
        ([["~ghost"]], {0, 1, 2, 3}),
        ([["aspirin"], ["~aspirin"]], set()),
    ],
)
def test_rows(index: LocalEntityIndex, scope: Scope, groups: list[list[str]], rows: set[int]) -> None:
    query = resolve(FilterSpec(entity_groups=groups, scope=scope), VOCABULARY, SETTINGS)
    assert set(index.evaluate(query, "s")) == rows
    # One paragraph, one chunk, one paper each: the chunks of the answer are the answer.
    assert set(probe_chunks(index.evaluate(query, "s"), scope, FOUR.chunks())) == rows


@pytest.mark.parametrize("groups", [[[]], [["aspirin"], []], [[], ["aspirin"]]])
def test_an_empty_group_is_refused_by_its_number(groups: list[list[str]]) -> None:
    number = groups.index([]) + 1
    with pytest.raises(FilterError, match=f"group {number} of {len(groups)} is empty"):
        resolve(FilterSpec(entity_groups=groups), VOCABULARY, SETTINGS)


def test_the_text_form_has_no_empty_group() -> None:
    with pytest.raises(FilterError):
        parse_text("aspirin AND ()")
    assert parse_text("").entity_groups == []


@pytest.mark.parametrize("scope", list(Scope))
def test_the_answer_names_what_never_occurs(index: LocalEntityIndex, scope: Scope) -> None:
    query = resolve(FilterSpec(entity_groups=[["aspirin", "~ghost"], ["ghost"]], scope=scope), VOCABULARY, SETTINGS)
    assert silent_terms(query, index) == ["ghost"]


@pytest.mark.parametrize("scope", list(Scope))
@pytest.mark.parametrize(
    ("papers", "rows"),
    [
        (None, {0, 1}),
        ([], set()),
        ([1], {1}),
        ([2, 3], set()),
        (list(range(1, 50_001)), {1}),
        ([1, *range(1_000, 51_000)], {1}),
        ([-1, 2**40, 1], {1}),
    ],
)
def test_allowed_papers(index: LocalEntityIndex, scope: Scope, papers: list[int] | None, rows: set[int]) -> None:
    probe = resolve_probe(
        Probe(name="p", filter=FilterSpec(entity_groups=[["aspirin"]], scope=scope)), VOCABULARY, SETTINGS
    )
    assert set(run_probe(probe, index, "s", FOUR.chunks(), papers)) == rows
