"""Records as JSON: the rows of ``starling records TASK --json`` and the schema they follow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import polars as pl

from starling_assets.extraction.tables import AXES

_VERDICT = ("kept", "judge_model", "judge_prompt", "status", "failure")
_DESCRIPTIONS = {
    "record_id": "key of paper, place, entity, label, value and fields; the same in every run",
    "paper_id": "pmid:…, else pmcid:…, doi:… or sha256:…",
    "evidence": "places in the stored text: text[start:end] == quote, in code points; the first is the quote given",
    "alignment": "how the quote was found: exact, folded (case, dashes, white space) or fuzzy",
    "entity": "as written in the passage",
    "concept_id": "CURIE from the ontology link of the tagged entity; null where nothing fits",
    "smiles": "structure as named",
    "parent_inchikey": "of the parent, salt and hydrate removed; for grouping",
    "value_text": "as printed",
    "value": "null for a range or a bound",
    "normalised_value": "in normalised_unit; null for a range or a bound",
    "unit_flag": "why there is no normalised value, or what was assumed to read it",
    "fields": "the task's own fields, in schema order",
    "verdict": "five axes; kept only when all pass",
    "same_as": "the kept record of the same paper that states this fact and holds this evidence too",
    "retracted": "the paper has been retracted",
}
_REQUIRED_TEXT = frozenset({"record_id", "task", "paper_id", "alignment", "entity", "schema_hash", "shard"})


def record_rows(judged: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """JUDGED rows as JSON-ready dictionaries: fields as an object, the verdict in one place."""
    for row in judged.iter_rows(named=True):
        verdict = {name: row.pop(name) for name in (*AXES, *_VERDICT)}
        verdict["reasons"] = orjson.loads(row.pop("reasons") or "{}")
        row["fields"] = orjson.loads(row["fields"] or "{}")
        yield {**row, "verdict": verdict}


def record_json_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of one row of :func:`record_rows`, the same for every task."""
    from .tables import JUDGED

    properties: dict[str, Any] = {}
    for name, dtype in JUDGED.items():
        if name in {*AXES, *_VERDICT, "reasons"}:
            continue
        properties[name] = _described(name, _property(name, dtype))
    properties["fields"] = _described("fields", {"type": "object"})
    properties["verdict"] = _described("verdict", _verdict_schema())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Starling record",
        "description": "One record of a judged dataset, as printed by `starling records TASK --json`.",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def record_schema_text() -> str:
    """The bytes of ``docs/record.schema.json``; ``python -m starling_assets.datasets.record_schema`` prints them."""
    return orjson.dumps(record_json_schema(), option=orjson.OPT_INDENT_2).decode() + "\n"


def _described(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "description": _DESCRIPTIONS[name]} if name in _DESCRIPTIONS else schema


def _property(name: str, dtype: Any) -> dict[str, Any]:
    if name == "evidence":
        return {"type": "array", "minItems": 1, "items": _evidence_schema()}
    if name == "probes":
        return {"type": "array", "items": {"type": "string"}}
    if dtype == pl.Boolean:
        return {"type": "boolean"}
    if dtype == pl.Float64:
        return {"type": ["number", "null"]}
    return {"type": "string", "minLength": 1} if name in _REQUIRED_TEXT else {"type": ["string", "null"]}


def _evidence_schema() -> dict[str, Any]:
    offset = {"type": "integer", "minimum": 0}
    properties = {
        "paper_id": {"type": "string"},
        "block_key": {"type": "string"},
        "para_idx": offset,
        "start": offset,
        "end": {"type": "integer", "minimum": 1},
        "quote": {"type": "string", "minLength": 1},
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _verdict_schema() -> dict[str, Any]:
    axis = {"type": ["boolean", "null"]}
    properties: dict[str, Any] = {
        **dict.fromkeys(AXES, axis),
        "kept": {"type": "boolean"},
        "judge_model": {"type": ["string", "null"]},
        "judge_prompt": {"type": ["string", "null"]},
        "status": {"enum": ["ok", "failed"]},
        "failure": {"type": ["string", "null"]},
        "reasons": {
            "type": "object",
            "propertyNames": {"enum": list(AXES)},
            "additionalProperties": {"type": "string"},
        },
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


if __name__ == "__main__":
    import sys

    sys.stdout.write(record_schema_text())
