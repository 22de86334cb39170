"""`starling filter explain` over a small index: counts, choices and cuts; one clear line for each mistake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from resources.entity_index.local import LocalEntityIndex
from starling_assets.artifacts.store import Store
from starling_assets.cli.app import app
from starling_assets.settings import load_settings
from tests.contract.entity_index_contract import FOUR, MANY
from tests.retrieval.small_world import KNOWN, concepts, edges, lexicon

ROWS = [
    *((name, concept, kind) for name, (concept, kind) in KNOWN.items()),
    ("Stroke", "HGNC:77", "Gene"),
    ("drug", "CHEBI:23888", "SmallMoleculeClass"),
]


@pytest.fixture
def indexed(project: Path) -> Path:
    settings = load_settings(project)
    store = Store(settings.store_root)
    store.write(lexicon(ROWS), "lexicon")
    store.write(concepts(ROWS), "lexicon", table="concepts")
    narrower = edges([("CHEBI:15365", "CHEBI:23888"), ("CHEBI:27732", "CHEBI:23888")])
    store.write(narrower, "lexicon", table="edges")
    index = LocalEntityIndex(settings.home / "index" / "entities")
    index.load("a", *FOUR.postings())
    index.load("b", *MANY.postings())
    return project


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["filter", "explain", *arguments], catch_exceptions=True)


def explained(*arguments: str) -> dict[str, Any]:
    result = call(*arguments, "--scope", "paragraph", "--json")
    assert result.exit_code == 0, result.output
    shown: dict[str, Any] = json.loads(result.output)
    return shown


def refused(*arguments: str) -> str:
    result = call(*arguments)
    assert result.exit_code != 0
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return " ".join(result.output.split())


def test_both_forms_of_a_filter_are_explained_alike(indexed: Path) -> None:
    text = explained("drug AND (NOT stroke OR ghost)")
    assert text == explained('[["drug"], ["~stroke", "ghost"]]')
    assert text["entity_groups"] == [["drug"], ["~stroke", "ghost"]]
    assert (text["units"], text["matches"], text["silent"]) == (13, 6, ["ghost"])
    assert [(clause["units"], clause["remaining"]) for clause in text["clauses"]] == [(7, 7), (9, 6)]
    (drug,) = text["clauses"][0]["terms"]
    assert (drug["ids"], drug["truncated"]) == (3, False)


def test_the_lines_name_choices_and_silent_names(indexed: Path) -> None:
    shown = call("drug AND NOT stroke AND (ghost OR aspirin)", "--scope", "paragraph").output
    assert "3 ids" in shown
    assert "ambiguous; also HGNC:77 Stroke" in shown
    assert '"ghost" is known, but nothing in the corpus mentions it' in shown


def test_narrower_concepts_may_be_left_out(indexed: Path) -> None:
    (term,) = explained("drug", "--no-expand")["clauses"][0]["terms"]
    assert (term["ids"], term["units"]) == (1, 0)


def test_a_cut_expansion_is_shown_with_both_counts(indexed: Path) -> None:
    (indexed / "starling.toml").write_text("[retrieval]\nexpansion_cap = 2\n")
    (term,) = explained("drug")["clauses"][0]["terms"]
    assert (term["ids"], term["expansion_total"], term["truncated"]) == (2, 3, True)


@pytest.mark.parametrize(
    ("filter_text", "said"),
    [
        ("drug AND", "the filter ends after AND"),
        ("drug stroke", "column 6: AND is expected"),
        ("smallmolecule", "types are written exactly so"),
        ('[["~~drug"]]', "negated twice"),
        ('[["drug", 7]]', "a list of lists of names"),
        ("[[", "a list of lists of names"),
        ("asprin", 'no vocabulary knows "asprin"; did you mean "aspirin"?'),
    ],
)
def test_a_mistake_is_one_line(indexed: Path, filter_text: str, said: str) -> None:
    assert said in refused(filter_text)


def test_an_unknown_scope_is_named(indexed: Path) -> None:
    assert "must be one of paragraph, chunk, paper" in refused("drug", "--scope", "page")


def test_before_an_index_it_says_so(project: Path) -> None:
    assert "nothing is indexed" in refused("drug")
