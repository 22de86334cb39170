"""JATS: nothing that a reader sees is left out, and everything stands where it belongs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lxml import etree

from starling_assets.literature.bmc import read_bmc
from starling_assets.literature.jats import read_jats
from starling_assets.literature.jats_math import math_tex, math_text
from starling_assets.literature.sections import section_kind
from starling_assets.literature.text import fold
from starling_assets.literature.xml import BadSource, local_name, open_source, parse_xml
from tests.literature.papers_on_disk import LIMITS, article, read_all, texts, write


def blocks(tmp_path, body: str = "", **parts: str) -> list[tuple[str, str, str]]:
    """(kind, section kind, text) of the blocks after title and abstract."""
    _, papers, reports = read_all([write(tmp_path, "a.nxml", article(body, abstract="", **parts))])
    assert reports["a.nxml"]["status"] == "ok", reports["a.nxml"]["reason"]
    return [(row["kind"], row["section_kind"], row["text"]) for row in papers.blocks.iter_rows(named=True)][1:]


def test_sections_and_their_kinds(tmp_path):
    body = (
        "<sec sec-type='intro'><title>Why</title><p>One.</p></sec>"
        "<sec><title>2. Materials and Methods</title><p>Two.</p><sec><title>Animals</title><p>Three.</p></sec></sec>"
        "<sec><title>Results and Discussion</title><p>Four.</p></sec><sec><title>Conclusions</title><p>Five.</p></sec>"
        "<sec><title>Something else</title><p>Six.</p></sec>"
    )
    paragraphs = [(section, text) for kind, section, text in blocks(tmp_path, body) if kind == "paragraph"]
    assert paragraphs == [
        ("introduction", "One."),
        ("methods", "Two."),
        ("methods", "Three."),
        ("results", "Four."),
        ("conclusion", "Five."),
        ("other", "Six."),
    ]


def test_the_path_names_all_levels(tmp_path):
    body = "<sec><label>2</label><title>Methods</title><sec><title>Animals</title><p>Rats.</p></sec></sec>"
    _, papers, _ = read_all([write(tmp_path, "a.nxml", article(body))])
    paths = {row["text"]: row["section_path"] for row in papers.blocks.iter_rows(named=True)}
    assert paths["Rats."] == ["2 Methods", "Animals"]
    assert paths["Abstract text."] == ["Abstract"]


def test_blocks_inside_a_paragraph_come_after_its_text(tmp_path):
    body = (
        "<p>Before <list><list-item><p>first</p></list-item><list-item><label>b</label><p>second</p></list-item><"
        "/list> after."
        "<fig><label>Figure 1</label><caption><title>A map.</title><p>Of the brain.</p></caption><graphic/></fig>"
        "<disp-formula><tex-math>\\frac{a}{b}</tex-math></disp-formula></p>"
    )
    assert [(kind, text) for kind, _, text in blocks(tmp_path, body)] == [
        ("paragraph", "Before after."),
        ("list_item", "first"),
        ("list_item", "b second"),
        ("caption", "Figure 1 A map. Of the brain."),
        ("formula", "\\frac{a}{b}"),
    ]


def test_lists_definitions_quotes_boxes_and_notes(tmp_path):
    body = (
        "<def-list><def-item><term>BBB</term><def><p>blood-brain barrier</p></def></def-item></def-list>"
        "<disp-quote><p>Said so.</p></disp-quote><boxed-text><title>Key points</title><p>In a box.</p></boxed-text>"
        "<p>Text<fn><label>1</label><p>A note.</p></fn>.</p>"
    )
    back = (
        "<ack><title>Thanks</title><p>To all.</p></ack><fn-group><fn><label>*</label><p>Equal work.</p></fn></fn-group>"
        "<app-group><app><title>Appendix A</title><p>More.</p></app></app-group>"
        "<glossary><def-list><def-item><term>K</term><def><p>kilo</p></def></def-item></def-list></glossary>"
    )
    found = [(kind, text) for kind, _, text in blocks(tmp_path, body, back=back)]
    for expected in (
        ("list_item", "BBB: blood-brain barrier"),
        ("paragraph", "Said so."),
        ("heading", "Key points"),
        ("paragraph", "In a box."),
        ("paragraph", "Text."),
        ("footnote", "[1] A note."),
        ("paragraph", "To all."),
        ("footnote", "[*] Equal work."),
        ("paragraph", "More."),
        ("list_item", "K: kilo"),
    ):
        assert expected in found, expected


def test_references_have_no_paragraph_number(tmp_path):
    back = (
        "<ref-list><title>References</title><ref id='r'><label>1</label><element-citation><person-group><name>"
        "<surname>Lee</surname><given-names>C</given-names></name></person-group><article-title>On K-11</article-title>"
        "<source>J Ex</source><year>2001</year></element-citation></ref>"
        "<ref><mixed-citation>Doe J. <italic>Another</italic>. 1999.</mixed-citation></ref></ref-list>"
    )
    _, papers, _ = read_all([write(tmp_path, "a.nxml", article(back=back))])
    rows = [row for row in papers.blocks.iter_rows(named=True) if row["kind"] == "reference"]
    assert [row["text"] for row in rows] == ["1 Lee C On K-11 J Ex 2001", "Doe J. Another. 1999."]
    assert {row["para_idx"] for row in rows} == {None}
    assert {row["section_kind"] for row in rows} == {"references"}


def test_floats_sub_articles_and_supplements(tmp_path):
    document = article(
        "<p>Body.</p><supplementary-material><caption><p>Table S1.</p></caption></supplementary-material>"
    )
    extra = (
        "<floats-group><fig><caption><p>Floating.</p></caption></fig></floats-group>"
        "<sub-article article-type='reviewer-report'><front-stub><title-group><article-title>Report "
        "1</article-title></title-group>"
        "</front-stub><body><p>Well done.</p></body></sub-article><response><front-stub/><body><p>Thank you.</p><"
        "/body></response>"
    )
    _, papers, _ = read_all([write(tmp_path, "a.nxml", document.replace("</article>", extra + "</article>"))])
    kinds = {row["text"]: row["section_kind"] for row in papers.blocks.iter_rows(named=True)}
    assert kinds["Floating."] == "other"
    assert kinds["Table S1."] == kinds["Well done."] == kinds["Thank you."] == "supplementary"


def test_a_translated_abstract_is_not_a_second_abstract(tmp_path):
    abstract = (
        "<abstract><sec><title>Aim</title><p>To see.</p></sec></abstract>"
        "<trans-abstract xml:lang='pt'><p>Para ver.</p></trans-abstract>"
    )
    _, papers, _ = read_all([write(tmp_path, "a.nxml", article(abstract=abstract))])
    kinds = {row["text"]: (row["section_kind"], row["section_path"]) for row in papers.blocks.iter_rows(named=True)}
    assert kinds["To see."] == ("abstract", ["Abstract", "Aim"])
    assert kinds["Para ver."] == ("other", ["Abstract (pt)"])


@pytest.mark.parametrize(
    ("heading", "sec_type", "parent", "expected"),
    [
        ("Introduction", None, "other", "introduction"),
        ("1. BACKGROUND", None, "other", "introduction"),
        ("IV. Results", None, "other", "results"),
        ("Patients and methods", None, "other", "methods"),
        ("Supporting Information", None, "other", "supplementary"),
        ("Concluding remarks", None, "other", "conclusion"),
        ("Anything", "materials|methods", "other", "methods"),
        ("Results", None, "methods", "methods"),
        ("", None, "other", "other"),
        ("A very long heading " * 10 + "results", None, "other", "other"),
    ],
)
def test_section_kinds(heading, sec_type, parent, expected):
    assert section_kind(heading, sec_type, parent) == expected


MATH = [
    ("<msup><mi>x</mi><mn>2</mn></msup>", "x^2", "x^{2}"),
    ("<msub><mi>IC</mi><mn>50</mn></msub>", "IC50", "\\mathrm{IC}_{50}"),
    ("<mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mi>c</mi></mrow></mfrac>", "a/(b+c)", "\\frac{a}{b + c}"),
    ("<msqrt><mi>n</mi></msqrt>", "√n", "\\sqrt{n}"),
    ("<mi>p</mi><mo>=</mo><mn>0.05</mn>", "p = 0.05", "p = 0.05"),
    ("<mi>&#945;</mi><mo>&#8804;</mo><mn>1</mn>", "α ≤ 1", "\\alpha \\le 1"),
    ("<mtext>dose</mtext>", "dose", "\\text{dose}"),
    ("<mfenced><mi>a</mi><mi>b</mi></mfenced>", "(a,b)", "(a, b)"),
    ("<mi>f</mi><mo>&#8289;</mo><mi>x</mi>", "fx", "f x"),
]


@pytest.mark.parametrize(("markup", "text", "tex"), MATH)
def test_math(markup, text, tex):
    element = etree.fromstring(f"<math xmlns='http://www.w3.org/1998/Math/MathML'>{markup}</math>")
    assert math_text(element) == text
    assert math_tex(element) == tex


def test_an_article_set_and_a_foreign_root():
    two = etree.fromstring(f"<pmc-articleset>{article()}{article()}</pmc-articleset>")
    assert len(read_jats(two)) == 2
    with pytest.raises(BadSource, match="no article inside <pmc-articleset>"):
        read_jats(etree.fromstring("<pmc-articleset/>"))


def test_sections_nested_beyond_reason():
    deep = "<sec>" * 80 + "<p>Deep.</p>" + "</sec>" * 80
    with pytest.raises(BadSource, match="nested"):
        read_jats(etree.fromstring(article(deep)))


LOOSE = re.compile(r"[\W_]")
LEFT_OUT_TAGS = (
    "tex-math table-wrap fig list disp-formula disp-formula-group disp-quote boxed-text supplementary-material fn "
    "media graphic "
    "inline-graphic object-id def-list statement table-wrap-group fig-group chem-struct-wrap verse-group preformat "
    "code alternatives "
    "math speech array alt-text long-desc"
)
LEFT_OUT = frozenset(LEFT_OUT_TAGS.split())


def loose(text: str) -> str:
    return LOOSE.sub("", fold(text))


def own_words(element: etree._Element) -> str:
    """Text of ``element`` without the blocks inside it, by a walk of its own."""
    parts = [element.text or ""]
    for child in element:
        if isinstance(child.tag, str) and local_name(child.tag) not in LEFT_OUT:
            parts.append(own_words(child))
        parts.append(child.tail or "")
    return "".join(parts)


WANTED = {
    "paragraphs": "//body//p | //back//p | //sub-article//p | //floats-group//p",
    "abstracts": "//front//abstract//p",
    "headings": "//body//sec/title | //back//sec/title",
    "captions": "//caption",
    "cells": "//td | //th | //*[local-name()='entry']",
    "footnotes": "//fn | //table-wrap-foot//p",
    "labels": "//table-wrap/label | //fig/label",
}


def complete(path: Path) -> dict[str, tuple[int, int]]:
    root = parse_xml(open_source(path, LIMITS), LIMITS)
    everything = "\n".join(loose(block.text) for paper in read_jats(root) for block in paper.blocks)
    found = {}
    for name, query in WANTED.items():
        words = [
            loose(own_words(element))
            for element in root.xpath(query)
            if not element.xpath(".//*[local-name()='math'] | .//inline-formula")
        ]
        words = [word for word in words if word]
        found[name] = (sum(word in everything for word in words), len(words))
    return found


def test_the_bundled_articles_are_read_in_full(examples):
    for path in sorted((examples / "papers").glob("*.nxml")):
        for name, (read, wanted) in complete(path).items():
            assert read == wanted, (path.name, name)


@pytest.mark.slow
def test_the_shared_articles_are_read_in_full(shared_data):
    totals: dict[str, list[int]] = {name: [0, 0] for name in WANTED}
    files = 0
    for path in sorted((shared_data / "literature" / "jats").iterdir()):
        for name, (read, wanted) in complete(path).items():
            totals[name][0] += read
            totals[name][1] += wanted
        files += 1
    assert files == 78
    assert all(read == wanted > 100 for read, wanted in totals.values()), totals


def test_the_old_document_type_of_biomed_central(shared_data):
    path = shared_data / "literature" / "nasty" / "bmc_art_dtd_1745-6215-16-1.xml.gz"
    (paper,) = read_bmc(parse_xml(open_source(path, LIMITS), LIMITS))
    assert (paper.doi, paper.journal, paper.licence) == ("10.1186/1745-6215-16-1", "Trials", "CC-BY")
    assert str(paper.public.earliest) == "2015-02-12"
    kinds = [block.kind for block in paper.blocks]
    assert kinds.count("reference") == 37  # 38 entries, one of them the article itself
    assert len({block.text.split("\n")[0] for block in paper.blocks if block.kind == "table"}) == 8
    assert "Age (years); mean, (SD)) | Control (N = 10)" in "\n".join(block.text for block in paper.blocks)


def test_biomed_central_tables_and_citations(tmp_path):
    document = """<art><fm><bibl><title><p>A title</p></title><source>J Ex</source><xrefbib><pubidlist>
<pubid idtype="pmpid">12</pubid>
    </pubidlist></xrefbib></bibl><cpyrt><note>Under the Creative Commons Attribution License.</note></cpyrt>
    <abs><sec><st><p>Aim</p></st><p>To see.</p></sec></abs></fm><bdy><sec><st><p>Results</p></st>
    <p>Seen at 5 mg/kg<abbrgrp><abbr>12</abbr></abbrgrp>.</p><tbl id="T1"><title><p>Table 1</p></title><caption>
<p>Doses</p></caption>
    <tblbdy cols="2"><r><c><p>Compound</p></c><c><p>Dose</p></c></r><r><c><p>K-11</p></c><c><p>5</p></c></r></tblbdy>
    <tblfn><p>Rats.</p></tblfn></tbl></sec></bdy><bm><refgrp><bibl><title><p>Cited</p></title></bibl></refgrp></bm></art>"""
    _, papers, reports = read_all([write(tmp_path, "a.xml", document)])
    assert reports["a.xml"]["kind"] == "jats"
    assert papers.papers["paper_id"].to_list() == ["pmid:12"]
    assert texts(papers) == [
        "A title",
        "To see.",
        "Results",
        "Seen at 5 mg/kg [12].",
        "Table 1 Doses\nCompound: K-11 | Dose: 5",
        "Rats.",
        "Cited",
    ]
