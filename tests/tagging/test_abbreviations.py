"""Definitions of abbreviations inside a paragraph."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.tagging.abbreviations import align, definitions, is_short_form


def pairs(text: str) -> list[tuple[str, str]]:
    return [(item.short, text[item.long_start : item.long_end]) for item in definitions(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the blood-brain barrier (BBB) is tight", [("BBB", "blood-brain barrier")]),
        ("BBB (blood-brain barrier)", [("BBB", "blood-brain barrier")]),
        ("cerebrospinal fluid [CSF] was drawn", [("CSF", "cerebrospinal fluid")]),
        (
            "Alzheimer's disease (AD) and Parkinson's disease (PD)",
            [("AD", "Alzheimer's disease"), ("PD", "Parkinson's disease")],
        ),
        ("tumour necrosis factor alpha (TNF-alpha; see below)", [("TNF-alpha", "tumour necrosis factor alpha")]),
        ("P-glycoprotein (P-gp)", [("P-gp", "P-glycoprotein")]),
        ("heart rate (60 bpm)", []),
        ("as shown (Table 2)", []),
        ("caffeine (10 mg/kg)", []),
        ("no bracket at all", []),
        ("something else (XYZ)", []),
        ("(BBB) at the start", []),
        ("Abbreviations (see)", []),
    ],
)
def test_definitions(text: str, expected: list[tuple[str, str]]) -> None:
    assert pairs(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("BBB", True),
        ("B", False),
        ("see", False),
        ("TNF-α", True),
        ("a b c", False),
        ("2019", False),
        ("x" * 20, False),
    ],
)
def test_short_forms(value: str, expected: bool) -> None:
    assert is_short_form(value) is expected


@given(st.text(alphabet="aAbB (),.-1é", max_size=120))
def test_any_text_gives_spans_inside_it(text: str) -> None:
    for item in definitions(text):
        assert 0 <= item.long_start < item.long_end <= len(text)
        assert text[item.short_start : item.short_start + len(item.short)] == item.short


@given(st.lists(st.text(alphabet="abcdefghij", min_size=2, max_size=8), min_size=2, max_size=5))
def test_initials_of_words_are_always_found(words: list[str]) -> None:
    short = "".join(word[0] for word in words).upper()
    text = " ".join(words)
    start = align(short, text, len(text))
    assert start is None or text[start].upper() == short[0]
    assert (short, text[start:]) in pairs(f"{text} ({short})") or start is None
