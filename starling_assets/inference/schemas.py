"""JSON schemas of reply types, made for guided decoding: closed objects, bounded strings and lists.

Servers differ in what they take. The ``capped`` dialect bounds every string and list, so that guided decoding cannot
loop; llama.cpp refuses repetitions of 2,000 and more, so bounds stay well under it. The ``strict`` dialect is the
subset that hosted endpoints accept: no string lengths. Both are checked here, before a server sees them.
"""

from __future__ import annotations

import functools
import re
from enum import StrEnum
from typing import Any

from pydantic import BaseModel

MAX_STRING = 600
MAX_ITEMS = 40
#: A repetition of this size or more is refused by llama.cpp's grammar parser.
LARGEST_REPETITION = 1_500
_DROPPED = frozenset({"title", "default", "examples", "discriminator", "format", "uniqueItems", "$schema"})
_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})


class Dialect(StrEnum):
    """What a server is asked to hold the model to, from the strictest to the loosest."""

    GRAMMAR = "grammar"  # the packaged server's own grammar: as capped, and no blanks beyond one
    CAPPED = "capped"
    STRICT = "strict"
    JSON_OBJECT = "json_object"


class SchemaError(TypeError):
    """A reply type cannot be written as a closed JSON schema: a mistake in the program, not in a reply."""


@functools.cache
def _schema_of(reply_type: type[BaseModel], dialect: Dialect) -> dict[str, Any]:
    raw = reply_type.model_json_schema()
    definitions = raw.pop("$defs", {})
    schema = _rewrite(raw, dialect, reply_type.__name__)
    if definitions:
        schema["$defs"] = {
            name: _rewrite(value, dialect, f"{reply_type.__name__}.{name}")
            for name, value in sorted(definitions.items())
        }
    _check_references(schema, frozenset(definitions), reply_type.__name__)
    return schema


def reply_schema(reply_type: type[BaseModel], dialect: Dialect = Dialect.CAPPED) -> dict[str, Any]:
    """The schema of ``reply_type``: every key required, no other key allowed. Do not change the returned value.

    Raises :class:`SchemaError` for types with free-form maps or untyped values.
    """
    return _schema_of(reply_type, dialect)


def misfit(value: Any, schema: dict[str, Any]) -> str | None:
    """What keeps ``value`` from having the keys that ``schema`` asks for, or ``None``.

    Pydantic would fill a missing list with its default and turn a reply of quite another shape into an empty success;
    here a missing key counts unless the field may be null, and an unknown key always counts.
    """
    return _misfit(value, schema, schema.get("$defs", {}), "reply")


def _rewrite(node: Any, dialect: Dialect, where: str) -> dict[str, Any]:
    if not isinstance(node, dict):
        raise SchemaError(f"{where}: {node!r} is no closed type")
    result: dict[str, Any] = {key: value for key, value in node.items() if key not in _DROPPED}
    if "const" in result:
        result = {**{k: v for k, v in result.items() if k != "const"}, "enum": [result["const"]]}
    for key in ("oneOf", "anyOf", "allOf"):
        if key in result:
            branches = [_rewrite(branch, dialect, where) for branch in result.pop(key)]
            if len(branches) == 1:
                return {**branches[0], **result}
            result["anyOf"] = branches
            return result
    if "$ref" in result or "enum" in result:
        return result
    kind = result.get("type")
    if kind not in _TYPES:
        raise SchemaError(f"{where}: a reply type needs a type for every field, here is {node!r}")
    if kind == "object":
        return _rewrite_object(result, dialect, where)
    if kind == "array":
        return _rewrite_array(result, dialect, where)
    if kind == "string":
        _bound_string(result, dialect, where)
    return result


def _rewrite_object(node: dict[str, Any], dialect: Dialect, where: str) -> dict[str, Any]:
    if node.get("additionalProperties") not in (None, False) or "properties" not in node:
        raise SchemaError(f"{where}: a map with free keys cannot be asked of a model; use a list of pairs")
    properties = {name: _rewrite(value, dialect, f"{where}.{name}") for name, value in node["properties"].items()}
    return {**node, "properties": properties, "required": list(properties), "additionalProperties": False}


def _rewrite_array(node: dict[str, Any], dialect: Dialect, where: str) -> dict[str, Any]:
    if "prefixItems" in node:
        items = [_rewrite(item, dialect, where) for item in node.pop("prefixItems")]
        node["items"] = items[0] if all(item == items[0] for item in items) else {"anyOf": items}
    else:
        node["items"] = _rewrite(node.get("items"), dialect, f"{where}[]")
    node["maxItems"] = min(int(node.get("maxItems", MAX_ITEMS)), LARGEST_REPETITION)
    return node


def _bound_string(node: dict[str, Any], dialect: Dialect, where: str) -> None:
    if "pattern" in node:
        try:
            re.compile(node["pattern"])
        except re.error as error:
            raise SchemaError(f"{where}: the pattern {node['pattern']!r} is not valid: {error}") from None
    if dialect in {Dialect.GRAMMAR, Dialect.CAPPED}:
        # A pattern and a length cannot both be held by the usual grammar compilers; the pattern says more.
        if "pattern" not in node:
            node["maxLength"] = min(int(node.get("maxLength", MAX_STRING)), LARGEST_REPETITION)
    else:
        node.pop("maxLength", None)
        node.pop("minLength", None)


def _check_references(node: Any, known: frozenset[str], where: str) -> None:
    if isinstance(node, dict):
        target = node.get("$ref")
        if isinstance(target, str) and target.removeprefix("#/$defs/") not in known:
            raise SchemaError(f"{where}: {target} points nowhere")
        for value in node.values():
            _check_references(value, known, where)
    elif isinstance(node, list):
        for value in node:
            _check_references(value, known, where)


def _misfit(value: Any, schema: dict[str, Any], definitions: dict[str, Any], where: str) -> str | None:
    if "$ref" in schema:
        return _misfit(value, definitions[schema["$ref"].removeprefix("#/$defs/")], definitions, where)
    if "anyOf" in schema:
        found = [
            _misfit(value, branch, definitions, where)
            for branch in schema["anyOf"]
            if _same_kind(value, branch, definitions)
        ]
        return None if not found or None in found else found[0]
    if schema.get("type") == "object":
        return _object_misfit(value, schema, definitions, where)
    if schema.get("type") == "array" and isinstance(value, list):
        for number, item in enumerate(value):
            found_one = _misfit(item, schema["items"], definitions, f"{where}[{number}]")
            if found_one:
                return found_one
    return None


def _object_misfit(value: Any, schema: dict[str, Any], definitions: dict[str, Any], where: str) -> str | None:
    if not isinstance(value, dict):
        return f"{where} is not an object"
    properties = schema["properties"]
    for name in value:
        if name not in properties:
            return f"{where} has the unknown key {name!r}"
    for name, inner in properties.items():
        if name not in value:
            if not _nullable(inner, definitions):
                return f"{where} lacks the key {name!r}"
            continue
        found = _misfit(value[name], inner, definitions, f"{where}.{name}")
        if found:
            return found
    return None


def _same_kind(value: Any, schema: dict[str, Any], definitions: dict[str, Any]) -> bool:
    if "$ref" in schema:
        return _same_kind(value, definitions[schema["$ref"].removeprefix("#/$defs/")], definitions)
    if "anyOf" in schema:
        return any(_same_kind(value, branch, definitions) for branch in schema["anyOf"])
    kind = schema.get("type")
    return (kind == "object") == isinstance(value, dict) and (kind == "array") == isinstance(value, list)


def _nullable(schema: dict[str, Any], definitions: dict[str, Any]) -> bool:
    if "$ref" in schema:
        return _nullable(definitions[schema["$ref"].removeprefix("#/$defs/")], definitions)
    return schema.get("type") == "null" or any(_nullable(branch, definitions) for branch in schema.get("anyOf", []))
