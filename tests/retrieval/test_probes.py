"""Probes over units of every scope become chunks."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyroaring import BitMap

from resources.entity_index.local import LocalEntityIndex
from starling_assets.retrieval.filterspec import FilterSpec, Scope
from starling_assets.retrieval.probes import (
    Probe,
    ResolvedProbe,
    chunks_of_papers,
    probe_chunks,
    resolve_probe,
    run_probe,
)
from starling_assets.retrieval.vocabulary import Vocabulary
from starling_assets.settings.model import RetrievalSettings
from tests.contract.entity_index_contract import MANY
from tests.retrieval.small_world import KNOWN, concepts, lexicon

ROWS = [(name, concept, kind) for name, (concept, kind) in KNOWN.items()]
VOCABULARY = Vocabulary.from_frames(lexicon(ROWS), concepts(ROWS))
# MANY: chunks of two paragraphs, one step apart: papers 0 (paragraphs 0-2), 1 (3-4), 2 (none), 3 (5-8).
CHUNKS = MANY.chunks()


def resolved(groups: list[list[str]], scope: Scope, query: str = "") -> ResolvedProbe:
    spec = FilterSpec(entity_groups=groups, scope=scope, semantic_query=query)
    return resolve_probe(Probe(name="p", filter=spec), VOCABULARY, RetrievalSettings())


def test_the_chunks_of_the_world() -> None:
    assert CHUNKS.select("ordinal", "paper_ordinal", "first_para_ordinal", "n").rows() == [
        (0, 0, 0, 2), (1, 0, 1, 2), (2, 1, 3, 2), (3, 3, 5, 2), (4, 3, 6, 2), (5, 3, 7, 2),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("scope", "units", "chunks"),
    [
        (Scope.CHUNK, {1, 4}, {1, 4}),
        (Scope.PARAGRAPH, {1}, {0, 1}),
        (Scope.PARAGRAPH, {4, 8}, {2, 5}),
        (Scope.PAPER, {0, 2}, {0, 1}),
        (Scope.PAPER, {3}, {3, 4, 5}),
        (Scope.PARAGRAPH, set(), set()),
        (Scope.PAPER, set(), set()),
    ],
)
def test_units_to_chunks(scope: Scope, units: set[int], chunks: set[int]) -> None:
    assert set(probe_chunks(BitMap(units), scope, CHUNKS)) == chunks


def test_allowed_papers_restrict(tmp_path: Path) -> None:
    index = LocalEntityIndex(tmp_path)
    index.load("s", *MANY.postings())
    probe = resolved([["SmallMolecule"]], Scope.CHUNK)
    everything = set(run_probe(probe, index, "s", CHUNKS))
    assert everything == MANY.brute_force(FilterSpec(entity_groups=[["SmallMolecule"]]))
    assert set(run_probe(probe, index, "s", CHUNKS, [3])) == everything & {3, 4, 5}
    assert set(run_probe(probe, index, "s", CHUNKS, [])) == set()
    assert set(chunks_of_papers(BitMap([1, 99]), CHUNKS)) == {2}


def test_paragraph_scope_is_stricter_than_chunk_scope(tmp_path: Path) -> None:
    index = LocalEntityIndex(tmp_path)
    index.load("s", *MANY.postings())
    together = [["aspirin"], ["stroke"]]
    assert set(run_probe(resolved(together, Scope.PARAGRAPH), index, "s", CHUNKS)) == set()
    assert set(run_probe(resolved(together, Scope.CHUNK), index, "s", CHUNKS)) == {0, 3}
    assert set(run_probe(resolved(together, Scope.PAPER), index, "s", CHUNKS)) == {0, 1, 3, 4, 5}


def test_a_probe_without_a_query_is_searched_by_its_names() -> None:
    assert resolved([["aspirin", "~brain"], ["stroke"]], Scope.CHUNK).semantic_query == "aspirin, stroke"
    assert resolved([["aspirin"]], Scope.CHUNK, "  crosses the barrier ").semantic_query == "crosses the barrier"
    assert resolved([], Scope.CHUNK).semantic_query == "p"


def test_a_resolved_probe_survives_json() -> None:
    probe = resolved([["aspirin", "~Disease"]], Scope.PAPER, "x")
    assert ResolvedProbe.model_validate_json(probe.model_dump_json()) == probe
