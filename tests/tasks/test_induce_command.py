"""`starling task induce`: a draft over an indexed project, with a scripted model behind the door."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner, Result

from resources.embedder import EmbedderResource
from resources.entity_index import EntityIndexResource
from resources.vector_index import VectorIndexResource
from starling_assets.agents.tasks import load_task
from starling_assets.artifacts.store import Store
from starling_assets.cli import induce
from starling_assets.cli.app import app
from starling_assets.settings import load_settings
from tests.agents.small_corpus import Planner, action
from tests.agents.test_indexed_passages import WordEmbedder
from tests.agents.test_induction import Model
from tests.retrieval.small_world import KNOWN, SmallWorld, concepts, lexicon
from tests.scripted import ScriptedClient

SENTENCE = "Find all drugs that enter the brain."
WORLD = SmallWorld([[{"aspirin", "brain"}]] * 20 + [[{"stroke"}]] * 6)
GROUPS = [["aspirin"], ["brain"]]


class WorldModel(Model):
    """Proposes the one right probe; a passage with aspirin in it is relevant."""

    def __call__(self, messages: list[dict[str, str]], schema: dict[str, object]) -> dict[str, object]:
        properties, text = schema["properties"], messages[-1]["content"]
        assert isinstance(properties, dict)
        if "actions" in properties:
            return Planner([[action("add", "entry", GROUPS)]] if "Iteration 0." in text else [])(messages, schema)
        found: dict[str, object] = super().__call__(messages, schema)
        if "verdicts" in properties and "id: p1\n" in text:
            passages = text.split("id: p")[1:]
            found = {
                "verdicts": [
                    {"id": f"p{part.split()[0]}", "relevant": "aspirin" in part, "why": ""} for part in passages
                ]
            }
        return found


@pytest.fixture
def indexed(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one shard in both indexes."""
    embedder = WordEmbedder()
    monkeypatch.setattr(EmbedderResource, "embedder", lambda self: embedder)
    texts = {number: " ".join(sorted(names)) for _, _, number, names in WORLD.paragraphs()}
    blocks = WORLD.blocks().with_columns(
        text=pl.col("para_ordinal").replace_strict(texts, return_dtype=pl.String), kind=pl.lit("paragraph")
    )
    chunks, store = WORLD.chunks(), Store(load_settings(project).store_root)
    names = [(name, concept, kind) for name, (concept, kind) in KNOWN.items()]
    store.write(lexicon(names), "lexicon")
    store.write(concepts(names), "lexicon", table="concepts")
    store.write(pl.DataFrame(schema={"child": pl.String, "parent": pl.String}), "lexicon", table="edges")
    store.write(blocks, "papers", "s", table="blocks")
    store.write(WORLD.paper_table().with_columns(title=pl.format("Paper {}", "paper_ordinal")), "papers", "s")
    store.write(chunks, "chunks", "s")
    EntityIndexResource().index().load("s", *WORLD.postings())
    vectors = embedder.embed([texts[first] for first in chunks["first_para_ordinal"]])
    VectorIndexResource().index(embedder.name).load(
        "s", embedder.name, chunks["ordinal"].to_numpy().astype(np.uint32), vectors
    )
    return project


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> ScriptedClient:
    client = ScriptedClient(WorldModel())
    monkeypatch.setattr(induce, "build_client", lambda *_: client)
    return client


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["task", *arguments])


def refused(*arguments: str) -> str:
    result = call(*arguments)
    assert result.exit_code != 0
    assert isinstance(result.exception, SystemExit), result.exception
    return " ".join(result.output.split())


def test_a_sentence_becomes_a_task_that_waits_for_approval(indexed: Path, model: ScriptedClient) -> None:
    assert call("new", SENTENCE, "--name", "entry").exit_code == 0
    result = call("induce", "entry")
    assert result.exit_code == 0, result.output
    assert "probes: 1, ended: targets" in result.output
    assert "schema: ended: targets" in result.output
    shown = json.loads(call("show", "entry", "--json").output)
    assert (shown["state"], shown["probes"], shown["lacks"]) == ("complete", ["entry"], [])
    folder = Path(shown["files"][0]).parent
    assert load_task("entry", [folder.parent]).probes[0].filter.entity_groups == GROUPS
    paid = len(model.calls)
    assert call("induce", "entry").exit_code == 0
    assert len(model.calls) == paid
    assert call("approve", "entry").exit_code == 0
    assert "is approved; take" in refused("induce", "entry")


def test_a_validator_without_answers_is_told_and_approves_nothing(indexed: Path, model: ScriptedClient) -> None:
    plain = model.answer

    def silent(messages: list[dict[str, str]], schema: dict[str, object]) -> dict[str, object]:
        properties = schema["properties"]
        assert isinstance(properties, dict)
        return {"verdicts": []} if "verdicts" in properties else plain(messages, schema)

    model.answer = silent
    assert call("new", SENTENCE, "--name", "entry").exit_code == 0
    result = call("induce", "entry")
    assert result.exit_code == 0, result.output
    assert "the targets were not reached" in result.output
    assert json.loads(call("show", "entry", "--json").output)["state"] != "approved"


def test_an_empty_project_and_a_packaged_task_are_one_line(project: Path, model: ScriptedClient) -> None:
    assert call("new", SENTENCE, "--name", "entry").exit_code == 0
    assert "nothing is indexed yet" in refused("induce", "entry")
    assert "comes with the package" in refused("induce", "bbb")
    assert "there is no task 'nosuch'" in refused("induce", "nosuch")
    assert model.calls == []
