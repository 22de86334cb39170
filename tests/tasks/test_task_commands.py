"""`starling task new`, `show`, `edit` and what `approve` refuses, as a user sees them."""

from __future__ import annotations

import json
import shutil
import stat
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from starling_assets.agents.tasks import PACKAGED
from starling_assets.cli import task_files
from starling_assets.cli.app import app

SENTENCE = "find all molecules whose solubility in water is reported"


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["task", *arguments])


def refused(*arguments: str) -> str:
    result = call(*arguments)
    assert result.exit_code != 0
    assert isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    return " ".join(result.output.split())


def shown(name: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(call("show", name, "--json").output)
    return found


def made(project: Path, name: str = "solubility") -> Path:
    """The folder of a new task."""
    assert call("new", SENTENCE, "--name", name).exit_code == 0
    return next(project.rglob(f"{name}/task.yaml")).parent


def completed_in_place(folder: Path) -> Path:
    for file in ("probes.json", "schema.yaml"):
        shutil.copy(PACKAGED / "bbb" / file, folder)
    return folder


def completed(project: Path) -> Path:
    return completed_in_place(made(project))


def as_terminal(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    """Pretend to sit at a terminal whose editor runs ``script`` with the files as arguments."""
    editor = folder.parent / "editor.py"
    editor.write_text(f"#!{sys.executable}\nimport pathlib, sys\n{script}\n")
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.setattr(task_files, "at_terminal", lambda: True)


def test_a_sentence_becomes_a_draft_that_says_what_it_needs(project: Path) -> None:
    result = call("new", SENTENCE)
    assert result.exit_code == 0
    assert "task molecules_solubility_water: a draft" in result.output
    assert result.output.count("missing: ") == 2
    assert shown("molecules_solubility_water")["state"] == "draft"
    assert not next(project.rglob("molecules_solubility_water")).is_relative_to(PACKAGED)


def test_a_named_type_wins_over_the_sentence(project: Path) -> None:
    assert call("new", SENTENCE, "--name", "salts", "--entity-type", "smallmoleculeclass").exit_code == 0
    assert shown("salts")["entity_types"] == ["SmallMoleculeClass"]


@pytest.mark.parametrize("name", ["../escape", "bbb/x", "Bad", "/x"])
def test_a_name_that_is_no_name_makes_no_folder(project: Path, name: str) -> None:
    before = sorted(project.rglob("*"))
    assert "not a task name" in refused("new", SENTENCE, "--name", name)
    assert sorted(project.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("new", SENTENCE, "--name", "bbb"), "there is a task 'bbb' already"),
        (("new", SENTENCE, "--entity-type", "Colour"), "no entity type 'Colour'. Types: Anatomy"),
        (("new", "find everything"), "--entity-type"),
        (("show", "nosuch"), "there is no task 'nosuch'. Tasks: bbb"),
        (("edit", "nosuch"), "there is no task 'nosuch'"),
        (("edit", "bbb"), "`starling task copy bbb NAME`"),
    ],
)
def test_a_mistake_is_one_clear_line(project: Path, arguments: tuple[str, ...], words: str) -> None:
    assert words in refused(*arguments)


def test_a_draft_cannot_be_approved_and_a_complete_task_can(project: Path) -> None:
    folder = made(project)
    assert "no probe" in refused("approve", "solubility")
    assert not (folder / "approved").exists()
    completed_in_place(folder)
    assert shown("solubility")["state"] == "complete"
    assert call("approve", "solubility").exit_code == 0
    assert shown("solubility")["state"] == "approved"
    assert (folder / "approved").is_file()


def test_show_prints_the_state_for_people_too(project: Path) -> None:
    output = call("show", "bbb").output
    assert "state: approved" in output
    assert "schema_hash: " in output
    assert "missing" not in output


def test_edit_without_a_terminal_prints_the_paths_and_checks_the_files(project: Path) -> None:
    folder = completed(project)
    result = call("edit", "solubility")
    assert result.exit_code == 0
    assert str(folder / "schema.yaml") in result.output
    assert "the files are complete" in result.output


def test_an_edit_takes_the_approval_back_and_changes_the_hash(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = completed(project)
    assert call("approve", "solubility").exit_code == 0
    before = shown("solubility")["schema_hash"]
    change = 'f = pathlib.Path(sys.argv[3]); f.write_text(f.read_text().replace("species, as stated", "the animal"))'
    as_terminal(monkeypatch, folder, change)
    result = call("edit", "solubility")
    assert result.exit_code == 0
    assert "was approved as it was before" in result.output
    assert shown("solubility")["state"] == "complete"
    assert shown("solubility")["schema_hash"] != before


def test_an_edit_that_changes_nothing_keeps_the_approval(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = completed(project)
    assert call("approve", "solubility").exit_code == 0
    as_terminal(monkeypatch, folder, "pass")
    assert call("edit", "solubility").exit_code == 0
    assert shown("solubility")["state"] == "approved"


def test_a_fault_written_in_the_editor_is_named_and_the_approval_is_gone(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = completed(project)
    assert call("approve", "solubility").exit_code == 0
    as_terminal(monkeypatch, folder, 'pathlib.Path(sys.argv[2]).write_text("[")')
    assert "probes.json is not valid JSON" in refused("edit", "solubility")
    assert not (folder / "approved").exists()
    # It can be opened again: the fault does not lock its own file.
    shutil.copy(PACKAGED / "bbb" / "probes.json", folder)
    as_terminal(monkeypatch, folder, "pass")
    assert call("edit", "solubility").exit_code == 0


def test_an_editor_that_saves_and_then_fails_takes_the_approval_back(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = completed(project)
    assert call("approve", "solubility").exit_code == 0
    as_terminal(monkeypatch, folder, 'pathlib.Path(sys.argv[2]).write_text("[]"); sys.exit(3)')
    assert "ended with 3" in refused("edit", "solubility")
    assert not (folder / "approved").exists()


@pytest.mark.parametrize(("editor", "words"), [("no-such-editor", "cannot be started"), ('vi "', "is no command")])
def test_an_editor_that_is_none_is_said(
    project: Path, monkeypatch: pytest.MonkeyPatch, editor: str, words: str
) -> None:
    as_terminal(monkeypatch, completed(project), "pass")
    monkeypatch.setenv("EDITOR", editor)
    assert words in refused("edit", "solubility")
