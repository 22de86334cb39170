"""Teacher, validation and training set as steps, through the real door to a scripted endpoint."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from resources.embedder import EmbedderResource
from resources.endpoints import ModelClientResource
from resources.project import ProjectResource
from starling_assets.artifacts.store import Store
from starling_assets.defs.distillation import tagging_training_set, vocabulary_validation
from starling_assets.defs.tagging import tag_shards
from starling_assets.literature.shards import ShardBook
from starling_assets.literature.tables import BLOCKS, PAPERS
from starling_assets.ontology.tables import CONCEPTS, LEXICON
from starling_assets.tagging.llm.prompts import student_prompt
from starling_assets.tagging.llm.replies import JointReply
from starling_assets.tagging.llm.surfaces import occurrences
from tests.ontology.vocabulary import biology, chemistry, lexicon
from tests.scripted.tagging import GoldEntity, IdealTagger, TaggerAndValidator
from tests.stub_endpoint import Behaviour, StubEndpoint

from .world import blocks_of

TEXTS = [
    ["Aspirin helped in AD.", "AD (Alzheimer's disease) is common.", "Brain tissue was fixed."],
    ["Aspirin for cancer pain.", "No entity here.", "Alzheimer's disease again."],
    ["Aspirin, all rights reserved.", "x", "y"],
]
GOLD = [
    GoldEntity("SmallMolecule", "aspirin", ("Aspirin",), "Aspirin helped in AD."),
    GoldEntity("Disease", "Alzheimer's disease", ("AD",), "Aspirin helped in AD."),
    GoldEntity("Disease", "Alzheimer's disease", ("AD", "Alzheimer's disease"), TEXTS[0][1]),
    GoldEntity("Anatomy", "brain", ("Brain",), TEXTS[0][2]),
    GoldEntity("SmallMolecule", "aspirin", ("Aspirin",), TEXTS[1][0]),
    GoldEntity("Disease", "oncological pain", ("cancer pain",), TEXTS[1][0]),
    GoldEntity("Disease", "Alzheimer's disease", ("Alzheimer's disease",), TEXTS[1][2]),
    GoldEntity("SmallMolecule", "aspirin", ("Aspirin",), TEXTS[2][0]),
]
LICENCES = ["CC-BY", "CC0", "ALL-RIGHTS-RESERVED"]


class Steps:
    """A project with one stored shard, and its steps run one at a time."""

    def __init__(self, root: Path, url: str) -> None:
        self.root, home = root, root / ".starling"
        (root / "starling.toml").write_text(
            f'home = "{home}"\n[llm]\nbase_url = "{url}"\nmodel = "scripted"\nbackoff_seconds = 0.0\nattempts = 2\n'
            f"price_prompt = 1.0\nprice_completion = 2.0\n"
            '[tagging]\nengine = "teacher"\n'
        )
        (root / "paper.txt").write_text("a source")
        ShardBook(home).close([root / "paper.txt"], key="s1")
        self.store = Store(home / "store")
        self.store.write(blocks_of(TEXTS), "papers", "s1", table="blocks", schema=BLOCKS)
        papers: list[dict[str, Any]] = [
            {
                **dict.fromkeys(PAPERS), "paper_ordinal": n, "paper_id": f"pmid:{n}", "pmid": str(n), "version": 1,
                "licence": licence, "source_kind": "jats", "retracted": False, "retracts": [], "deleted": False,
            }
            for n, licence in enumerate(LICENCES)
        ]  # fmt: skip
        self.store.write(pl.DataFrame(papers, schema=PAPERS), "papers", "s1", schema=PAPERS)
        self.store.write(lexicon(), "lexicon", schema=LEXICON)
        concepts = pl.concat([biology().concepts, chemistry().concepts])
        self.store.write(concepts, "lexicon", table="concepts", schema=CONCEPTS)

    def run(self, asset: dg.AssetsDefinition, key: str | None = None, **settings: str) -> dg.ExecuteInProcessResult:
        with dg.DagsterInstance.ephemeral() as instance:
            instance.add_dynamic_partitions("shard", ["s1"])
            return dg.materialize(
                [asset],
                resources={
                    "project": ProjectResource(root=str(self.root)),
                    "models": ModelClientResource(project=str(self.root)),
                    "embedder": EmbedderResource(),
                },
                partition_key=key,
                instance=instance,
            )


class _NoEmbedder:
    """Every text is as near as any other: candidates come from spelling alone."""

    def embed(self, texts: list[str]) -> Any:
        import numpy as np

        return np.ones((len(texts), 1), np.float32)


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint(answer=TaggerAndValidator(IdealTagger(GOLD)), models=("scripted",)) as endpoint:
        yield endpoint


@pytest.fixture
def steps(tmp_path: Path, stub: StubEndpoint, monkeypatch: pytest.MonkeyPatch) -> Steps:
    monkeypatch.setattr(EmbedderResource, "embedder", lambda _self: _NoEmbedder())
    return Steps(tmp_path, stub.base_url)


def metadata(result: dg.ExecuteInProcessResult, name: str) -> Callable[[str], Any]:
    (event,) = result.asset_materializations_for_node(name)
    return lambda key: event.metadata[key].value


def test_the_teacher_tags_a_shard_and_tells_what_it_cost(steps: Steps, stub: StubEndpoint) -> None:
    result = steps.run(tag_shards, "s1")
    told = metadata(result, "tag_shards")
    assert (told("units_planned"), told("units_failed"), told("mentions")) == (57, 0, 9)
    assert told("usage_cost") > 0
    assert told("usage_prompt_tokens") > 0
    before, asked = steps.store.path("tag_shards", "s1", table="mentions").read_bytes(), len(stub.requests)
    assert metadata(steps.run(tag_shards, "s1"), "tag_shards")("units_planned") == 57
    assert steps.store.path("tag_shards", "s1", table="mentions").read_bytes() == before
    assert len(stub.requests) == asked == 57


def test_a_reply_cut_off_by_the_endpoint_is_read_again_in_halves(steps: Steps, stub: StubEndpoint) -> None:
    stub.queue(Behaviour.truncated())
    told = metadata(steps.run(tag_shards, "s1"), "tag_shards")
    assert (told("units_failed"), told("mentions")) == (0, 9)
    assert len(stub.requests) == 57 + 2


def test_a_wrong_key_stops_the_step_with_one_clear_line(steps: Steps, stub: StubEndpoint) -> None:
    stub.queue(*[Behaviour.failing(401)] * 40)
    with pytest.raises(Exception, match="authentication"):
        steps.run(tag_shards, "s1")
    assert len(stub.requests) < 57
    assert not steps.store.exists("tag_shards", "s1")


def test_validation_chooses_rejects_and_makes_an_overlay(steps: Steps) -> None:
    steps.run(tag_shards, "s1")
    result = steps.run(vocabulary_validation, "Disease")
    rows = {
        row["canonical_name"]: row for row in steps.store.read("vocabulary_validation", "Disease").iter_rows(named=True)
    }
    chosen = rows["Alzheimer's disease"]
    assert (chosen["status"], chosen["concept_id"], chosen["papers"]) == ("chosen", "MONDO:4975", 2)
    assert rows["oncological pain"]["status"] == "rejected"
    overlay = steps.store.read("vocabulary_validation", "Disease", table="overlay")
    assert overlay.is_empty()  # "AD" is too short to be added, the other form is known
    assert metadata(result, "vocabulary_validation")("entities") == 2


def test_the_training_set_holds_open_papers_with_validated_names_and_a_card(steps: Steps) -> None:
    steps.run(tag_shards, "s1")
    steps.run(vocabulary_validation, "Disease")
    steps.run(tagging_training_set)
    folder = steps.store.folder("tagging_training_set")
    lines = [json.loads(line) for line in (folder / "examples.jsonl").read_text().splitlines()]
    assert sorted(line["paper_id"] for line in lines) == ["pmid:0", "pmid:1"]
    for line in lines:
        system, user, assistant = (message["content"] for message in line["messages"])
        assert system == student_prompt().text
        reply = JointReply.model_validate_json(assistant, strict=True)
        assert all(occurrences(form, user) for entity in reply.entities for form in entity.forms)
        names = {entity.name for entity in reply.entities if entity.type == "Disease"}
        assert "Alzheimer disease" in names
        assert "Alzheimer's disease" not in names
    card = (folder / "card.md").read_text()
    assert "| CC-BY | 1 |" in card
    assert "ALL-RIGHTS" not in card
    assert "| Disease | 2 | 1 |" in card
    assert "teacher:scripted" in card
    first = (folder / "examples.jsonl").read_bytes()
    steps.run(tagging_training_set)
    assert (folder / "examples.jsonl").read_bytes() == first


def test_without_a_teacher_there_is_nothing_to_learn_from(steps: Steps) -> None:
    with pytest.raises(Exception, match="no shard was tagged by a teacher"):
        steps.run(tagging_training_set)
