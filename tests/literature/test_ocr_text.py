"""OCR, the parts that touch no picture: replies, tables, formulas, line order, documents of pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.literature.ocr.crosscheck import disagreement, words_of
from starling_assets.literature.ocr.document import chunks_of, together
from starling_assets.literature.ocr.dots_blocks import blocks_of_elements, plain_text
from starling_assets.literature.ocr.dots_reply import Element, read_layout
from starling_assets.literature.ocr.hocr import upright
from starling_assets.literature.ocr.html_tables import rows_of_html
from starling_assets.literature.ocr.line_blocks import blocks_of_lines
from starling_assets.literature.ocr.line_order import Piece, ordered_lines
from starling_assets.literature.ocr.markdown import page_markdown
from starling_assets.literature.ocr.pages import OcrBlock, OcrPage, as_payload, from_payload
from starling_assets.literature.ocr.pictures import Picture, size_at
from starling_assets.literature.ocr.repetition import repetition
from starling_assets.literature.ocr.tex_text import plain
from tests.literature.ocr_pages import element, layout, page_of

SIZE = (595.0, 842.0)


def block(text: str, top: float = 300.0, kind: str = "paragraph") -> OcrBlock:
    return OcrBlock(kind, text, (50.0, top, 500.0, top + 20))


def pages(*blocks: list[OcrBlock]) -> list[OcrPage]:
    return [OcrPage(number, "ok", "", tuple(items)) for number, items in enumerate(blocks, start=1)]


def joined(*blocks: list[OcrBlock]) -> list[str]:
    return [chunk["text"] for chunk in together([], chunks_of(pages(*blocks), [SIZE] * len(blocks)))]


# Replies


def test_a_layout_names_what_it_lost():
    reply = json.dumps([element("a"), element("b", category="Poem"), element(""), element(None, category="Picture")])
    found = read_layout(reply, 600, 800)
    assert [item.text for item in found.elements] == ["a", ""]
    assert len(found.lost) == 2
    assert not found.is_whole
    assert "2 of 4 elements unusable" in found.trouble()


def test_the_same_element_twice_in_a_row_is_one():
    assert len(read_layout(layout("a")[:-1] + "," + layout("a")[1:], 600, 800).elements) == 1


@given(st.text(max_size=200))
def test_any_reply_is_read_or_refused(text):
    found = read_layout(text, 600, 800)
    assert found.elements == () or not found.damage or found.trouble()


@given(st.integers(0, 400))
def test_a_cut_reply_gives_a_prefix_of_its_elements(cut):
    words = [f'Paragraph {n} says "this" and {{that}}.' for n in range(4)]
    whole = layout(*words)
    found = [item.text for item in read_layout(whole[:cut], 600, 800).elements]
    assert found == words[: len(found)]


@pytest.mark.parametrize(
    ("text", "loops"),
    [
        ("the liver " * 1_000, True),
        ('{"text": "a"}' * 400, True),
        ("<tr><td>1.0</td><td>2.0</td></tr>" * 400, True),
        ("the liver " * 100, False),
        ("", False),
        (json.dumps([element(f"Row {n} of {n * n}") for n in range(300)]), False),
        ("<table>" + "".join(f"<tr><td>K-{n}</td><td>{n * 37 % 101}.{n}</td></tr>" for n in range(400)), False),
    ],
)
def test_loops_are_told_from_tables(text, loops):
    assert bool(repetition(text)) is loops


# Elements to blocks


def blocks_of(*elements: dict[str, object], page: int = 1) -> list[OcrBlock]:
    items = [Element.model_validate(item) for item in elements]
    return list(blocks_of_elements(items, Picture(b"", 600, 800, 0.1), page_of(Path("x"), page)))


def test_kinds_of_blocks():
    found = blocks_of(
        element("Journal", category="Page-header"),
        element("# A title", category="Title"),
        element("## Methods", category="Section-header"),
        element("Rats were **given** 5 $\\mu$M.", category="Text"),
        element("- first point", category="List-item"),
        element("$$E = mc^2$$", category="Formula"),
        element("Figure 1. A rat.", category="Caption"),
        element(None, category="Picture"),
        element("* not significant", category="Footnote"),
        element("17", category="Page-footer"),
    )
    assert [(item.kind, item.text) for item in found] == [
        ("title", "A title"),
        ("heading", "Methods"),
        ("paragraph", "Rats were given 5 μM."),
        ("list_item", "first point"),
        ("formula", "E = mc^2"),
        ("caption", "Figure 1. A rat."),
        ("footnote", "* not significant"),
    ]


def test_only_the_first_page_has_a_title_and_one():
    twice = (element("One", category="Title"), element("Two", category="Title"))
    assert [item.kind for item in blocks_of(*twice)] == ["title", "heading"]
    assert [item.kind for item in blocks_of(*twice, page=2)] == ["heading", "heading"]


def test_boxes_are_kept_inside_the_page():
    (found,) = blocks_of(element("a", bbox=(-5, 790, 620, 810)))
    assert found.bbox == (0.0, 197.5, 300.0, 200.0)


def test_tables_become_rows():
    html = (
        "<table><thead><tr><th rowspan=2>Compound<th colspan='2'>LD<sub>50</sub>, mg/kg</tr><tr><th>Rat<th>Mouse</tr>"
        "</thead><tbody><tr><td colspan=3>Alkaloids</td></tr><tr><td>K-11<td>1.2 x 10<sup>2</sup><td>&gt; 2000"
        "<tr><td>K-12<td><td>85</table>"
    )
    (table,) = blocks_of(element(html, category="Table"))
    assert table.header_rows == 2
    assert table.rows == (
        ("Compound", "LD50, mg/kg", "LD50, mg/kg"),
        ("Compound", "Rat", "Mouse"),
        ("Alkaloids", "", ""),
        ("K-11", "1.2 x 10^2", "> 2000"),
        ("K-12", "", "85"),
    )
    assert "| K-11 | 1.2 x 10^2 | > 2000 |" in page_markdown(OcrPage(1, "ok", "", (table,)))


def test_a_table_without_rows_is_a_paragraph():
    (found,) = blocks_of(element("Dose 5 mg", category="Table"))
    assert (found.kind, found.text, found.rows) == ("paragraph", "Dose 5 mg", ())


@given(st.text(alphabet="<>/tdrhae =\"'&;1\x00", max_size=80))
def test_any_html_gives_rows_of_one_width(html):
    rows, header = rows_of_html(html)
    assert len({len(row) for row in rows}) <= 1
    assert header <= len(rows)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("IC$_{50}$ of 5 $\\mu$M", "IC50 of 5 μM"),
        ("$10^{-3}$", "10^-3"),
        ("1.2 × 10$^{5}$ cells", "1.2 × 10^5 cells"),
        ("at 37$^{\\circ}$C", "at 37°C"),
        ("{$x$}", "{x}"),
        ("$p \\leq 0.05$", "p ≤0.05"),
        ("\\(\\alpha\\)-pinene", "α-pinene"),
        ("5 $\\pm$ 2\\%", "5 ± 2%"),
        ("$\\mathrm{Ca}^{2+}$", "Ca2+"),
        ("costs $5 and $6", "costs $5 and $6"),
        ("$\\frac{1}{2}$", "$\\frac{1}{2}$"),
        ("plain", "plain"),
    ],
)
def test_formulas_in_a_line(written, expected):
    assert plain(written) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**Bold** and *slanted* words", "Bold and slanted words"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("p<0.05 and LD<sub>50</sub>", "p<0.05 and LD50"),
        ("### Results", "Results"),
        ("10<sup>-3</sup> M Ca<sup>2+</sup>", "10^-3 M Ca2+"),
    ],
)
def test_markdown_goes(text, expected):
    assert plain_text(text, "paragraph") == expected


# Cross-check


def test_a_word_doubled_by_the_text_layer_counts_once():
    assert words_of("The the effect effect was was seen") == ["the", "effect", "was", "seen"]


def test_a_reading_that_leaves_most_out_is_noticed():
    layer = " ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(200))
    assert "text layer has 200" in disagreement("wordaa wordba", layer, 1e9)
    assert "were not read" in disagreement(" ".join(layer.split()[:40]), layer, 1e9)
    assert disagreement(layer, layer, 1e9) == ""


# Pages to a document


def test_a_paragraph_goes_on_on_the_next_page():
    first = block("The compound entered the brain of the rats within two hours after the dose was")
    foot = block("* Correspondence: a@b.org", 700, "footnote")
    second = block("given and left it again.")
    assert joined([first, foot], [second, block("Another one.")]) == [
        f"{first.text} {second.text}",
        foot.text,
        "Another one.",
    ]


def test_a_divided_word_is_made_whole_across_pages():
    assert joined([block("They were seen in the kid-")], [block("neys of rats.")]) == [
        "They were seen in the kidneys of rats."
    ]


def test_pages_that_do_not_follow_each_other_are_not_joined():
    read = [
        OcrPage(1, "ok", "", (block("It was given to the rats and then,"),)),
        OcrPage(3, "ok", "", (block("later."),)),
    ]
    assert len(together([], chunks_of(read, [SIZE] * 3))) == 2


def test_a_read_page_goes_on_in_a_sound_one():
    chunk = {"kind": "paragraph", "text": "in the liver.", "lines": [(2, [50, 90, 300, 100], "in the liver.")]}
    read = chunks_of(pages([block("The compound was found at the end of the study")]), [SIZE, SIZE])
    (whole,) = together([chunk], read)
    assert whole["text"] == "The compound was found at the end of the study in the liver."
    assert [line[0] for line in whole["lines"]] == [1, 2]


def test_running_heads_and_page_numbers_go():
    found = joined(
        *([block("J Ex 2001, 1:1", 20), block(f"Text of page {n}.", 300), block(str(n), 820)] for n in range(1, 4))
    )
    assert found == ["Text of page 1.", "Text of page 2.", "Text of page 3."]


def test_references_go_on_over_pages():
    read = pages([block("References", kind="heading"), block("1. Lee C. J Ex 2001.")], [block("2. Doe J. J Ex 1999.")])
    assert [chunk["kind"] for chunk in chunks_of(read, [SIZE] * 2)] == ["heading", "reference", "reference"]


def test_a_reading_survives_the_journal():
    table = OcrBlock("table", "a b", (1.0, 2.0, 3.0, 4.0), (("a", "b"),), 1)
    page = OcrPage(3, "partial", "cut", (table, OcrBlock("paragraph", "c")), ("raw",))
    assert from_payload(json.loads(json.dumps(as_payload(page)))) == page


# Lines of engines that know no blocks


def piece(text: str, x: float, y: float, width: float = 200.0) -> Piece:
    return Piece(x, y, x + width, y + 12, text)


def test_two_columns_are_read_one_after_the_other():
    rows = [(f"left line number {n} of the column", f"right line number {n} of the column") for n in range(8)]
    found = [piece("A title that runs across both columns", 50, 40, 480)]
    for n, (left, right) in enumerate(rows):
        found += [piece(right, 310, 100 + 14 * n), piece(left, 50, 100 + 14 * n)]
    texts = [line.text for line in ordered_lines(found, 1, 595.0)]
    assert texts == ["A title that runs across both columns", *(row[0] for row in rows), *(row[1] for row in rows)]


def test_cells_at_one_height_are_runs_of_one_line():
    (line,) = ordered_lines([piece("120", 300, 101, 20), piece("K-11", 50, 100, 30)], 1, 595.0)
    assert line.text == "K-11 120"
    assert [run[2] for run in line.runs] == ["K-11", "120"]


def test_sizes_that_vary_with_the_letters_do_not_part_a_paragraph():
    lines = []
    for n, height in enumerate((10.0, 11.4, 9.2, 10.6)):
        words = "was seen in the brain of the rats and" if n < 3 else "of the mice."
        lines += ordered_lines([Piece(50, 100 + 14 * n, 300 if n < 3 else 120, 100 + 14 * n + height, words)], 1, 595.0)
    assert len(blocks_of_lines(lines, 2, 595.0, 842.0)) == 1


def test_the_largest_words_of_the_first_page_are_its_title():
    found = [Piece(50, 30, 160, 60, "molecules"), Piece(50, 80, 480, 100, "Entry of K-11 into the brain of rats")]
    found += [piece(f"was seen in line {n} of the text of this page and", 50, 140 + 14 * n, 450) for n in range(20)]
    lines = ordered_lines(found, 1, 595.0)
    first = blocks_of_lines(lines, 1, 595.0, 842.0)
    assert (first[0].kind, first[0].text) == ("title", "Entry of K-11 into the brain of rats")
    assert "title" not in {block.kind for block in blocks_of_lines(lines, 2, 595.0, 842.0)}


def test_what_is_read_into_a_drawing_is_no_heading():
    found = [Piece(50, 30, 90, 60, "oo E 160"), Piece(50, 500, 150, 530, "Methods")]
    found += [piece(f"was seen in line {n} of the text of this page and", 50, 140 + 14 * n, 450) for n in range(20)]
    kinds = [(block.kind, block.text) for block in blocks_of_lines(ordered_lines(found, 2, 595.0), 2, 595.0, 842.0)]
    assert ("heading", "Methods") in kinds
    assert ("paragraph", "oo E 160") in kinds


@pytest.mark.parametrize("angle", [0, 90, 180, 270])
def test_turning_there_and_back(angle):
    width, height = 600.0, 800.0
    box = (10.0, 20.0, 110.0, 40.0)
    turned = upright(angle, width, height)(box)
    sides = (height, width) if angle in {90, 270} else (width, height)
    assert upright((360 - angle) % 360, *sides)(turned) == pytest.approx(box)
    assert 0 <= turned[0] < turned[2] <= sides[0]
    assert 0 <= turned[1] < turned[3] <= sides[1]


def test_a_huge_page_is_drawn_within_the_bound():
    page = page_of(Path("x"))
    width, height = size_at(page, 300_000, 1_000_000)
    assert width * height <= 1_000_000
    assert width / height == pytest.approx(1.5, rel=0.01)
