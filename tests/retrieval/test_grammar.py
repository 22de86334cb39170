"""The filter language: text form, round trip, messages."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.retrieval.filterspec import FilterSpec, Scope
from starling_assets.retrieval.grammar import FilterError, Literal, parse_term, parse_text, to_text, validate
from starling_assets.tagging.entity_types import EntityType

_TYPE_NAMES = {entity_type.value.casefold() for entity_type in EntityType}
names = (
    st.text(min_size=1, max_size=12, alphabet=st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")))
    .filter(lambda name: name == name.strip() and not name.startswith("~") and bool(name))
    .filter(lambda name: name.casefold() not in _TYPE_NAMES)
)
# Names that look like the language itself are the ones that go wrong.
tricky = st.sampled_from(
    ["AND", "OR", "NOT", "(", ")", '"', "\\", 'a"b', "a\\", "x AND y", "N,N'-dimethyl", "and", "a~b", "5'-UTR"]
)
words = st.one_of(names, tricky, st.sampled_from([entity_type.value for entity_type in EntityType]))
terms = st.builds(lambda name, negated: f"~{name}" if negated else name, words, st.booleans())
groups = st.lists(st.lists(terms, min_size=1, max_size=4, unique=True), max_size=4)


@given(groups, st.sampled_from(Scope), st.booleans(), st.text(max_size=20))
def test_text_and_json_round_trip(entity_groups: list[list[str]], scope: Scope, expand: bool, query: str) -> None:
    spec = FilterSpec(entity_groups=entity_groups, semantic_query=query, scope=scope, expand=expand)
    assert parse_text(to_text(spec), semantic_query=query, scope=scope, expand=expand) == spec
    assert FilterSpec.model_validate_json(spec.model_dump_json()) == spec


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    spec = None
    with contextlib.suppress(FilterError):
        spec = parse_text(text)
    if spec is not None:
        assert parse_text(to_text(spec)) == spec


def test_the_written_form_is_the_readable_one() -> None:
    spec = FilterSpec(entity_groups=[["SmallMolecule"], ["blood-brain barrier", "cerebrospinal fluid"], ["~Antibody"]])
    # A name without spaces needs no quotes.
    assert to_text(spec) == '(SmallMolecule) AND ("blood-brain barrier" OR "cerebrospinal fluid") AND NOT Antibody'
    assert parse_text(to_text(spec).replace("(SmallMolecule)", "SmallMolecule")) == spec


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("", []),
        ("   ", []),
        ("aspirin", [["aspirin"]]),
        ("NOT aspirin", [["~aspirin"]]),
        ("(aspirin OR NOT caffeine)", [["aspirin", "~caffeine"]]),
        ('"AND" AND "a \\"b\\""', [["AND"], ['a "b"']]),
        ("Protein/GeneFamily AND CHEBI:27732", [["Protein/GeneFamily"], ["CHEBI:27732"]]),
        ("(a)AND(b)", [["a"], ["b"]]),
    ],
)
def test_reads(text: str, groups: list[list[str]]) -> None:
    assert parse_text(text).entity_groups == groups


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("aspirin AND", "ends after AND"),
        ("(aspirin OR", "a name is expected"),
        ("(aspirin", "not closed"),
        ("()", "a name is expected"),
        ("aspirin stroke", 'AND is expected, not "stroke"'),
        ("aspirin OR stroke", "OR stands only between parentheses"),
        ("(aspirin AND stroke)", "OR is expected"),
        ("aspirin and stroke", 'not "and"'),
        ("NOT NOT aspirin", "not NOT"),
        ("~aspirin", "column 1"),
        ('"~aspirin"', "write NOT"),
        ('"open', "column 1"),
        ('""', "names nothing"),
        ("a AND b; DROP TABLE x", "column 8"),
        (")", "a name is expected"),
    ],
)
def test_refuses_with_the_place(text: str, says: str) -> None:
    with pytest.raises(FilterError, match=says.replace("(", r"\(").replace(")", r"\)")):
        parse_text(text)


def test_repeated_terms_of_a_group_count_once() -> None:
    assert validate(FilterSpec(entity_groups=[["a", "a", "~a"]])) == [
        [Literal("a", negated=False, is_type=False), Literal("a", negated=True, is_type=False)]
    ]


def test_a_literal_knows_its_kind() -> None:
    assert parse_term("~SmallMolecule") == Literal("SmallMolecule", negated=True, is_type=True)
    assert parse_term("~SmallMolecule").text == "~SmallMolecule"
    assert parse_term("aspirin").is_type is False
