"""Reading the settings from file and environment, with the source of every value."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr, ValidationError

from .model import Settings

FILE_NAME = "starling.toml"
PREFIX = "STARLING_"
#: Names of other programs' variables that stand in for ours when ours are not set.
FALLBACKS = {
    "OPENAI_BASE_URL": "llm.base_url",
    "OPENAI_API_KEY": "llm.api_key",
    "OPENAI_MODEL": "llm.model",
}
#: Variables that steer a process, not a setting.
PROCESS_VARIABLES = frozenset(
    {"STARLING_PROJECT", "STARLING_TEST_SHARED", "STARLING_STORE", "STARLING_DBT_DATABASE", "STARLING_DBT_TARGET"}
)


class SettingsError(Exception):
    """A setting is unknown or has a wrong value; the message names it, its source, and what is allowed."""


@dataclass(frozen=True)
class Value:
    """An effective setting: dotted key, value for display (secrets masked) and where it came from."""

    key: str
    value: str
    source: str


def project_root() -> Path:
    """The project folder: ``STARLING_PROJECT``, else the nearest parent with a ``starling.toml``, else here."""
    named = os.environ.get("STARLING_PROJECT")
    if named:
        return Path(named).resolve()
    here = Path.cwd().resolve()
    for folder in (here, *here.parents):
        if (folder / FILE_NAME).is_file():
            return folder
    return here


def load_settings(root: Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Effective settings of the project at ``root``; relative paths are resolved against it.

    Raises :class:`SettingsError` on an unknown key, a wrong value or unreadable TOML.
    """
    settings, _ = load_with_sources(root, environ)
    return settings


def load_with_sources(
    root: Path | None = None, environ: Mapping[str, str] | None = None
) -> tuple[Settings, dict[str, str]]:
    """As :func:`load_settings`, with the source of each key that is not a default."""
    root = root or project_root()
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    file = root / FILE_NAME
    if file.is_file():
        values = _read_toml(file)
        for key in _leaf_keys(values):
            sources[key] = FILE_NAME
        _refuse_secrets_in_file(values, file)
    for key, variable, text in _from_environment(environ):
        _set(values, key, text)
        sources[key] = variable
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError(_explain(error, sources)) from None
    return _resolve_paths(settings, root), sources


def effective(settings: Settings, sources: Mapping[str, str]) -> Iterator[Value]:
    """Every setting with its source, in the order of the model; secrets are masked."""
    for key, value in _walk(settings):
        if isinstance(value, SecretStr):
            shown = "********" if value.get_secret_value() else ""
        else:
            shown = "" if value is None else str(value)
        source = next((sources[k] for k in (key, *_parents(key)) if k in sources), "default")
        yield Value(key, shown, source)


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{file} cannot be read: {error}. Mend or remove the file.") from None


def _refuse_secrets_in_file(values: dict[str, Any], file: Path) -> None:
    known = _leaf_fields(Settings)
    for key in _leaf_keys(values):
        if known.get(key) is SecretStr:
            variable = PREFIX + key.replace(".", "_").upper()
            raise SettingsError(f"{file}: {key} is a secret: remove it there and set {variable} in the environment.")


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    by_variable = {PREFIX + key.replace(".", "_").upper(): key for key in _leaf_fields(Settings)}
    for variable, key in FALLBACKS.items():
        ours = PREFIX + key.replace(".", "_").upper()
        if environ.get(variable) and not environ.get(ours):
            yield key, variable, environ[variable]
    for variable in sorted(environ):
        if not variable.startswith(PREFIX) or variable in PROCESS_VARIABLES or environ[variable] == "":
            continue
        if variable not in by_variable:
            raise SettingsError(
                f"{variable} is not a setting of Starling. `starling config` lists all; unset it or correct its name."
            )
        yield by_variable[variable], variable, environ[variable]


def _leaf_fields(model: type[BaseModel], prefix: str = "") -> dict[str, type]:
    leaves: dict[str, type] = {}
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            leaves.update(_leaf_fields(kind, f"{prefix}{name}."))
        else:
            secret = kind is SecretStr or kind == (SecretStr | None)
            leaves[prefix + name] = SecretStr if secret else object
    return leaves


def _leaf_keys(values: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaf_keys(value, f"{prefix}{name}.")
        else:
            yield prefix + name


def _walk(model: BaseModel, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from _walk(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _parents(key: str) -> Iterator[str]:
    while "." in key:
        key = key.rpartition(".")[0]
        yield key


def _set(values: dict[str, Any], key: str, value: str) -> None:
    *parents, leaf = key.split(".")
    for parent in parents:
        values = values.setdefault(parent, {})
    values[leaf] = value


def _resolve_paths(settings: Settings, root: Path) -> Settings:
    changes: dict[str, Any] = {"home": (root / settings.home).resolve()}
    if settings.tasks_dir is not None:
        changes["tasks_dir"] = (root / settings.tasks_dir).resolve()
    return settings.model_copy(update=changes)


def _explain(error: ValidationError, sources: Mapping[str, str]) -> str:
    lines = []
    for item in error.errors():
        key = ".".join(str(part) for part in item["loc"])
        source = sources.get(key, FILE_NAME)
        if item["type"] == "extra_forbidden":
            lines.append(f"{key} ({source}) is not a setting of Starling. `starling config` lists all.")
        else:
            lines.append(f"{key} ({source}): {item['msg']}")
    return "\n".join(lines)
