from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from pyroaring import BitMap

from resources.entity_index.local import LocalEntityIndex
from resources.vector_index.faiss_index import FaissVectorIndex
from starling_assets.agents.indexed_passages import IndexedPassages, ShardPassages
from starling_assets.agents.probe_loop import ProbeLoop
from starling_assets.retrieval.filterspec import FilterSpec
from starling_assets.retrieval.vocabulary import Vocabulary
from starling_assets.settings import Settings
from tests.extraction.world import small_task
from tests.retrieval.small_world import KNOWN, SmallWorld, concepts, lexicon
from tests.scripted import ScriptedClient

from .small_corpus import Planner, action

WORDS = ("aspirin", "caffeine", "stroke", "brain")


class WordEmbedder:
    """One axis per known word, and one for the rest."""

    name = "words"
    dimension = len(WORDS) + 1

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        rows = [[float(text.count(word)) for word in WORDS] + [0.1] for text in texts]
        matrix = np.asarray(rows, dtype=np.float32).reshape(-1, self.dimension)
        return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


WORLD = SmallWorld([[{"aspirin", "brain"}], [{"aspirin"}], [{"caffeine", "brain"}], [{"stroke"}], [set()], [{"brain"}]])


@pytest.fixture
def source(tmp_path: Path) -> IndexedPassages:
    texts = {number: " ".join(sorted(names)) or "nothing" for _, _, number, names in WORLD.paragraphs()}
    blocks = WORLD.blocks().with_columns(
        text=pl.col("para_ordinal").replace_strict(texts, return_dtype=pl.String), kind=pl.lit("paragraph")
    )
    papers = WORLD.paper_table().with_columns(title=pl.format("Paper {}", "paper_ordinal"))
    chunks, embedder = WORLD.chunks(), WordEmbedder()
    entities, vectors = LocalEntityIndex(tmp_path / "entities"), FaissVectorIndex(tmp_path / "vectors")
    entities.load("s", *WORLD.postings())
    shown = [texts[first] for first in chunks["first_para_ordinal"]]
    vectors.load("s", embedder.name, chunks["ordinal"].to_numpy().astype(np.uint32), embedder.embed(shown))
    shards = {"s": ShardPassages(blocks, papers, chunks)}
    names = [(name, concept, kind) for name, (concept, kind) in KNOWN.items()]
    vocabulary = Vocabulary.from_frames(lexicon(names), concepts(names))
    return IndexedPassages(shards, entities, vectors, embedder, vocabulary, Settings().retrieval)


def spec(*groups: list[str], query: str = "brain") -> FilterSpec:
    return FilterSpec(entity_groups=list(groups), semantic_query=query)


def test_keys_are_the_chunks_that_pass(source: IndexedPassages) -> None:
    assert source.keys(spec(["aspirin"])) == {"s:0", "s:1"}
    assert source.keys(spec(["SmallMolecule"], ["brain"])) == {"s:0", "s:2"}
    assert source.keys(spec(["aspirin"], ["~brain"])) == {"s:1"}


def test_problems_name_the_term(source: IndexedPassages) -> None:
    assert source.problems(spec(["aspirin"])) is None
    assert "nosuchthing" in str(source.problems(spec(["nosuchthing"])))
    assert source.problems(spec([])) is not None


def test_samples_repeat_and_hold_title_and_text(source: IndexedPassages) -> None:
    one, other = source.sample(spec(["brain"]), 2, 7), source.sample(spec(["brain"]), 2, 7)
    assert one == other
    assert len(one) == 2
    assert all(passage.text.startswith("Paper ") and "brain" in passage.text for passage in one)
    assert len(source.sample(spec(["brain"]), 99, 7)) == 3


def test_search_ranks_by_similarity_within_the_filter(source: IndexedPassages) -> None:
    assert source.search("stroke", 1)[0].text == "Paper 3\nstroke"
    assert source.search("stroke", 9, spec(["aspirin"])) != []
    assert {passage.key for passage in source.search("brain", 9, spec(["aspirin"]))} == {"s:0", "s:1"}


def test_outside_gives_the_best_papers_that_no_filter_touches(source: IndexedPassages) -> None:
    found = source.outside([spec(["SmallMolecule"], ["brain"])], 2)
    assert found[0].text == "Paper 5\nbrain"
    assert not {passage.key for passage in found} & {"s:0", "s:2"}
    assert source.outside([], 5) == []


def test_the_loop_runs_over_real_indexes(source: IndexedPassages, tmp_path: Path) -> None:
    def relevant(user: str) -> dict[str, object]:
        blocks = user.split("id: ")[1:]
        rows = [(part.split("\n")[0], "brain" in part and ("aspirin" in part or "caffeine" in part)) for part in blocks]
        return {"verdicts": [{"id": name, "relevant": hit, "why": ""} for name, hit in rows]}

    plan = [
        [action("add", "all", [["brain"]], "brain")],
        [action("revise", "all", [["SmallMolecule"], ["brain"]], "brain")],
    ]
    client = ScriptedClient(Planner(plan, relevant))
    state = ProbeLoop(small_task(), source, client, tmp_path / "loop").run()
    assert state.ended == "targets"
    assert [probe.matches for probe in state.probes] == [2]


def test_papers_that_a_later_shard_replaced_are_in_no_answer(source: IndexedPassages) -> None:
    tables = source._shards["s"]
    source._shards["s"] = dataclasses.replace(tables, current=BitMap([0, 1, 3]))
    assert source.keys(spec(["SmallMolecule"], ["brain"])) == {"s:0"}
    assert {passage.key for passage in source.search("brain", 9)} == {"s:0", "s:1", "s:3"}
    assert {passage.key for passage in source.outside([spec(["aspirin"])], 9)} == {"s:3"}
