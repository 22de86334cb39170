from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from starling_assets.agents.tasks import PACKAGED, TaskError, load_task, probes, schema_hash, task_names
from starling_assets.retrieval.filterspec import FilterSpec


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder of tasks with a copy of bbb."""
    shutil.copytree(PACKAGED / "bbb", tmp_path / "bbb")
    return tmp_path


def edit(file: Path, **changes: object) -> None:
    values = yaml.safe_load(file.read_text()) | changes
    file.write_text(yaml.safe_dump(values))


@pytest.mark.parametrize("name", task_names())
def test_packaged_tasks_load_and_are_whole(name: str) -> None:
    task = load_task(name)
    assert task.name == name
    assert task.approved
    assert probes(task)
    assert all(isinstance(probe.filter, FilterSpec) and probe.filter.semantic_query for probe in probes(task))
    assert task.record.instantiation.counts
    assert task.record.instantiation.not_counts
    assert task.record.label.allowed


@pytest.mark.parametrize("name", task_names())
def test_the_example_of_a_task_is_a_record_of_its_own_schema(name: str) -> None:
    task = load_task(name)
    example = task.record.example
    assert example is not None
    assert str(example.record["quote"]) in example.text
    assert example.record["label"] in task.record.label.allowed
    assert set(example.record) == {"quote", "entity", "label", "value_text", "unit"} | {
        field.name for field in task.record.fields
    }
    for field in task.record.fields:
        value = example.record[field.name]
        assert value is None or not field.allowed or value in field.allowed


def test_the_three_first_tasks_are_packaged() -> None:
    assert {"bbb", "oral", "ld50"} <= set(task_names())


def test_own_tasks_hide_packaged_ones_of_the_same_name(own: Path) -> None:
    edit(own / "bbb" / "task.yaml", sentence="My own question about brains.")
    assert load_task("bbb", [own, PACKAGED]).sentence == "My own question about brains."
    assert load_task("oral", [own, PACKAGED]).folder == PACKAGED / "oral"


def test_the_schema_hash_follows_meaning_and_ignores_probes_budget_and_folder(own: Path) -> None:
    base = schema_hash(load_task("bbb"))
    assert schema_hash(load_task("bbb", [own])) == base
    edit(own / "bbb" / "task.yaml", budget={"max_windows": 5})
    (own / "bbb" / "approved").unlink()
    assert schema_hash(load_task("bbb", [own])) == base
    assert not load_task("bbb", [own]).approved
    schema = yaml.safe_load((own / "bbb" / "schema.yaml").read_text())
    schema["label"]["description"] = "something else"
    (own / "bbb" / "schema.yaml").write_text(yaml.safe_dump(schema))
    assert schema_hash(load_task("bbb", [own])) != base


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("task.yaml", "name: bbb\nsentence: s\nentity_type: Drug\n", ["task.yaml", "entity_type"]),
        (
            "task.yaml",
            "name: bbb\nsentence: s\nentity_type: Gene\ncolour: red\n",
            ["task.yaml", "colour", "unknown key"],
        ),
        ("task.yaml", "name: other\n", ["task.yaml", "'other'", "'bbb'"]),
        ("task.yaml", "{", ["task.yaml", "not valid YAML"]),
        ("task.yaml", "- 1\n", ["task.yaml", "keys and values"]),
        ("probes.json", "{}", ["probes.json", "list"]),
        ("probes.json", "[", ["probes.json", "not valid JSON"]),
        ("probes.json", '[{"name": "a"}, {"name": "a"}]', ["probes.json", "same name"]),
        ("probes.json", '[{"name": "a", "scope": "book"}]', ["probes.json", "scope"]),
        ("schema.yaml", "entity: x\n", ["schema.yaml", "label"]),
    ],
)
def test_a_fault_in_a_file_names_the_file_and_the_key(own: Path, file: str, text: str, words: list[str]) -> None:
    (own / "bbb" / file).write_text(text)
    with pytest.raises(TaskError) as caught:
        load_task("bbb", [own])
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"fields": [{"name": "entity", "type": "string"}]}, "not a usable field name"),
        ({"fields": [{"name": "Bad Name", "type": "string"}]}, "not a usable field name"),
        ({"fields": [{"name": "a", "type": "enum"}]}, "enum needs it"),
        ({"fields": [{"name": "a", "type": "string", "allowed": ["x"]}]}, "belongs to type enum"),
        ({"fields": [{"name": "a", "type": "string"}, {"name": "a", "type": "string"}]}, "defined twice"),
        ({"fields": [{"name": "a", "type": "enum", "allowed": ["x"], "aliases": {"y": "z"}}]}, "aliases must lead"),
        ({"label": {"name": "l", "description": "d", "allowed": ["x"], "no_level": "q"}}, "no_level must be"),
    ],
)
def test_a_schema_that_contradicts_itself_is_refused(own: Path, changes: dict[str, object], words: str) -> None:
    edit(own / "bbb" / "schema.yaml", **changes)
    with pytest.raises(TaskError, match=words):
        load_task("bbb", [own])


@pytest.mark.parametrize("name", ["", "../bbb", "BBB", "bbb/..", "a" * 60, "b;drop table"])
def test_odd_names_are_refused_before_any_file_is_looked_at(name: str) -> None:
    with pytest.raises(TaskError, match="not a task name"):
        load_task(name)


def test_an_unknown_task_lists_those_that_exist() -> None:
    with pytest.raises(TaskError, match="Tasks: bbb, "):
        load_task("nosuch")


def test_a_missing_file_is_named(own: Path) -> None:
    (own / "bbb" / "schema.yaml").unlink()
    with pytest.raises(TaskError, match=r"schema\.yaml is missing"):
        load_task("bbb", [own])
