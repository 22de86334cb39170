"""docs/retrieval.md says what is so: its filters are read as it says, its Python names exist."""

from __future__ import annotations

import ast
import importlib
import json
import re
from pathlib import Path

import pytest

from starling_assets.retrieval import grammar
from starling_assets.retrieval.grammar import parse_text, to_text
from starling_assets.tagging.entity_types import EntityType

DOCUMENT = (Path(__file__).parents[2] / "docs" / "retrieval.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^\| `([^`]+)` \| `(\[\[[^`]+)` \|", DOCUMENT, flags=re.MULTILINE)


@pytest.mark.parametrize(("text", "groups"), EXAMPLES)
def test_examples_are_read_as_the_table_says(text: str, groups: str) -> None:
    spec = parse_text(text)
    assert spec.entity_groups == json.loads(groups)
    assert parse_text(to_text(spec)) == spec


def test_the_table_has_its_examples_and_the_grammar_is_the_code_s() -> None:
    assert len(EXAMPLES) == 5
    documented = re.search(r"^    filter  = .*?escapes\)$", DOCUMENT, flags=re.MULTILINE | re.DOTALL)
    assert documented is not None
    assert documented[0] in (grammar.__doc__ or "")


def test_bounds_are_those_of_the_code() -> None:
    assert f"{grammar.MAX_TERMS:,} names of {grammar.MAX_TERM_LENGTH} characters" in DOCUMENT
    assert f"one of the {len(EntityType)} entity types" in DOCUMENT


def test_every_imported_name_exists() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENT, flags=re.DOTALL)
    imports = [node for node in ast.parse(code).body if isinstance(node, ast.ImportFrom)]
    assert len(imports) == 9
    for node in imports:
        module = importlib.import_module(str(node.module))
        assert all(hasattr(module, alias.name) for alias in node.names)
