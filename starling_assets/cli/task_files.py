"""`starling task new`, `show`, `edit`: a task's folder from one sentence, its state, its files in an editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import orjson
from rich.console import Console

from starling_assets.agents.drafts import entity_type_of, lacks, name_of, state_of, write_draft
from starling_assets.agents.tasks import NAME, PACKAGED, Task, load_task, schema_hash, task_names
from starling_assets.tagging.entity_types import EntityType

from .errors import UserError
from .project import Project

_FILES = ("task.yaml", "probes.json", "schema.yaml", "rubric.md")


def new_task(sentence: str, name: str | None, entity_type: str | None) -> None:
    """Write a draft into the project's folder of tasks and say what it still needs."""
    project = Project()
    kind = entity_type_of(sentence) if entity_type is None else _entity_type(entity_type)
    chosen = name or name_of(sentence)
    if not NAME.fullmatch(chosen):  # before it becomes part of a path
        raise UserError(f"{chosen!r} is not a task name: use lower-case letters, digits and _, a letter first")
    if chosen in task_names(project.task_folders):
        raise UserError(f"there is a task {chosen!r} already: choose another name with --name")
    folder = (project.settings.tasks_dir or project.settings.home / "tasks") / chosen
    task = write_draft(folder, sentence, kind)
    console = Console()
    console.print(f"task {task.name}: a draft in {task.folder}", soft_wrap=True, highlight=False)
    _print_lacks(task, console)


def show_task(name: str, *, as_json: bool) -> None:
    """State, hash of the schema, files, and what is missing."""
    project = Project()
    project.check_task(name)
    task = load_task(name, project.task_folders)
    shown = {
        "name": task.name,
        "state": state_of(task),
        "sentence": task.sentence,
        "entity_types": task.entity_types,
        "schema_hash": schema_hash(task),
        "probes": [probe.name for probe in task.probes],
        "label": task.record.label.name,
        "allowed": task.record.label.allowed,
        "fields": [field.name for field in task.record.fields],
        "files": [str(path) for path in _files(task)],
        "lacks": lacks(task),
    }
    if as_json:
        print(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())
        return
    console = Console()
    for key, value in shown.items():
        if key != "lacks":
            text = ", ".join(map(str, value)) if isinstance(value, list) else value
            console.print(f"{key}: {text}", soft_wrap=True, highlight=False, markup=False)
    _print_lacks(task, console)


def edit_task(name: str) -> None:
    """Open the files in ``$EDITOR`` where there is a terminal, else print their paths; then check them.

    A change takes the approval back: what was approved is no longer what the files say.
    """
    project = Project()
    project.check_task(name)
    # Looked for by hand: a file with a fault must open too.
    folder = next(base / name for base in project.task_folders if (base / name / "task.yaml").is_file())
    if folder.parent == PACKAGED:
        raise UserError(f"{name} comes with the package: `starling task copy {name} NAME` makes a copy to edit")
    console = Console()
    files = [folder / file for file in _FILES if (folder / file).is_file()]
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    before = _contents(folder)
    if editor and at_terminal():
        try:
            _open(editor, files)
        finally:  # an editor that fails may have saved
            _take_back_approval(folder, before, console)
    else:
        for file in files:
            console.print(str(file), soft_wrap=True, highlight=False, markup=False)
    task = load_task(name, [folder.parent])
    _print_lacks(task, console)


def at_terminal() -> bool:
    """Whether somebody sits at standard input."""
    return sys.stdin.isatty()


def _contents(folder: Path) -> dict[str, bytes]:
    return {file: (folder / file).read_bytes() for file in _FILES if (folder / file).is_file()}


def _take_back_approval(folder: Path, before: dict[str, bytes], console: Console) -> None:
    approval, name = folder / "approved", folder.name
    if approval.is_file() and _contents(folder) != before:
        approval.unlink()
        console.print(f"{name} was approved as it was before: `starling task approve {name}` approves the change")


def _open(editor: str, files: list[Path]) -> None:
    try:
        command = [*shlex.split(editor), *map(str, files)]
        code = subprocess.run(command, check=False).returncode
    except ValueError as error:  # a quotation that is not closed
        raise UserError(f"the editor {editor!r} is no command: {error}") from None
    except OSError as error:
        raise UserError(f"the editor {editor!r} cannot be started: {error.strerror}") from None
    if code != 0:
        raise UserError(f"the editor {editor!r} ended with {code}")


def _files(task: Task) -> list[Path]:
    return [task.folder / file for file in _FILES if (task.folder / file).is_file()]


def _entity_type(text: str) -> EntityType:
    for kind in EntityType:
        if kind.value.casefold() == text.casefold():
            return kind
    raise UserError(f"there is no entity type {text!r}. Types: {', '.join(kind.value for kind in EntityType)}")


def _print_lacks(task: Task, console: Console) -> None:
    missing = lacks(task)
    for line in missing:
        console.print(f"missing: {line}", soft_wrap=True, highlight=False, markup=False)
    if not missing and not task.approved:
        console.print(f"the files are complete: `starling task approve {task.name}` approves them", soft_wrap=True)
