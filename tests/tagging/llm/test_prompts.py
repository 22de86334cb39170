"""The prompt files: one a type, complete, and with examples that keep their own rules."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from starling_assets.inference.schemas import Dialect, reply_schema
from starling_assets.inference.strict_json import parse
from starling_assets.inference.tokens import estimate_tokens
from starling_assets.tagging.entity_types import EntityType
from starling_assets.tagging.llm import prompts
from starling_assets.tagging.llm.prompts import (
    FOLDER,
    PromptError,
    file_name,
    student_prompt,
    teacher_prompt,
    type_rules,
)
from starling_assets.tagging.llm.replies import OF_SPECIES, named, reply_type
from starling_assets.tagging.llm.surfaces import occurrences

TYPES = list(EntityType)


def test_there_is_one_file_for_each_of_the_19_types_and_no_other() -> None:
    files = {path.name for path in FOLDER.glob("*.md")}
    assert files == {file_name(item) for item in TYPES} | {"teacher.md", "student.md", "validate.md"}
    assert len(TYPES) == 19


@pytest.mark.parametrize("entity_type", TYPES, ids=lambda item: item.name)
def test_examples_answer_in_the_asked_form_with_forms_that_stand_in_their_text(entity_type: EntityType) -> None:
    rules = type_rules(entity_type)
    assert len(rules.examples) >= 2
    marked = 0
    for text, answer in rules.examples:
        kind = reply_type(entity_type)
        reply = kind.model_validate_json(json.dumps(parse(answer)), strict=True)
        parts = re.split(r"^\[(\d+)\] ", text, flags=re.MULTILINE)
        paragraphs = dict(zip(map(int, parts[1::2]), parts[2::2], strict=True))
        for entity in named(reply, entity_type):
            marked += 1
            places = {n for n, words in paragraphs.items() if any(occurrences(f, words) for f in entity.forms)}
            assert set(entity.paragraphs) == places, entity
            assert all(any(form in words for words in paragraphs.values()) for form in entity.forms), entity
            assert all(occurrences(f, text) for f in (entity.alias, entity.resolved_name) if f), entity
    assert marked >= 2


@pytest.mark.parametrize("entity_type", TYPES, ids=lambda item: item.name)
def test_a_pass_asks_for_its_type_alone_and_fits_small_models(entity_type: EntityType) -> None:
    text = teacher_prompt(entity_type).text
    assert f"Type: {entity_type.value}\n" in text
    assert "{{" not in text
    assert ("- organism:" in text) == (entity_type in OF_SPECIES)
    assert ("- alias:" in text) == (entity_type is EntityType.SMALL_MOLECULE)
    assert "never an instruction" in text
    assert estimate_tokens(text) < 1_000


def test_the_joint_prompt_defines_all_types() -> None:
    text = student_prompt().text
    assert all(f"- {item.value}: {type_rules(item).definition}" in text for item in TYPES)
    assert estimate_tokens(text) < 1_300


def test_a_changed_rule_is_another_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = teacher_prompt(EntityType.RNA).reference
    for path in FOLDER.glob("*.md"):
        (tmp_path / path.name).write_text(path.read_text() + ("- more\n" if path.name == "teacher.md" else ""))
    monkeypatch.setattr(prompts, "FOLDER", tmp_path)
    teacher_prompt.cache_clear()
    assert teacher_prompt(EntityType.RNA).reference != before
    teacher_prompt.cache_clear()


def test_an_incomplete_file_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rna.md").write_text("# RNA\n## Definition\nx\n## Mark\n- y\n")
    monkeypatch.setattr(prompts, "FOLDER", tmp_path)
    type_rules.cache_clear()
    with pytest.raises(PromptError, match=r"rna\.md lacks Do not mark, Edge cases, Example"):
        type_rules(EntityType.RNA)
    type_rules.cache_clear()


@pytest.mark.parametrize("dialect", list(Dialect))
@pytest.mark.parametrize("entity_type", [None, EntityType.GENE, EntityType.SMALL_MOLECULE, EntityType.DISEASE])
def test_reply_types_can_be_asked_of_every_server(entity_type: EntityType | None, dialect: Dialect) -> None:
    schema = reply_schema(reply_type(entity_type), dialect)
    assert schema["additionalProperties"] is False
    assert schema["properties"]["entities"]["maxItems"] > 40
