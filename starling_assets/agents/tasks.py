"""A task: a folder of files that a person can read and edit.

``task.yaml`` holds the sentence, the entity type, the targets and the budget; ``probes.json`` the filters;
``schema.yaml`` the label, the value rule, the fields and the instantiation; ``rubric.md`` (optional) refines the
judge's axes. A file named ``approved`` freezes the task: only then may it spend money on a corpus.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import orjson
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from starling_assets.artifacts.keys import content_key
from starling_assets.retrieval.filterspec import FilterSpec
from starling_assets.tagging.entity_types import EntityType

#: Folder of the tasks that come with the package.
PACKAGED = Path(__file__).resolve().parent.parent / "tasks"
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
#: Names that every record has; a field may not hide one.
RESERVED = frozenset({"quote", "entity", "label", "value_text", "unit", "records", "id"})


class TaskError(Exception):
    """A task folder cannot be used; the message names the file, the key and what is allowed."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Targets(_Part):
    """When the probe loop may stop."""

    precision: float = Field(0.8, ge=0, le=1)
    recall_gap: float = Field(0.15, ge=0, le=1)
    max_probes: int = Field(8, ge=1)


class TaskBudget(_Part):
    """What the task may spend per shard, on top of the project's own limits."""

    max_windows: int | None = Field(None, ge=1)
    max_cost: float | None = Field(None, ge=0)


class LabelRule(_Part):
    """The primary outcome. ``aliases`` maps spellings a model may use onto allowed values, and nothing else does."""

    name: str
    description: str
    allowed: list[str] = []
    aliases: dict[str, str] = {}
    #: The allowed value that stands for "the source gives no level" (gold labels write null for it).
    no_level: str | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        stray = sorted({*self.aliases.values(), *([self.no_level] if self.no_level else [])} - set(self.allowed))
        if self.allowed and stray:
            raise ValueError(f"aliases and no_level must be allowed values, not {stray}")
        return self


class ValueRule(_Part):
    """What the printed number is and the unit it is normalised to."""

    description: str = ""
    required: bool = False
    target_unit: str | None = None
    #: Further units of the same value, as fields of the record: field name -> unit (``log10(mol/kg)``).
    derived: dict[str, str] = {}


class FieldRule(_Part):
    """One conditioning field."""

    name: str
    type: Literal["string", "enum", "boolean", "number", "list"]
    description: str = ""
    allowed: list[str] = []
    aliases: dict[str, str] = {}
    nullable: bool = True
    #: The text must stand in the passage, as the entity must (a second entity, a name as written).
    grounded: bool = False

    @field_validator("name")
    @classmethod
    def _plain_name(cls, name: str) -> str:
        if not NAME.fullmatch(name) or name in RESERVED:
            raise ValueError(
                f"{name!r} is not a usable field name (lower case, digits, _; not one of the record's own)"
            )
        return name

    @model_validator(mode="after")
    def _enum_has_values(self) -> Self:
        if (self.type == "enum") != bool(self.allowed):
            raise ValueError(f"field {self.name}: `allowed` belongs to type enum, and enum needs it")
        stray = sorted(set(self.aliases.values()) - set(self.allowed))
        if stray:
            raise ValueError(f"field {self.name}: aliases must lead to allowed values, not {stray}")
        return self


class Instantiation(_Part):
    """The task in words: what counts, what does not, what is assumed where the text is silent."""

    counts: list[str]
    not_counts: list[str]
    defaults: list[str] = []


class Example(_Part):
    """A made-up few-shot example; its text is in no paper, so a model that copies it is found out (F33)."""

    text: str
    record: dict[str, str | bool | float | list[str] | None]


class RecordSchema(_Part):
    """The frozen schema of a task's records."""

    entity: str = Field(description="what the entity is, in words")
    label: LabelRule
    value: ValueRule = ValueRule()
    fields: list[FieldRule]
    instantiation: Instantiation
    example: Example | None = None

    @model_validator(mode="after")
    def _unique_fields(self) -> Self:
        names = [field.name for field in self.fields]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(f"fields {repeated} are defined twice")
        return self


class TaskProbe(_Part):
    """A named filter with its semantic query."""

    name: str
    filter: FilterSpec


class Task(_Part):
    """A whole task folder."""

    name: str
    sentence: str
    entity_type: EntityType
    #: Further types an entity of this task may be tagged as.
    also_types: list[EntityType] = []
    targets: Targets = Targets()
    budget: TaskBudget = TaskBudget()
    record: RecordSchema
    probes: list[TaskProbe]
    rubric: str = ""
    approved: bool = False
    folder: Path

    @property
    def entity_types(self) -> list[str]:
        """Type names an entity may have, the primary one first."""
        return [self.entity_type.value, *(kind.value for kind in self.also_types)]


@dataclass(frozen=True)
class _Folder:
    path: Path

    def text(self, name: str) -> str:
        file = self.path / name
        try:
            return file.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise TaskError(f"task {self.path.name}: {file} is missing") from None
        except (OSError, UnicodeDecodeError) as error:
            raise TaskError(f"task {self.path.name}: {file} cannot be read: {error}") from None

    def mapping(self, name: str) -> dict[str, Any]:
        try:
            value = yaml.safe_load(self.text(name))
        except yaml.YAMLError as error:
            raise TaskError(f"{self.path / name} is not valid YAML: {error}") from None
        if not isinstance(value, dict):
            raise TaskError(f"{self.path / name} must hold keys and values")
        return value


def task_names(tasks_dirs: Iterable[Path] = (PACKAGED,)) -> list[str]:
    """Names of all task folders (those with a ``task.yaml``), sorted; an earlier folder hides a later one's name."""
    found = {path.parent.name for folder in tasks_dirs for path in Path(folder).glob("*/task.yaml")}
    return sorted(found)


def load_task(name: str, tasks_dirs: Sequence[Path] = (PACKAGED,)) -> Task:
    """Read the task ``name`` from the first folder that has it.

    Raises :class:`TaskError` that names the file and the key at fault, or the tasks that exist.
    """
    if not NAME.fullmatch(name):
        raise TaskError(f"{name!r} is not a task name: use lower-case letters, digits and _")
    folder = next((Path(base) / name for base in tasks_dirs if (Path(base) / name / "task.yaml").is_file()), None)
    if folder is None:
        known = ", ".join(task_names(tasks_dirs)) or "none"
        raise TaskError(
            f"there is no task {name!r}. Tasks: {known}. Own ones go into the folder tasks_dir of the settings."
        )
    source = _Folder(folder)
    head = source.mapping("task.yaml")
    if head.get("name") != name:
        raise TaskError(
            f"{folder / 'task.yaml'}: name is {head.get('name')!r}, the folder is {name!r}: make them equal"
        )
    rubric = source.text("rubric.md") if (folder / "rubric.md").is_file() else ""
    values = {
        **head,
        "record": source.mapping("schema.yaml"),
        "probes": _read_probes(source),
        "rubric": rubric.strip(),
        "approved": (folder / "approved").is_file(),
        "folder": folder,
    }
    try:
        return Task.model_validate(values)
    except ValidationError as error:
        raise TaskError(_explain(folder, error)) from None


def probes(task: Task) -> list[TaskProbe]:
    """The task's probes in file order."""
    return list(task.probes)


def schema_hash(task: Task) -> str:
    """Key of everything that decides what a record means; records of different hashes are never mixed."""
    return content_key(task.name, task.entity_type.value, task.sentence, task.record.model_dump(mode="json"))


def _read_probes(source: _Folder) -> list[dict[str, Any]]:
    file = source.path / "probes.json"
    try:
        rows = orjson.loads(source.text("probes.json"))
    except orjson.JSONDecodeError as error:
        raise TaskError(f"{file} is not valid JSON: {error}") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise TaskError(f"{file} must be a list of probes")
    names = [row.get("name") for row in rows]
    if len(set(map(str, names))) != len(names):
        raise TaskError(f"{file}: two probes have the same name")
    return [
        {"name": row.get("name"), "filter": {key: value for key, value in row.items() if key != "name"}} for row in rows
    ]


def _explain(folder: Path, error: ValidationError) -> str:
    files = {"record": "schema.yaml", "probes": "probes.json"}
    lines = []
    for item in error.errors():
        head, *rest = [str(part) for part in item["loc"]] or [""]
        file = folder / files.get(head, "task.yaml")
        key = ".".join(rest if head in files else [head, *rest])
        problem = "unknown key" if item["type"] == "extra_forbidden" else item["msg"]
        lines.append(f"{file}: {key}: {problem}")
    return "\n".join(lines)
