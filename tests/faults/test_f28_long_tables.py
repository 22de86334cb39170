"""F28: long tables, merged headers, tables at a window boundary: every row once, header kept, place recorded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.literature.grids import CHARACTERS_PER_BLOCK, ROWS_PER_BLOCK, grid_of_rows
from starling_assets.literature.jats_tables import table_blocks
from starling_assets.literature.sections import Place
from starling_assets.literature.windows import cut_windows, window_blocks
from tests.literature.papers_on_disk import article, read_all, texts, write

PLACE = Place(("Results",), "results")


def table(rows: int, *, header: str = "<tr><th>Compound</th><th>Dose</th></tr>", cell: str = "c") -> str:
    body = "".join(f"<tr><td>{cell}{n}</td><td>{n}</td></tr>" for n in range(rows))
    return (
        f"<table-wrap><label>Table 1</label><caption><p>Doses.</p></caption><table><thead>{header}</thead>"
        f"<tbody>{body}</tbody></table></table-wrap>"
    )


@pytest.mark.parametrize("rows", [1, 19, 20, 21, 40, 41, 137])
def test_every_row_is_in_exactly_one_block(tmp_path, rows):
    _, papers, _ = read_all([write(tmp_path, "a.nxml", article(table(rows)))])
    blocks = texts(papers, "table")
    lines = [line for block in blocks for line in block.split("\n")[1:]]
    assert lines == [f"Compound: c{n} | Dose: {n}" for n in range(rows)]
    assert all(block.split("\n")[0] == "Table 1 Doses." for block in blocks)
    assert all(len(block.split("\n")) <= ROWS_PER_BLOCK + 1 for block in blocks)


def test_wide_rows_make_shorter_blocks(tmp_path):
    _, papers, _ = read_all([write(tmp_path, "a.nxml", article(table(30, cell="long name of a compound " * 20)))])
    blocks = texts(papers, "table")
    assert len(blocks) > 2
    assert all(len(block) <= CHARACTERS_PER_BLOCK + 600 for block in blocks)


def test_one_row_longer_than_a_block_is_kept_whole(tmp_path):
    _, papers, _ = read_all([write(tmp_path, "a.nxml", article(table(1, cell="word " * 2_000)))])
    (block,) = texts(papers, "table")
    assert block.count("word") == 2_000


def test_a_table_cut_by_windows_keeps_caption_and_header_in_each(tmp_path):
    body = "<p>Before one.</p><p>Before two.</p>" + table(90) + "<p>After.</p>"
    _, papers, _ = read_all([write(tmp_path, "a.nxml", article(body))])
    seen: list[str] = []
    for window in cut_windows(papers.blocks, 3, 3).iter_rows(named=True):
        members = window_blocks(papers.blocks, window["paper_id"], window["first_para"], window["n"])
        for row in members.iter_rows(named=True):
            if row["kind"] == "table":
                caption, *lines = row["text"].split("\n")
                assert caption == "Table 1 Doses."
                assert all(line.startswith("Compound: c") for line in lines)
                seen += lines
    assert len(seen) == len(set(seen)) == 90


def test_a_heading_of_rows_is_repeated_where_its_rows_go_on():
    rows = [["Compound", "Dose"], *[[f"r{n}", str(n)] for n in range(15)]]
    grid = grid_of_rows([*rows, *[["Females", ""]] * 0], 1)
    female = grid_of_rows([["Females", "Females"]], 0).body[0]
    female[1] = female[0]
    grid.body.append(female)
    grid.body += grid_of_rows([[f"f{n}", str(n)] for n in range(30)], 0).body
    blocks = [block.text.split("\n") for block in table_blocks(grid, "Table 9", PLACE)]
    assert blocks[0][16] == "Females"
    assert blocks[1][:2] == ["Table 9", "Females"]
    assert blocks[2][:2] == ["Table 9", "Females"]
    assert sum(line.startswith("Compound: f") for block in blocks for line in block) == 30


def test_merged_header_over_three_levels(tmp_path):
    header = (
        "<tr><th rowspan='3'>Compound</th><th colspan='4'>Dose (mg/kg)</th></tr>"
        "<tr><th colspan='2'>oral</th><th colspan='2'>i.v.</th></tr><tr><th>rat</th><th>mouse</th><th>rat</th>"
        "<th>mouse</th></tr>"
    )
    body = "<tr><td>K-1</td><td>1</td><td>2</td><td>3</td><td>4</td></tr>"
    wrap = f"<table-wrap><table><thead>{header}</thead><tbody>{body}</tbody></table></table-wrap>"
    _, papers, _ = read_all([write(tmp_path, "a.nxml", article(wrap))])
    assert texts(papers, "table") == [
        (
            "Compound: K-1 | Dose (mg/kg) / oral / rat: 1 | Dose (mg/kg) / oral / mouse: 2 | "
            "Dose (mg/kg) / i.v. / rat: 3 | Dose (mg/kg) / i.v. / mouse: 4"
        )
    ]


def test_the_place_of_each_cell_is_recorded(tmp_path):
    _, papers, _ = read_all([write(tmp_path, "a.nxml", article(table(45)))])
    first, *others = papers.blocks.filter(papers.blocks["kind"] == "table")["markdown"].to_list()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in first.split("\n")[2:]]
    assert cells[0] == ["Compound", "Dose"]
    assert cells[2:] == [[f"c{n}", str(n)] for n in range(45)]
    assert all("| c0 |" not in markdown for markdown in others)  # the grid is stored once


def test_a_table_inside_a_paragraph_and_inside_a_cell(tmp_path):
    inner = table(2).replace("Table 1", "Table 2").replace("Doses.", "Inner.")
    nested = f"<table-wrap><table><tr><td>{inner}</td><td>beside</td></tr></table></table-wrap>"
    _, papers, _ = read_all([write(tmp_path, "a.nxml", article(f"<p>Before {table(1)} after.</p>{nested}"))])
    assert "Before after." in texts(papers, "paragraph")
    blocks = "\n".join(texts(papers, "table"))
    assert blocks.count("Compound: c1 | Dose: 1") == 1


def test_a_table_that_is_a_picture_keeps_its_caption(tmp_path):
    wrap = (
        "<table-wrap><label>Table 3</label><caption><title>As a picture.</title></caption>"
        "<graphic xlink:href='t3'/></table-wrap>"
    )
    _, papers, _ = read_all([write(tmp_path, "a.nxml", article(wrap))])
    assert texts(papers, "caption") == ["Table 3 As a picture."]


@given(
    st.lists(st.lists(st.text("ab1 ", max_size=4), min_size=1, max_size=5), min_size=1, max_size=60),
    st.integers(0, 2),
)
def test_no_cell_is_lost(rows, header_rows):
    grid = grid_of_rows(rows, header_rows)
    words = "\n".join(block.text for block in table_blocks(grid, "", PLACE)).split()
    for row in grid.body:
        for cell in row:
            for word in cell.text.split():
                assert any(word in found for found in words)
