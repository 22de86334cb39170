"""Schemas for guided decoding: closed, bounded, valid, and agreeing with pydantic about what fits."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any, Literal

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from starling_assets.inference.schemas import (
    LARGEST_REPETITION,
    MAX_ITEMS,
    MAX_STRING,
    Dialect,
    SchemaError,
    misfit,
    reply_schema,
)


class Label(StrEnum):
    PLUS = "BBB+"
    MINUS = "BBB-"


class Evidence(BaseModel):
    paragraph: int = Field(ge=0, le=40)
    quote: str = Field(min_length=1, max_length=300)


class Record(BaseModel):
    """A record as tasks have it."""

    compound: str
    label: Label
    kind: Literal["in vivo"] = "in vivo"
    value: float | None = None
    code: str = Field("", pattern=r"^[A-Z]{0,3}$")
    evidence: list[Evidence] = Field(default_factory=list, max_length=5)
    other: Evidence | None = None


class Reply(BaseModel):
    records: list[Record] = Field(default_factory=list)
    pair: tuple[int, int] = (0, 0)


ALL = [Dialect.GRAMMAR, Dialect.CAPPED, Dialect.STRICT, Dialect.JSON_OBJECT]


def nodes(schema: Any) -> list[dict[str, Any]]:
    found = []
    if isinstance(schema, dict):
        found.append(schema)
        for value in schema.values():
            found += nodes(value)
    elif isinstance(schema, list):
        for value in schema:
            found += nodes(value)
    return found


@pytest.mark.parametrize("dialect", ALL)
def test_it_is_a_valid_schema_with_closed_objects_and_every_key_required(dialect: Dialect) -> None:
    schema = reply_schema(Reply, dialect)
    jsonschema.Draft202012Validator.check_schema(schema)
    objects = [node for node in nodes(schema) if node.get("type") == "object"]
    assert len(objects) == 3
    for node in objects:
        assert node["additionalProperties"] is False
        assert node["required"] == list(node["properties"])
    for node in nodes(schema):
        assert not {"default", "title", "prefixItems", "const", "oneOf"} & (node.keys() - {"properties"})


def test_every_string_and_list_is_bounded_where_the_server_can_hold_it() -> None:
    for node in nodes(reply_schema(Reply, Dialect.CAPPED)):
        if node.get("type") == "array":
            assert 0 < node["maxItems"] <= MAX_ITEMS
        if node.get("type") == "string" and "enum" not in node and "pattern" not in node:
            assert 0 < node["maxLength"] <= max(MAX_STRING, 300)
    records = reply_schema(Reply)["$defs"]["Record"]["properties"]
    assert records["evidence"]["maxItems"] == 5
    assert reply_schema(Reply)["$defs"]["Evidence"]["properties"]["quote"]["maxLength"] == 300


def test_the_strict_dialect_has_no_string_lengths() -> None:
    for node in nodes(reply_schema(Reply, Dialect.STRICT)):
        assert not {"maxLength", "minLength"} & node.keys()


def test_bounds_beyond_what_servers_compile_are_lowered() -> None:
    class Long(BaseModel):
        text: str = Field(max_length=100_000)
        many: list[int] = Field(max_length=100_000)

    properties = reply_schema(Long)["properties"]
    assert properties["text"]["maxLength"] == LARGEST_REPETITION
    assert properties["many"]["maxItems"] == LARGEST_REPETITION


class FreeMap(BaseModel):
    values: dict[str, int]


class Untyped(BaseModel):
    value: Any


class BadPattern(BaseModel):
    text: Annotated[str, Field(json_schema_extra={"pattern": "(["})]


class FreeList(BaseModel):
    values: list[Any]


@pytest.mark.parametrize("wrong", [FreeMap, Untyped, BadPattern, FreeList])
def test_a_type_that_cannot_be_asked_for_is_refused_by_name(wrong: type[BaseModel]) -> None:
    with pytest.raises(SchemaError, match=wrong.__name__):
        reply_schema(wrong)


def record(**changes: Any) -> dict[str, Any]:
    base = {
        "compound": "x", "label": "BBB+", "kind": "in vivo", "value": None, "code": "", "evidence": [], "other": None,
    }  # fmt: skip
    return {**base, **changes}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([], "not an object"),
        ({}, "lacks the key 'records'"),
        ({"records": []}, "lacks the key 'pair'"),
        ({"records": [], "pair": [1, 2], "note": ""}, "unknown key 'note'"),
        ({"records": [{"compound": "x"}], "pair": [1, 2]}, r"records\[0\] lacks the key 'label'"),
        ({"records": [record(evidence=[{"paragraph": 1}])], "pair": [1, 2]}, "lacks the key 'quote'"),
        ({"records": [record(other={"page": 1})], "pair": [1, 2]}, "unknown key 'page'"),
        ({"records": [7], "pair": [1, 2]}, "not an object"),
    ],
)
def test_a_value_of_another_shape_is_named(value: Any, words: str) -> None:
    found = misfit(value, reply_schema(Reply))
    assert found is not None
    import re

    assert re.search(words, found)


def test_a_nullable_key_may_be_left_out_and_no_other() -> None:
    complete = {"records": [record()], "pair": [1, 2]}
    assert misfit(complete, reply_schema(Reply)) is None
    shorter = record()
    del shorter["value"]
    del shorter["other"]
    assert misfit({"records": [shorter], "pair": [1, 2]}, reply_schema(Reply)) is None


EVIDENCE = st.builds(Evidence, paragraph=st.integers(0, 40), quote=st.text(min_size=1, max_size=20))


@given(
    st.builds(
        Reply,
        records=st.lists(
            st.builds(
                Record,
                compound=st.text(max_size=20),
                kind=st.just("in vivo"),
                code=st.from_regex(r"\A[A-Z]{0,3}\Z"),
                value=st.none() | st.floats(allow_nan=False, allow_infinity=False),
                evidence=st.lists(EVIDENCE, max_size=3),
                other=st.none(),
            ),
            max_size=3,
        ),
    )
)
def test_every_value_of_the_type_fits_its_schema(reply: Reply) -> None:
    value = json.loads(reply.model_dump_json())
    for dialect in ALL:
        schema = reply_schema(Reply, dialect)
        jsonschema.Draft202012Validator(schema).validate(value)
        assert misfit(value, schema) is None
