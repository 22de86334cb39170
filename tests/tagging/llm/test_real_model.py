"""The teacher's way through the packaged model: plumbing only, since the smallest one tags next to nothing right."""

from __future__ import annotations

from pathlib import Path

import pytest

from resources.endpoints import build_client
from resources.local_model.server import release
from starling_assets.artifacts.journal import Journal
from starling_assets.inference.calls import Role
from starling_assets.inference.ledger import read_ledger
from starling_assets.settings import Settings
from starling_assets.settings.endpoints import LlmSettings, LocalModel
from starling_assets.settings.model import TaggingSettings
from starling_assets.tagging.entity_types import EntityType
from starling_assets.tagging.llm.tagger import ModelTagger, ModelWork
from tests.local_model.conftest import tiny_weights
from tests.ontology.vocabulary import lexicon

from .world import blocks_of, check_offsets

__all__ = ["tiny_weights"]


@pytest.mark.model
@pytest.mark.timeout(300)
def test_a_pass_by_the_packaged_model_ends_and_tags_printed_words_only(tiny_weights: Path, tmp_path: Path) -> None:
    local = LocalModel(name="smollm2-135m", path=tiny_weights, context_tokens=2_048)
    tagging = TaggingSettings(engine="teacher", max_output_tokens=64)
    settings = Settings(home=tmp_path, llm=LlmSettings(local=local), tagging=tagging)
    client = build_client(settings)
    blocks = blocks_of([["Aspirin lowered fever in mice."]])
    try:
        work = ModelWork(client, Journal(tmp_path / "journal"))
        tagged = ModelTagger([EntityType.SMALL_MOLECULE], lexicon(), tagging, work).tag(blocks)
    finally:
        release(settings)
    assert tagged.tally.complete
    assert tagged.tally.planned == 1
    check_offsets(tagged, blocks)
    assert set(tagged.tags["tagger"]) <= {f"teacher:{client.model_name(Role.TEACHER)}"}
    calls = read_ledger(settings.ledger_dir)
    assert set(calls["purpose"]) == {"tagging/small_molecule"}
    assert (calls["prompt_tokens"] > 500).all()
