"""`starling task …`: list, copy, approve."""

from __future__ import annotations

import re
import shutil

import orjson
from rich.console import Console
from rich.table import Table

from starling_assets.agents.drafts import lacks
from starling_assets.agents.tasks import load_task, task_names
from starling_assets.artifacts.files import write_text

from .errors import UserError
from .project import Project

_NAME = re.compile(r"^[a-z][a-z0-9_]{0,39}$")


def list_tasks(*, as_json: bool) -> None:
    """All tasks with their sentence and state."""
    project = Project()
    tasks = [load_task(name, project.task_folders) for name in task_names(project.task_folders)]
    if as_json:
        rows = [
            {"name": t.name, "sentence": t.sentence, "approved": t.approved, "folder": str(t.folder)} for t in tasks
        ]
        print(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
        return
    table = Table("task", "approved", "sentence", "folder")
    for task in tasks:
        table.add_row(task.name, "yes" if task.approved else "no", task.sentence, str(task.folder))
    Console().print(table)


def approve_task(name: str) -> None:
    """Write the approval file beside the task's files, after they have been read without error."""
    project = Project()
    project.check_task(name)
    task = load_task(name, project.task_folders)
    if missing := lacks(task):
        raise UserError(f"{name} cannot be approved yet: " + "; ".join(missing))
    write_text(task.folder / "approved", "")
    Console().print(f"{name} is approved: `starling run {name}` extracts")


def copy_task(source: str, name: str) -> None:
    """Copy the files of ``source`` into an own task ``name``; the copy waits for approval."""
    project = Project()
    project.check_task(source)
    if not _NAME.match(name):
        raise UserError(f"{name!r} is not a task name: lower case letters, digits and _, at most 40, a letter first")
    if name in task_names(project.task_folders):
        raise UserError(f"there is a task {name!r} already")
    target = (project.settings.tasks_dir or project.settings.home / "tasks") / name
    origin = load_task(source, project.task_folders).folder
    shutil.copytree(origin, target, ignore=shutil.ignore_patterns("approved"))
    task_file = target / "task.yaml"
    text = re.sub(r"(?m)^name:.*$", f"name: {name}", task_file.read_text(encoding="utf-8"))
    write_text(task_file, text)
    Console().print(f"edit {target}, then `starling task approve {name}` and `starling run {name}`", soft_wrap=True)
