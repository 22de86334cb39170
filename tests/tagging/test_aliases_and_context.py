"""Labels of compounds, and what the words around a mention say."""

from __future__ import annotations

from collections import Counter

import pytest

from starling_assets.tagging.aliases import introduced, repeated
from starling_assets.tagging.context import (
    SpeciesMention,
    gene_rather_than_protein,
    has_cell_cue,
    has_gene_cue,
    species_of,
)


def labels(text: str) -> list[str]:
    return [item.label for item in introduced(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Compound 6f was potent", ["6f"]),
        ("compounds 3a, 3b and 12", ["3a", "3b", "12"]),
        ("analogues 4c and 5", ["4c", "5"]),
        ("product 50% yield", []),
        ("compound 5 mg", ["5"]),
        ("inhibitor 2 h", ["2"]),
        ("compound 10h", ["10"]),
        ("no label", []),
        ("compound 1.5", []),
    ],
)
def test_labels_after_a_word_for_a_compound(text: str, expected: list[str]) -> None:
    if text == "compound 10h":
        assert labels(text) == []  # ten hours
    else:
        assert labels(text) == expected


def test_bare_labels_need_a_letter_and_an_introduction() -> None:
    text = "6f and 7 beat 6g; Figure 6f shows 6f."
    assert [(item.label, item.start) for item in repeated(text, {"6f", "7"})] == [("6f", 0), ("6f", 34)]
    assert repeated(text, set()) == []


@pytest.mark.parametrize(
    ("text", "gene"),
    [
        ("the RAD51 gene", True),
        ("RAD51 mRNA", True),
        ("polymorphisms in RAD51", True),
        ("RAD51 protein", False),
        ("RAD51-null cells", True),
        ("RAD51 levels", False),
        ("deletion of RAD51 impaired", True),
    ],
)
def test_gene_or_protein(text: str, gene: bool) -> None:
    start = text.index("RAD51")
    assert gene_rather_than_protein(text, start, start + 5) is gene


def test_cues_for_codes() -> None:
    text = "HEL cells were grown; the HEL of it; in cell lines K562, HEL"
    first, second, third = 0, text.index("HEL of"), text.rindex("HEL")
    assert has_cell_cue(text, first, first + 3)
    assert not has_cell_cue(text, second, second + 3)
    assert has_cell_cue(text, third, third + 3)
    assert has_gene_cue("expression of AD", 14, 16)
    assert not has_gene_cue("patients with AD", 14, 16)


MENTIONS = [SpeciesMention(0, 5, "yeast"), SpeciesMention(40, 45, "human"), SpeciesMention(80, 85, "mouse")]


@pytest.mark.parametrize(
    ("position", "wanted", "expected"),
    [
        (10, {"yeast", "human", "mouse"}, "yeast"),
        (50, {"yeast", "human", "mouse"}, "human"),
        (90, {"yeast", "human", "mouse"}, "mouse"),
        (90, {"yeast"}, "yeast"),
        (10, {"mouse"}, "mouse"),
        (10, {"rat"}, None),
    ],
)
def test_the_nearest_species_decides(position: int, wanted: set[str], expected: str | None) -> None:
    assert species_of(position, MENTIONS, Counter(), wanted) == expected


def test_the_papers_species_decides_when_the_paragraph_names_none() -> None:
    assert species_of(5, [], Counter({"mouse": 3, "human": 2}), {"human", "mouse"}) == "mouse"
    assert species_of(5, [], Counter({"mouse": 2, "human": 2}), {"human", "mouse"}) == "human"
    assert species_of(5, [], Counter(), {"human"}) is None
