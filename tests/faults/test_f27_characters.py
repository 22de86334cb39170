"""F27: whatever the characters, ``text[start:end]`` of a stored block is the quote that was cut from it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starling_assets.literature.pdf_words import join_lines
from starling_assets.literature.text import block_key, clean, clean_lines, fold
from tests.literature.papers_on_disk import article, citation, citation_set, read_all, texts, write

#: What is written in the source, what a reader's text holds, and a quote that must be found in it.
WRITTEN = [
    ("LD<sub>50</sub> of 5 mg/kg", "LD50 of 5 mg/kg", "LD50"),
    ("5 mg/kg<xref ref-type='bibr' rid='b'>12</xref> was", "5 mg/kg [12] was", "5 mg/kg"),
    ("5 mg/kg<sup><xref ref-type='bibr' rid='b'>12</xref></sup>.", "5 mg/kg [12].", "5 mg/kg"),
    ("5 mg/kg<xref ref-type='bibr' rid='b'><sup>12</sup></xref>.", "5 mg/kg [12].", "[12]"),
    (
        "shown<sup><xref ref-type='bibr' rid='a'>3</xref>,<xref ref-type='bibr' rid='b'>4</xref></sup> before",
        "shown [3,4] before",
        "[3,4]",
    ),
    ("shown [<xref ref-type='bibr' rid='b'>12</xref>] before", "shown [12] before", "[12]"),
    ("seen (<xref ref-type='bibr' rid='b'>Smith 2001</xref>)", "seen (Smith 2001)", "Smith 2001"),
    ("dose of 10<sup>6</sup> cells", "dose of 10^6 cells", "10^6"),
    ("1.2 × 10<sup>−3</sup> M", "1.2 × 10^−3 M", "10^−3"),
    ("value 0.53<sup>2</sup> here", "value 0.53 [2] here", "0.53"),
    ("value 0.53<sup>a,b</sup> here", "value 0.53 [a,b] here", "0.53"),
    ("the 5<sup>th</sup> day", "the 5th day", "5th"),
    ("<sup>14</sup>C and Ca<sup>2+</sup> in kg/m<sup>2</sup>", "14C and Ca2+ in kg/m2", "Ca2+"),
    ("α-synuclein, β₂ and µM against μM", "α-synuclein, β₂ and µM against μM", "β₂"),
    ("nai\u0308ve cafe\u0301", "naïve café", "naïve"),
    ("gene \U0001d6fc and \U0001f9ec end", "gene \U0001d6fc and \U0001f9ec end", "\U0001f9ec end"),
    ("a\u00a0b\u2009c\u202fd\n   e", "a b c d e", "c d e"),
    ("zero\u200bwidth and soft\u00adhyphen", "zerowidth and softhyphen", "softhyphen"),
    ("ﬁbrosis stays as written", "ﬁbrosis stays as written", "ﬁbrosis"),
    ("R&#x301;esum&eacute;", "Ŕesumé", "Ŕesumé"),
    ("p &lt; 0.05 &amp; q &gt; 1", "p < 0.05 & q > 1", "p < 0.05"),
]


@pytest.mark.parametrize(("source", "expected", "quote"), WRITTEN, ids=[row[2] for row in WRITTEN])
def test_full_text(tmp_path, source, expected, quote):
    document = '<!DOCTYPE article PUBLIC "x" "y.dtd">' + article(f"<p>Before. {source}</p>")
    _, papers, _ = read_all([write(tmp_path, "a.nxml", document)])
    (text,) = [text for text in texts(papers, "paragraph") if text.startswith("Before.")]
    assert text == f"Before. {expected}"
    start = text.index(quote)
    assert text[start : start + len(quote)] == quote
    assert unicodedata.is_normalized("NFC", text)


def test_citations_keep_inline_markup_as_text(tmp_path):
    inside = (
        "<Abstract><AbstractText Label='RESULTS'>LD<sub>50</sub> 3 × 10<sup>4</sup> <i>in vivo</i>, "
        "IC<sub>50</sub>\u2009=\u20095 µM, cafe\u0301.</AbstractText></Abstract>"
    )
    file = write(tmp_path, "c.xml", citation_set(citation(1, "Effect of <i>α</i>-<sup>3</sup>H.", inside=inside)))
    citations, papers, _ = read_all([file])
    assert citations.citations["title"].to_list() == ["Effect of α-3H."]
    assert texts(papers) == ["Effect of α-3H.", "RESULTS: LD50 3 × 10^4 in vivo, IC50 = 5 µM, café."]


LINES = [
    (["the blood-\x02", "brain barrier"], "the blood-brain barrier"),
    (["of transcrip\x02", "tion factors"], "of transcription factors"),
    (["of transcrip-", "tion factors"], "of transcription factors"),
    (["of transcrip\ufffe", "tion factors"], "of transcription factors"),
    (["a dose-", "response curve"], "a dose-response curve"),
    (["IL-", "6 levels"], "IL-6 levels"),
    (["pre-", "and post-treatment"], "pre- and post-treatment"),
    (["the TNF-", "α level"], "the TNF-α level"),
    (["between 5-", "fold changes"], "between 5-fold changes"),
    (["signiﬁcant eﬀects", "of ﬂuoxetine"], "significant effects of fluoxetine"),
    (["one", "", "two"], "one two"),
    ([], ""),
]


@pytest.mark.parametrize(("lines", "expected"), LINES)
def test_words_divided_at_line_ends(lines, expected):
    assert join_lines(lines) == expected


@given(st.text(max_size=200))
@settings(max_examples=300)
def test_cleaning_is_stable(text):
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert unicodedata.is_normalized("NFC", cleaned)
    assert "  " not in cleaned
    assert cleaned == cleaned.strip()
    assert "\n" not in cleaned


@given(st.lists(st.text(max_size=40), max_size=8))
def test_cleaned_lines_are_clean_lines(lines):
    for line in clean_lines("\n".join(lines)).split("\n"):
        assert line == clean(line)


@given(st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=80))
@settings(max_examples=200)
def test_any_text_survives_the_way_through_xml(tmp_path_factory, text):
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    if any(0xFFFE <= ord(character) <= 0xFFFF for character in text):
        return  # not allowed in XML
    folder = tmp_path_factory.mktemp("xml")
    _, papers, reports = read_all([write(folder, "a.nxml", article(f"<p>Begin {escaped} end.</p>", abstract=""))])
    assert reports["a.nxml"]["status"] == "ok", reports["a.nxml"]["reason"]
    assert texts(papers, "paragraph") == [clean(f"Begin {text} end.")]


@given(st.text(max_size=60), st.text(alphabet=" \t\n\u00a0", max_size=5))
def test_keys_ignore_layout_and_case_only(text, blank):
    assert block_key(text, 0) == block_key(blank + text.replace(" ", "  ") + blank, 0)
    assert block_key(text, 0) != block_key(text, 1)
    assert fold(text + "x") != fold(text)
