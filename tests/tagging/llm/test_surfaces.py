"""Places of written forms (F27): the stored text's own characters, whole words, whatever the form looks like."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.tagging.llm.surfaces import occurrences


def found(form: str, text: str) -> list[str]:
    return [text[span.start : span.end] for span in occurrences(form, text)]


def test_every_whole_word_occurrence_and_no_part_of_a_word() -> None:
    assert [tuple(span) for span in occurrences("ERK", "ERK, pERK, ERK1 and (ERK).")] == [(0, 3), (21, 24)]
    assert found("5", "15 and 5 and 5.5") == ["5", "5", "5"]
    assert found("Ca2+", "Ca2+ entered; Ca2 did not") == ["Ca2+"]
    assert found("(S)-ketamine", "with (S)-ketamine.") == ["(S)-ketamine"]


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        ("TNF-alpha", "serum TNF-α rose", ["TNF-α"]),
        ("TNF-α", "serum TNF‐alpha rose", ["TNF‐alpha"]),
        ("fibrosis", "hepatic ﬁbrosis", ["ﬁbrosis"]),
        ("IC50", "an IC₅₀ of 3", ["IC₅₀"]),
        ("Sjogren syndrome", "in Sjögren syndrome", ["Sjögren syndrome"]),
        ("endothelial cells", "of endo-\nthelial\n  cells", ["endo-\nthelial\n  cells"]),
        ("α-actin", "𝛼-actin was seen", ["𝛼-actin"]),
        ("soft hyphen", "a soft hy\u00adphen here", ["soft hy\u00adphen"]),
        ("Crohn's disease", "had Crohn’s disease", ["Crohn’s disease"]),
        ("breast  cancer", "breast\ncancer", ["breast\ncancer"]),
        ("aspirin", "Aspirin and ASPIRIN", ["Aspirin", "ASPIRIN"]),
        ("MCF-7", "MCF-70 and MCF 7", ["MCF 7"]),
        ("HL60", "HL-60 and HL 60", ["HL-60", "HL 60"]),
        ("Alzheimers disease", "Alzheimer's disease", []),
        ("TNF alpha", "TNF-α", ["TNF-α"]),
        ("COX-2", "COX-\n2 rose", ["COX-\n2"]),
        ("µ-opioid", "a μ-opioid ligand", ["μ-opioid"]),
    ],
)
def test_a_form_is_found_in_the_spelling_of_the_text(form: str, text: str, expected: list[str]) -> None:
    assert found(form, text) == expected


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("WAS", "it was seen"),
        ("cat", "Cat and CAT"),
        ("fi", "the ﬁbre"),
        ("cancer pain", "cancer, pain"),
        ("MCF-7", "MCF-70 and MCF/7"),
        ("1 2", "12"),
        ("cell line", "cellline"),
        ("well known", "wellknown"),
        ("non-\nsense", "nonsense5"),
        ("", "text"),
        ("…", "text …"),
        ("bosis", "thrombosis"),
    ],
)
def test_what_is_no_occurrence(form: str, text: str) -> None:
    assert occurrences(form, text) == []


def test_a_hyphen_inside_a_line_is_no_line_end() -> None:
    assert found("wellknown", "well-known") == []


_TEXTS = st.text(st.sampled_from("aAéßﬁ αβ²₅-\u2010\n\u00ad\u200b'’(),.+1𝛼😀\u0301ǆİ"), min_size=0, max_size=60).map(
    lambda text: unicodedata.normalize("NFC", text)
)


@given(_TEXTS, _TEXTS)
def test_spans_lie_in_the_text_in_order_and_hold_a_letter(form: str, text: str) -> None:
    spans = occurrences(form, text)
    for span in spans:
        assert 0 <= span.start < span.end <= len(text)
        assert any(char.isalnum() for char in text[span.start : span.end])
    assert spans == sorted(spans)


@given(_TEXTS, st.data())
def test_a_word_cut_out_of_the_text_is_found_where_it_stood(text: str, data: st.DataObject) -> None:
    words = [(at, word) for at, word in _words(text) if any(char.isalnum() for char in word)]
    if not words:
        return
    at, word = data.draw(st.sampled_from(words))
    assert (at, at + len(word)) in [tuple(span) for span in occurrences(word, text)]


def _words(text: str) -> list[tuple[int, str]]:
    """Pieces between white space, with their offsets."""
    found, start = [], 0
    for at in range(len(text) + 1):
        if at == len(text) or text[at].isspace():
            if at > start:
                found.append((start, text[start:at]))
            start = at + 1
    return found
