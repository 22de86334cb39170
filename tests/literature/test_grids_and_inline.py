"""Tables and running text on made-up markup: spans against a second implementation, marks that never stick."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from starling_assets.literature.blocks import Block, Paper, block_rows, same_words
from starling_assets.literature.grids import Cell, Grid, grid_of_rows, is_heading, linearised, read_grid
from starling_assets.literature.jats_inline import inline_text
from starling_assets.literature.jats_tables import table_markdown, table_text
from starling_assets.literature.text import clean

SPANS = st.lists(
    st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=4), min_size=1, max_size=5
)


def markup(spans: list[list[tuple[int, int]]]) -> tuple[str, list[list[str]]]:
    """A table body with these spans, and the grid that a plain reading of the rules gives."""
    rows, expected = [], [[""] * 40 for _ in spans]
    number = 0
    for y, row in enumerate(spans):
        cells, x = [], 0
        for across, down in row:
            name = f"c{number}"
            number += 1
            cells.append(f"<td colspan='{across}' rowspan='{down}'>{name}</td>")
            while expected[y][x]:
                x += 1
            for dy in range(min(down, len(spans) - y)):
                for dx in range(across):
                    expected[y + dy][x + dx] = expected[y + dy][x + dx] or name
            x += across
        rows.append(f"<tr>{''.join(cells)}</tr>")
    width = max(index + 1 for row in expected for index, name in enumerate(row) if name)
    return f"<table><thead><tr><th>h</th></tr></thead><tbody>{''.join(rows)}</tbody></table>", [
        row[:width] for row in expected
    ]


@given(SPANS)
@settings(max_examples=200)
def test_spans_are_expanded_as_the_rules_say(spans):
    document, expected = markup(spans)
    grid = read_grid(etree.fromstring(document), table_text)
    found = [[cell.text for cell in row] for row in grid.body]
    width = max(len(row) for row in found)
    assert found == [row + [""] * (width - len(row)) for row in expected]


@given(SPANS)
def test_each_cell_is_written_once_per_row_that_it_reaches(spans):
    document, _ = markup(spans)
    grid = read_grid(etree.fromstring(document), table_text)
    for row in grid.body:
        words = linearised(row, grid.column_names()).replace("h: ", "").split(" | ")
        names = [cell.text for cell in row if cell.text]
        assert set(words) - {""} == set(names)


@pytest.mark.parametrize(
    ("rows", "header", "expected"),
    [
        ([["A", "B"], ["1", "2"]], 1, ["A: 1 | B: 2"]),
        ([["A", ""], ["1", "2"]], 1, ["A: 1 | 2"]),
        ([["1", "2"]], 0, ["1 | 2"]),
        ([["A", "B"], ["", ""]], 1, []),
        ([["A", "B", "C"], ["Females", "", ""], ["1", "2", "3"]], 1, ["Females", "A: 1 | B: 2 | C: 3"]),
        ([["A", "A"], ["x", "y"], ["1", "2"]], 2, ["A / x: 1 | A / y: 2"]),
        ([["A", "B"], ["A", "B"], ["1", "2"]], 2, ["A: 1 | B: 2"]),
    ],
)
def test_lines(rows, header, expected):
    assert [line for line, _ in grid_of_rows(rows, header).lines()] == expected


def test_headings_of_rows():
    wide = Cell("Females")
    assert is_heading([wide, wide, wide])
    assert is_heading([wide, Cell(""), Cell("")])
    assert not is_heading([wide, Cell("1"), Cell("")])
    assert not is_heading([Cell(""), Cell("")])
    assert not is_heading([wide])


def test_the_first_row_becomes_the_header_only_when_numbers_follow():
    def read(rows: str) -> Grid:
        return read_grid(etree.fromstring(f"<table><tbody>{rows}</tbody></table>"), table_text)

    words = read("<tr><td>Compound</td><td>Dose</td></tr><tr><td>K-11</td><td>12</td></tr>")
    assert words.column_names() == ["Compound", "Dose"]
    prose = read("<tr><td>Compound</td><td>Effect</td></tr><tr><td>K-11</td><td>none</td></tr>")
    assert prose.header == []
    numbers = read("<tr><td>K-10</td><td>3</td></tr><tr><td>K-11</td><td>12</td></tr>")
    assert len(numbers.body) == 2


def test_markdown_escapes_its_own_marks():
    text = table_markdown(grid_of_rows([["a|b", "c"], ["1", "2|3"]], 1), "Table 1")
    assert text.split("\n") == ["Table 1", "", "| a\\|b | c |", "| --- | --- |", "| 1 | 2\\|3 |"]


INLINE = [
    ("a <italic>b</italic> c", "a b c"),
    ("x<break/>y", "x y"),
    ("see <xref ref-type='fig' rid='f1'>Figure 1</xref>", "see Figure 1"),
    ("K-11<xref ref-type='bibr' rid='b'>1</xref>,<xref ref-type='bibr' rid='b'>2</xref>", "K-11 [1], [2]"),
    ("dose (<xref ref-type='bibr' rid='b'>12</xref>)", "dose (12)"),
    ("mg/kg<xref ref-type='bibr' rid='b'>[12]</xref>", "mg/kg [12]"),
    ("as shown by Lee<xref ref-type='bibr' rid='b'>et al. 2001</xref>", "as shown by Lee [et al. 2001]"),
    ("12<sup>*</sup> and 13<sup>†</sup>", "12* and 13†"),
    ("e<sup>−1</sup>, 2<sup>5</sup>, 10<sup>12</sup>", "e−1, 2^5, 10^12"),
    ("p<sub>max</sub> H<sub>2</sub>O", "pmax H2O"),
    (
        "<inline-formula><alternatives><tex-math>x</tex-math><math><mi>y</mi></math></alternatives></inline-formula>",
        "y",
    ),
    ("a<?pi x?>b<!-- c -->d", "abd"),
    ("before <fig><caption><p>gone</p></caption></fig> after", "before after"),
    ("<styled-content style='x'>kept</styled-content>", "kept"),
]


@pytest.mark.parametrize(("source", "expected"), INLINE)
def test_inline(source, expected):
    element = etree.fromstring(f"<p>{source}</p>")
    assert clean(inline_text(element)) == expected


NAMES = st.sampled_from(["italic", "sup", "sub", "xref", "bold", "list", "p", "unknown", "math", "alternatives"])
TREE = st.recursive(
    st.text("ab1 .", max_size=5),
    lambda inner: st.builds(lambda name, kids: f"<{name}>{''.join(kids)}</{name}>", NAMES, st.lists(inner, max_size=4)),
    max_leaves=20,
)


@given(TREE)
def test_no_nesting_breaks_the_reader_or_loses_plain_words(source):
    element = etree.fromstring(f"<p>begin {source} end</p>")
    text = clean(inline_text(element, keep_blocks=True))
    assert text.startswith("begin")
    assert text.endswith("end")


def test_rows_of_blocks_are_numbered_and_keyed():
    paper = Paper("jats", "test/1", pmid="5", source_sha256="0" * 64)
    paper.blocks = [
        Block("title", "T", "title"),
        Block("heading", "H", "methods", ("H",)),
        Block("paragraph", "Same", "methods", ("H",)),
        Block("paragraph", "same", "methods", ("H",)),
        Block("reference", "R", "references"),
        Block("paragraph", "among the references", "references"),
    ]
    rows = block_rows(paper, 3, 100)
    assert [row["para_idx"] for row in rows] == [0, None, 1, 2, None, None]
    assert [row["para_ordinal"] for row in rows] == [100, None, 101, 102, None, None]
    assert [row["block_idx"] for row in rows] == list(range(6))
    assert len({row["block_key"] for row in rows}) == 6
    assert {row["extraction_id"] for row in rows} == {paper.extraction_id()}
    assert all(row["markdown"] == row["text"] for row in rows)


def test_the_extraction_id_changes_with_bytes_and_extractor_only():
    def paper(sha: str = "a", extractor: str = "x/1", title: str = "T") -> str:
        return Paper("jats", extractor, pmid="5", title=title, source_sha256=sha).extraction_id()

    assert paper() == paper(title="Another")
    assert len({paper(), paper(sha="b"), paper(extractor="x/2")}) == 3


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [("[A title.]", "a  title", True), ("A title", "Another title", False), ("LD₅₀", "LD50", True)],
)
def test_same_words(left, right, equal):
    assert same_words(left, right) is equal
