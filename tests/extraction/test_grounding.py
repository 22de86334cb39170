from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starling_assets.extraction.grounding import critical, fold, places

TEXT = "The compound did not cross the blood–brain barrier in rats (Kp 0.42), at 2 µM."
LEAST = 0.92


def found(quote: str, text: str = TEXT) -> list[str]:
    return [text[place.start : place.end] for place in places(quote, text, LEAST)]


@pytest.mark.parametrize(
    ("quote", "stored", "alignment"),
    [
        ("cross the blood–brain barrier", "cross the blood–brain barrier", "exact"),
        ("cross the blood-brain  barrier", "cross the blood–brain barrier", "folded"),
        ("THE COMPOUND did not", "The compound did not", "folded"),
        ("at 2 μM", "at 2 µM", "folded"),
        ("[2] The compound did not cross", "The compound did not cross", "exact"),
        ("did not cros the blood brain barrier in", "did not cross the blood–brain barrier in", "fuzzy"),
    ],
)
def test_a_quote_is_found_by_the_strictest_way_that_finds_it(quote: str, stored: str, alignment: str) -> None:
    (place,) = places(quote, TEXT, LEAST)
    assert TEXT[place.start : place.end] == stored
    assert place.alignment == alignment


@pytest.mark.parametrize(
    "quote",
    [
        "The compound did cross the blood-brain barrier in rats (Kp 0.42)",  # a negation left out
        "compound did not cros the blood brain barrier in rats (Kp 0.43)",  # a digit changed
        "The compound entered the brain of dogs",
        "",
        "...",
        "(",
    ],
)
def test_an_altered_or_foreign_quote_is_not_found(quote: str) -> None:
    assert found(quote) == []


def test_two_places_of_the_same_words_are_both_found() -> None:
    text = "HL-60: JQ1 lowered MYC (IC50 77 nM). K-562: JQ1 lowered MYC (IC50 77 nM)."
    assert [(place.start, place.end) for place in places("JQ1 lowered MYC (IC50 77 nM)", text, LEAST)] == [
        (7, 35),
        (44, 72),
    ]


def test_a_quote_does_not_begin_or_end_inside_a_number() -> None:
    text = "Compound 3 gave 12.5 nM and compound 4 gave 2 nM."
    assert found("2.5 nM", text) == []
    assert found("2 nM.", text) == ["2 nM."]


def test_a_hyphen_at_a_line_end_is_bridged_and_one_inside_a_line_is_not() -> None:
    assert found("the permeability was high", "the perme-\nability was high") == ["the perme-\nability was high"]
    assert places("noneffect", "non-effect", 2.0) == []


def test_ligatures_subscripts_and_combining_marks_map_back_to_stored_characters() -> None:
    text = "The eﬃcacy of cafe\u0301 extract: LD₅₀ = 12"
    for quote, stored in (
        ("efficacy of", "eﬃcacy of"),
        ("caf\u00e9 extract", "cafe\u0301 extract"),
        ("LD50 = 12", "LD₅₀ = 12"),
    ):
        assert found(quote, text) == [stored]


def test_astral_characters_count_once() -> None:
    text = "levels of \U0001d6fc-SMA rose"
    (place,) = places("α-SMA rose", text, LEAST)
    assert (place.start, text[place.start : place.end]) == (10, "\U0001d6fc-SMA rose")


def test_invisible_characters_in_the_paper_do_not_hide_a_quote() -> None:
    text = "does\u200b not\u2060 cross the \u00adbarrier"
    assert found("does not cross the barrier", text) == [text]


def test_critical_words_tell_opposite_statements_apart() -> None:
    assert critical("X is permeable, 5 nM") == critical("x is permeable 5 nM")
    assert critical("X crosses") != critical("X never crosses")
    assert critical("≤ 5") != critical("≥ 5")


@settings(deadline=None)
@given(st.text(max_size=60), st.text(max_size=20), st.text(max_size=20))
def test_every_place_is_a_stretch_of_the_stored_text_that_folds_like_the_quote(
    quote: str, before: str, after: str
) -> None:
    text = f"{before} {quote} {after}"
    for place in places(quote, text, LEAST):
        assert 0 <= place.start < place.end <= len(text)
        if place.alignment == "exact":
            assert text[place.start : place.end] in quote


@settings(deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=80))
def test_folding_keeps_one_span_per_character_in_order(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    assert list(folded.starts) == sorted(folded.starts)
    assert all(start < end <= len(text) for start, end in zip(folded.starts, folded.ends, strict=True))
    assert fold(unicodedata.normalize("NFC", text)).text == folded.text or "\u0345" in unicodedata.normalize(
        "NFD", text
    )


@settings(deadline=None)
@given(st.integers(0, 40), st.integers(1, 40))
def test_a_word_left_out_of_a_long_quote_is_bridged_only_within_the_limit(start: int, length: int) -> None:
    words = [f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(80)]
    text = " ".join(words)
    quote = " ".join(words[start : start + length])
    (place,) = places(quote, text, LEAST)
    assert text[place.start : place.end] == quote
