"""PDF layout: against publishers' XML, and its rules one by one on lines made for the purpose."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from benchmarks.corpus import table_cells
from starling_assets.literature.bmc import read_bmc
from starling_assets.literature.jats import read_jats
from starling_assets.literature.papers import read_papers
from starling_assets.literature.pdf_layout import lay_out
from starling_assets.literature.pdf_lines import Line, Page, read_pages
from starling_assets.literature.pdf_words import mended
from starling_assets.literature.sources import SourceFile
from starling_assets.literature.tables import CITATIONS
from starling_assets.literature.text import fold
from starling_assets.literature.xml import open_source, parse_xml
from tests.literature.papers_on_disk import LIMITS

BODY = 10.0


def line(
    text: str, y: float, x: float = 50.0, *, size: float = BODY, right: float = 300.0, font: str = "Body", page: int = 1
):
    bold = "Bold" in font
    return Line(page, text, x, y - size, right, y + 2, size, bold, font, y)


def paragraph(words: str, y: float, rows: int = 4, x: float = 50.0, right: float = 300.0, page: int = 1) -> list[Line]:
    rest = [
        line(f"{words} goes on in this line and the next", y + 12 * n, x, right=right, page=page)
        for n in range(1, rows - 1)
    ]
    last = line("and ends here.", y + 12 * (rows - 1), x, right=x + 60, page=page)
    return [line(f"{words} begins with these words in a line", y, x, right=right, page=page), *rest, last]


def page(*lines: Line, number: int = 1) -> Page:
    return Page(number, 600.0, 800.0, list(lines), 0)


def laid(*pages: Page) -> list[tuple[str, str]]:
    return [(chunk.kind, chunk.text) for chunk in lay_out(pages)]


def test_a_gap_and_an_indent_part_paragraphs():
    first, second = paragraph("Alpha", 200), paragraph("Beta", 270)
    indented = paragraph("Gamma", 318)
    indented[0] = line("Gamma begins with these words in a line", 318, 62)
    found = laid(page(*first, *second, *indented))
    assert [text.split()[0] for _, text in found] == ["Alpha", "Beta", "Gamma"]


def test_a_heading_in_another_face_stands_alone():
    found = laid(page(line("Results of the trial", 200, font="Head-Bold", right=150), *paragraph("Alpha", 214)))
    assert [kind for kind, _ in found] == ["heading", "paragraph"]


def test_a_bold_beginning_of_a_sentence_is_no_heading():
    lines = [line("Bold words begin the sentence that", 200, font="Head-Bold"), *paragraph("goes on and", 212)[1:]]
    assert laid(page(*lines, *paragraph("Beta", 400)))[0][0] == "paragraph"


def test_an_item_in_another_face_is_no_heading_of_its_own_second_half():
    first = line("1. The Initiative on Methods and on", 200, font="Lists", right=290)
    rest = [
        line("Pain has made a set of outcomes", 212, font="Lists"),
        line("for all trials of this kind that were", 224, font="Lists"),
        line("made so far.", 236, font="Lists", right=120),
    ]
    found = laid(page(first, *rest, *paragraph("Beta", 400)))
    assert found[0][0] == "list_item"
    assert found[0][1].startswith("1. The Initiative on Methods and on Pain has made")
    assert found[0][1].endswith("that were made so far.")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Table 9 Doses of the compounds.", "caption"),
        ("Table 9. Doses of the compounds.", "caption"),
        ("Figure 2 (continued) The liver.", "caption"),
        ("Table 3 continued from the last page.", "caption"),
        ("Fig. 2 a The liver, b the brain.", "caption"),
        ("Table 9). Other parts of the brain.", "paragraph"),
        ("Figure 2, which is drawn after life.", "paragraph"),
        ("Figure 2 shows the brain of a rat.", "paragraph"),
    ],
)
def test_a_sentence_that_names_a_table_is_no_caption(text, kind):
    assert (kind, text) in laid(page(line(text, 100), *paragraph("Alpha", 200)))


def test_a_bracket_at_the_end_of_a_column_may_stand_inside_a_sentence():
    left = paragraph("Alpha", 600)
    left[-1] = line("of lions from Africa (node b in Figure 2)", 636)
    found = laid(page(*left, line("took place long ago.", 100, 320, right=420)))
    assert len(found) == 1
    assert found[0][1].endswith("(node b in Figure 2) took place long ago.")


def indented(words: str, y: float, x: float = 50.0, rows: int = 4, last: float = 110.0) -> list[Line]:
    lines = paragraph(words, y, rows, x, x + 250)
    lines[0] = line(f"{words} begins with these words in", y, x + 10, right=x + 250)
    lines[-1] = line("and ends here.", y + 12 * (rows - 1), x, right=last)
    return lines


def test_a_column_that_begins_without_an_indent_goes_on():
    left = [one for n, words in enumerate(("Alpha", "Beta", "Gamma", "Delta")) for one in indented(words, 100 + 48 * n)]
    last = indented("Epsilon", 292, last=300.0)  # its last line is full
    right = paragraph("Zeta", 100, x=320, right=570)
    texts = [text for _, text in laid(page(*left, *last, *right, *indented("Eta", 148, x=320)))]
    assert len(texts) == 6
    assert texts[4].startswith("Epsilon")
    assert "Zeta begins" in texts[4]
    own = [text for _, text in laid(page(*left, *last, *indented("Zeta", 100, x=320), *indented("Eta", 148, x=320)))]
    assert len(own) == 7


def test_the_largest_text_of_the_first_page_is_the_title():
    lines = [
        line("Research Article", 90, size=20.0, font="Head", right=160),
        line("Entry of K-11 into the", 115, size=20.0, font="Head"),
        line("brain of Rattus norvegicus", 138, size=20.0, font="Head-Italic"),
        *paragraph("Alpha", 200),
    ]
    assert laid(page(*lines))[0] == ("title", "Entry of K-11 into the brain of Rattus norvegicus")


def test_running_heads_and_page_numbers_go():
    pages = []
    for number in (1, 2, 3):
        head, foot = line("J Ex 2001, 1:1", 30, page=number), line(str(number), 780, page=number, right=60)
        pages.append(page(head, *paragraph(f"Alpha{number}", 300, page=number), foot, number=number))
    text = " ".join(text for _, text in laid(*pages))
    assert "J Ex" not in text
    assert not re.search(r"\b[123]\b", text)


def test_a_paragraph_goes_on_in_the_next_column_and_on_the_next_page():
    left = paragraph("Alpha", 600)[:-1]
    right = [line("that goes on over here and", 100, 320, right=560), line("ends.", 112, 320, right=350)]
    found = laid(page(*left, *right, *paragraph("Beta", 200, x=320, right=560), *paragraph("Gamma", 300)))
    assert found[0][1].endswith("that goes on over here and ends.")
    figure = line("Figure 1 A map of the brain.", 100, size=8.0, page=2)
    rest = line("which the next page ends.", 300, page=2, right=180)
    cut = laid(page(*paragraph("Alpha", 600)[:-1]), page(figure, rest, number=2))
    assert cut[0][1].endswith("which the next page ends.")
    assert cut[1] == ("caption", "Figure 1 A map of the brain.")


def test_small_print_is_a_footnote():
    found = laid(page(*paragraph("Alpha", 200), line("* Correspondence: a@b.org", 700, size=7.0)))
    assert found[-1][0] == "footnote"


def test_references_are_told_apart():
    lines = [
        *paragraph("Alpha", 100),
        line("References", 200, font="Head-Bold", right=120),
        line("1. Lee C: On K-11. J Ex 2001.", 214),
        line("2. Doe J: Another. J Ex 1999.", 226),
    ]
    kinds = [kind for kind, _ in laid(page(*lines))]
    assert kinds == ["paragraph", "heading", "reference", "reference"]


def test_a_table_is_found_from_the_gaps_that_all_rows_leave():
    def row(y: float, *cells: str) -> Line:
        places = [(50.0 + 80 * n, 50.0 + 80 * n + 5 * len(cell), cell) for n, cell in enumerate(cells) if cell]
        return Line(
            1, "  ".join(cells), places[0][0], y - 8, places[-1][1], y + 2, 8.0, False, "Body", y, tuple(places)
        )

    lines = [
        line("Table 1 Doses of the compounds", 100, font="Head-Bold"),
        row(114, "Compound", "Rat", "Mouse"),
        row(126, "K-11", "120", ">2000"),
        row(138, "K-12", "", "85"),
        *paragraph("Alpha", 200),
    ]
    chunks = lay_out([page(*lines)])
    (table,) = [chunk.table for chunk in chunks if chunk.table]
    assert table.rows == [["Compound", "Rat", "Mouse"], ["K-11", "120", ">2000"], ["K-12", "", "85"]]
    assert table.header_rows == 1
    assert [chunk.kind for chunk in chunks] == ["caption", "table", "paragraph"]


def row(y: float, *cells: tuple[float, str], size: float = 8.0) -> Line:
    """A line of a table: its cells by their left edge."""
    runs = tuple((x, x + 5.0 * len(text), text) for x, text in cells)
    text = "  ".join(text for _, text in cells)
    return Line(1, text, runs[0][0], y - size, runs[-1][1], y + 2, size, False, "Body", y, runs)


def table_of(*lines: Line) -> list[list[str]]:
    caption = line("Table 1 Doses of the compounds", 100, font="Head-Bold")
    (table,) = [chunk.table for chunk in lay_out([page(caption, *lines, *paragraph("Alpha", 400))]) if chunk.table]
    return table.rows


def test_a_label_is_given_to_all_rows_it_stands_for():
    rows = table_of(
        row(120, (50, "Compound"), (120, "Sex"), (170, "Dose"), (220, "n")),
        row(134, (50, "K-11"), (120, "male"), (170, "10"), (220, "4")),
        row(148, (120, "female"), (170, "12"), (220, "5")),
        row(162, (50, "K-12"), (120, "male"), (170, "20"), (220, "6")),
        row(176, (120, "female"), (170, "22"), (220, "7")),
    )
    assert [line[0] for line in rows] == ["Compound", "K-11", "K-11", "K-12", "K-12"]


def test_a_label_in_the_middle_of_its_rows():
    rows = table_of(
        row(120, (50, "Compound"), (120, "Sex"), (170, "Dose"), (220, "n")),
        row(134, (120, "male"), (170, "10"), (220, "4")),
        row(141, (50, "K-11")),
        row(148, (120, "female"), (170, "12"), (220, "5")),
        row(162, (120, "male"), (170, "20"), (220, "6")),
        row(169, (50, "K-12")),
        row(176, (120, "female"), (170, "22"), (220, "7")),
    )
    assert rows[1:] == [
        ["K-11", "male", "10", "4"],
        ["K-11", "female", "12", "5"],
        ["K-12", "male", "20", "6"],
        ["K-12", "female", "22", "7"],
    ]


def test_a_heading_of_rows_is_no_label():
    rows = table_of(
        row(120, (50, "Compound"), (120, "Rat"), (170, "Mouse")),
        row(134, (50, "Alkaloids")),
        row(148, (50, "K-11"), (120, "10"), (170, "4")),
        row(162, (50, "K-12"), (120, "12"), (170, "5")),
    )
    assert rows[1:] == [["Alkaloids", "", ""], ["K-11", "10", "4"], ["K-12", "12", "5"]]


def test_rows_of_numbers_are_never_put_together():
    rows = table_of(
        row(120, (50, "Trial"), (120, "Checks"), (170, "Bites")),
        row(140, (50, "Familiar"), (120, "62.7"), (170, "18.7")),
        row(150, (50, "Stranger"), (120, "80.9"), (170, "29.5")),
    )
    assert rows[1:] == [["Familiar", "62.7", "18.7"], ["Stranger", "80.9", "29.5"]]


def test_a_caption_beside_its_table():
    beside = [
        line(words, 112 + 10 * n, size=8.0, right=140) for n, words in enumerate(("of the rats in", "both groups."))
    ]
    caption = line("Table 1 Doses", 100, size=8.0, font="Head-Bold", right=140)
    rows = [row(95 + 14 * n, (200, f"K-{n}"), (260, f"{n}.5"), (320, f"{n * 7}")) for n in range(1, 5)]
    chunks = lay_out([page(caption, *beside, *rows, *paragraph("Alpha", 400))])
    assert chunks[0].kind == "caption"
    assert chunks[0].text == "Table 1 Doses of the rats in both groups."
    (table,) = [chunk.table for chunk in chunks if chunk.table]
    assert table.rows[0] == ["K-1", "1.5", "7"]


def test_figures_of_neighbouring_cells_are_parted(shared_data):
    # pdfium writes the last two figures of this row as one word: "6 6 0 24".
    pages = read_pages(shared_data / "literature" / "pdf_twins" / "PMC4417228.pdf", 11)
    runs = [[run[2] for run in one.runs] for found in pages if found.number == 11 for one in found.lines]
    assert ["6", "6", "0", "2", "4"] in [texts[:5] for texts in runs]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 ˆ 105 cells", "1 × 105 cells"),
        ("37 ˝C", "37 °C"),
        ("10´6 M", "10−6 M"),
        ("Potáˇcek", "Potáček"),
        ("5 ˘ 0.2 mg", "5 ± 0.2 mg"),
        ("plain text", "plain text"),
        ("a´b is a word", "ab́ is a word"),
    ],
)
def test_signs_hidden_behind_accents(text, expected):
    assert mended(text) == expected


def test_spans_point_into_the_text_and_to_the_page(examples):
    file = SourceFile.of(examples / "papers" / "drug-monitoring-program.pdf")
    papers = read_papers([file], pl.DataFrame(schema=CITATIONS), LIMITS)
    spanned = 0
    for row in papers.blocks.iter_rows(named=True):
        for span in row["spans"]:
            assert 0 <= span["start"] < span["end"] <= len(row["text"])
            assert 1 <= span["page"] <= 7
            assert len(span["bbox"]) == 4
            assert span["bbox"][0] < span["bbox"][2]
            spanned += 1
    assert spanned > 300
    row = papers.papers.row(0, named=True)
    assert row["licence"] == "CC-BY"
    tables = papers.blocks.filter(pl.col("kind") == "table")["text"].to_list()
    assert (
        "Disease entity: Congestive heart failure | Drug classes included: Angiotensin-converting enzyme" in tables[0]
    )


LOOSE = re.compile(r"\[[\d,\s–-]+\]|[\W_]")


def loose(text: str) -> str:
    return LOOSE.sub("", fold(text))


@pytest.mark.slow
def test_the_twins_are_read_better_than_by_the_libraries_tried(shared_data):
    # pdfminer.six finds about two thirds of these paragraphs whole in the same measure (benchmarks/corpus.py).
    folder: Path = shared_data / "literature" / "pdf_twins"
    whole = total = titles = 0
    for path in sorted(folder.glob("*.pdf")):
        root = parse_xml(open_source(path.with_suffix(".xml.gz"), LIMITS), LIMITS)
        (paper,) = (read_bmc if root.tag == "art" else read_jats)(root)
        chunks = lay_out(list(read_pages(path, 400)))
        found = [loose(chunk.text) for chunk in chunks]
        titles += any(chunk.kind == "title" and loose(chunk.text) == loose(paper.title) for chunk in chunks)
        for block in paper.blocks:
            words = loose(block.text)
            if block.kind in {"paragraph", "list_item"} and len(words) > 40 and block.section_kind != "supplementary":
                total += 1
                whole += any(words in text and len(text) < 1.15 * len(words) + 20 for text in found)
    assert titles == 6
    assert total > 290
    assert whole / total > 0.94


@pytest.mark.slow
def test_the_tables_of_the_twins(shared_data):
    found, wanted = table_cells(shared_data)
    assert wanted > 1_000
    assert found / wanted > 0.91
