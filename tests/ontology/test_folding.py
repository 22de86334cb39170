"""Folding of names and text: equal forms, exact offsets."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.ontology.folding import TOKEN, dashes, edges_of, fold, gaps_of, spell


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("TNF-α", "TNF-alpha"),
        ("TNFα", "tnf alpha"),
        ("\U0001d6fc-SMA", "α-SMA"),
        ("5 \u00b5M", "5 \u03bcM"),
        ("café", "cafe\u0301"),
        ("HL60", "HL-60"),
        ("IL-1β", "IL1 beta"),
        ("blood–brain barrier", "blood-brain barrier"),
        ("H₂O", "H2O"),
        ("ﬁbrosis", "fibrosis"),
        ("İzmir", "izmir"),
        ("perme\u00adability", "permeability"),
        ("Straße", "STRASSE"),
    ],
)
def test_forms_of_one_name_fold_alike(left: str, right: str) -> None:
    assert fold(left) == fold(right)


@pytest.mark.parametrize(("left", "right"), [("IL-1", "IL-11"), ("JQ1", "JQ2"), ("1,2-x", "12-x"), ("α", "β")])
def test_different_names_stay_different(left: str, right: str) -> None:
    assert fold(left) != fold(right)


@given(st.text(max_size=200))
def test_tokens_are_slices_of_the_text(text: str) -> None:
    matches = list(TOKEN.finditer(text))
    assert all(match.group() == text[match.start() : match.end()] for match in matches)
    assert all(left.end() <= right.start() for left, right in pairwise(matches))
    assert len(gaps_of(text)) == max(0, len(matches) - 1)


@given(st.text(alphabet=st.characters(categories=["L", "N", "M", "P", "Zs"]), max_size=80))
def test_folding_does_not_depend_on_composition(text: str) -> None:
    composed, decomposed = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    latin = "".join(char for char in composed if ord(char) < 0x250 or char in "αβγµ")
    assert fold(unicodedata.normalize("NFC", latin)) == fold(unicodedata.normalize("NFD", latin))
    assert isinstance(fold(decomposed), str)


@given(st.text(alphabet="abc XYZ0189-αé", max_size=60))
def test_folding_is_idempotent_up_to_spacing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_every_ascii_word_is_one_token_whatever_follows() -> None:
    assert [match.group() for match in TOKEN.finditer("café caf\u00e9s ab12é")] == ["café", "cafés", "ab", "12", "é"]


def test_spelling_keeps_case_but_not_signs() -> None:
    assert spell("TNF-α") == "TNFalpha"
    assert spell("Hl-60") != spell("HL-60")


def test_signs_at_the_edges_and_dashes() -> None:
    assert edges_of("(+)-catechin") == ("(+)-", "")
    assert edges_of("Na+") == ("", "+")
    assert edges_of("−") == ("-", "")
    assert dashes("a–b−c") == "a-b-c"
    assert gaps_of("1,2-di") == [",", "-"]
