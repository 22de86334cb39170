"""The one place that chooses a tagger by the settings."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from starling_assets.artifacts.journal import Journal
from starling_assets.inference.calls import Role
from starling_assets.settings import Settings
from starling_assets.settings.model import TaggingSettings
from starling_assets.tagging.dictionary import DictionaryTagger
from starling_assets.tagging.engines import build_tagger, model_role, passes
from starling_assets.tagging.entity_types import EntityType
from starling_assets.tagging.llm.tagger import ModelTagger, ModelWork
from tests.ontology.vocabulary import lexicon
from tests.scripted import ScriptedClient

from .world import blocks_of


def settings(engine: str) -> Settings:
    return Settings(tagging=TaggingSettings.model_validate({"engine": engine}))


def test_only_teacher_and_student_ask_a_model() -> None:
    roles = {engine: model_role(settings(engine)) for engine in ("dictionary", "encoder", "student", "teacher")}
    assert roles == {"dictionary": None, "encoder": None, "student": Role.TAGGER, "teacher": Role.TEACHER}
    assert passes("student") == [None]
    assert passes("teacher") == list(EntityType)


def test_the_dictionary_needs_no_door() -> None:
    tagger = build_tagger(settings("dictionary"), lexicon())
    assert isinstance(tagger, DictionaryTagger)
    assert tagger.tag(blocks_of([["caffeine"]])).mentions["surface"].to_list() == ["caffeine"]


def test_a_model_engine_needs_a_door_and_a_journal(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="asks a model"):
        build_tagger(settings("student"), lexicon())
    work = ModelWork(ScriptedClient(lambda *_: {"entities": []}), Journal(tmp_path))
    tagger = build_tagger(settings("teacher"), lexicon(), work)
    assert isinstance(tagger, ModelTagger)
    assert tagger.name == "teacher:scripted-teacher"


def test_an_unknown_engine_is_refused_by_the_settings() -> None:
    with pytest.raises(ValidationError, match="engine"):
        settings("oracle")


def test_no_blocks_give_empty_tables_and_no_call(tmp_path: Path) -> None:
    client = ScriptedClient(lambda *_: {"entities": []})
    tagged = build_tagger(settings("teacher"), lexicon(), ModelWork(client, Journal(tmp_path))).tag(blocks_of([]))
    assert tagged.tags.is_empty()
    assert tagged.mentions.is_empty()
    assert client.calls == []
