"""A draft from one sentence: its name, its type, its files, and what it lacks."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.agents.drafts import entity_type_of, lacks, name_of, state_of, write_draft
from starling_assets.agents.tasks import NAME, PACKAGED, TaskError, load_task, schema_hash, task_names
from starling_assets.tagging.entity_types import EntityType

SENTENCE = "Find all molecules whose solubility in water is reported."


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        (SENTENCE, EntityType.SMALL_MOLECULE),
        ("Find all genes whose association with a disease is reported.", EntityType.GENE),
        ("find proteins, and the genes behind them", EntityType.PROTEIN),
        ("Which ANTIBODIES bind?", EntityType.ANTIBODY),
    ],
)
def test_the_first_telling_word_of_the_sentence_gives_the_type(sentence: str, kind: EntityType) -> None:
    assert entity_type_of(sentence) is kind


def test_a_sentence_without_a_telling_word_lists_the_types() -> None:
    with pytest.raises(TaskError, match=r"--entity-type.*Anatomy.*SmallMoleculeClass"):
        entity_type_of("Find everything about water.")


def test_the_name_comes_from_the_last_telling_words() -> None:
    assert name_of(SENTENCE) == "molecules_solubility_water"


@given(st.text(max_size=120))
def test_a_name_is_valid_or_refused(sentence: str) -> None:
    try:
        name = name_of(sentence)
    except TaskError:
        return
    assert NAME.fullmatch(name)


def test_a_draft_loads_and_names_both_things_it_lacks(tmp_path: Path) -> None:
    task = write_draft(tmp_path / "solubility", f"  {SENTENCE}\n", EntityType.SMALL_MOLECULE)
    assert (task.sentence, task.approved, task.probes) == (SENTENCE, False, [])
    assert state_of(task) == "draft"
    probes, schema = lacks(task)
    assert "probes.json" in probes
    assert "schema.yaml" in schema


def test_two_drafts_of_a_sentence_have_the_same_bytes(tmp_path: Path) -> None:
    for base in ("one", "two"):
        write_draft(tmp_path / base / "solubility", SENTENCE, EntityType.SMALL_MOLECULE)
    for file in ("task.yaml", "schema.yaml", "probes.json"):
        first, second = (tmp_path / base / "solubility" / file for base in ("one", "two"))
        assert first.read_bytes() == second.read_bytes()


def test_each_thing_that_is_written_is_no_longer_missing(tmp_path: Path) -> None:
    folder = tmp_path / "solubility"
    write_draft(folder, SENTENCE, EntityType.SMALL_MOLECULE)
    shutil.copy(PACKAGED / "bbb" / "probes.json", folder)
    (only,) = lacks(load_task("solubility", [tmp_path]))
    assert "schema.yaml" in only
    shutil.copy(PACKAGED / "bbb" / "schema.yaml", folder)
    task = load_task("solubility", [tmp_path])
    assert lacks(task) == []
    assert state_of(task) == "complete"


def test_an_approval_file_does_not_make_a_draft_approved(tmp_path: Path) -> None:
    folder = tmp_path / "solubility"
    write_draft(folder, SENTENCE, EntityType.SMALL_MOLECULE)
    (folder / "approved").touch()
    assert state_of(load_task("solubility", [tmp_path])) == "draft"


@pytest.mark.parametrize(
    ("name", "sentence", "words"),
    [
        ("solubility", " \n", "needs a sentence"),
        ("Solubility", SENTENCE, "not a task name"),
        ("taken", SENTENCE, "there already"),
    ],
)
def test_a_draft_that_cannot_be_made_leaves_nothing(tmp_path: Path, name: str, sentence: str, words: str) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(TaskError, match=words):
        write_draft(tmp_path / name, sentence, EntityType.GENE)
    assert [path.name for path in tmp_path.rglob("*")] == ["taken"]


def test_the_six_tasks_of_the_package_are_approved_whole_and_all_different() -> None:
    tasks = [load_task(name) for name in task_names([PACKAGED])]
    assert [task.name for task in tasks] == ["bbb", "gda", "ld50", "oral", "psl", "reactions"]
    assert [state_of(task) for task in tasks] == ["approved"] * 6
    assert len({schema_hash(task) for task in tasks}) == 6
