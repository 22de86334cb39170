"""F20: malformed filter terms are refused by name before any query."""

from __future__ import annotations

import pytest

from starling_assets.retrieval.filterspec import FilterSpec
from starling_assets.retrieval.grammar import MAX_TERM_LENGTH, MAX_TERMS, FilterError, validate
from starling_assets.retrieval.resolution import UnresolvedTerms, resolve
from starling_assets.retrieval.vocabulary import Vocabulary
from starling_assets.settings.model import RetrievalSettings
from tests.retrieval.small_world import concepts, lexicon


class _NeverAsked(Vocabulary):
    def __init__(self) -> None:
        pass

    def matches(self, names: object) -> dict[str, object]:  # type: ignore[override]
        raise AssertionError("the vocabulary was queried")


@pytest.mark.parametrize(
    ("term", "says"),
    [
        ("", 'the term "" names nothing'),
        ("~", 'the term "~" names nothing'),
        ("   ", "names nothing"),
        ("~ ", "names nothing"),
        ("~~x", 'the term "~~x" is negated twice'),
        (" ~x", 'the term " ~x" begins or ends with white space'),
        ("x ", "white space"),
        ("~ x", "white space"),
        ("smallmolecule", "type SmallMolecule"),
        ("DISEASE", "type Disease"),
        ("~goterm", "type GOTerm"),
        ("a\x00b", r"a\\u0000b.* control character"),
        ("a\nb", "control character"),
        ("x" * (MAX_TERM_LENGTH + 1), f"at most {MAX_TERM_LENGTH}"),
    ],
)
def test_a_malformed_term_is_named(term: str, says: str) -> None:
    with pytest.raises(FilterError, match=says):
        resolve(FilterSpec(entity_groups=[["aspirin"], [term]]), _NeverAsked(), RetrievalSettings())


def test_ten_thousand_terms_are_refused() -> None:
    spec = FilterSpec(entity_groups=[[f"name {n}" for n in range(10_000)]])
    with pytest.raises(FilterError, match=r'holds 10000 terms \(the first is "name 0"\)'):
        resolve(spec, _NeverAsked(), RetrievalSettings())
    validate(FilterSpec(entity_groups=[[f"name {n}" for n in range(MAX_TERMS)]]))


def test_an_unknown_type_is_an_unknown_name() -> None:
    rows = [("aspirin", "CHEBI:15365", "SmallMolecule"), ("chemical", "CHEBI:24431", "SmallMoleculeClass")]
    vocabulary = Vocabulary.from_frames(lexicon(rows), concepts(rows))
    with pytest.raises(UnresolvedTerms, match='no vocabulary knows "Chemicals"; did you mean "chemical"') as caught:
        resolve(FilterSpec(entity_groups=[["Chemicals"], ["~Aspirine", "xq"]]), vocabulary, RetrievalSettings())
    assert caught.value.suggestions == {"Chemicals": ["chemical"], "Aspirine": ["aspirin"], "xq": []}
