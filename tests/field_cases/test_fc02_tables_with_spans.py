"""FC-02: tables with spans and note marks. One shifted column gives rat values to the mouse."""

from __future__ import annotations

import re

import pytest
from lxml import etree

from starling_assets.literature.grids import Grid, read_grid
from starling_assets.literature.jats_tables import table_text
from tests.literature.papers_on_disk import article, read_all, texts, write

TABLES = """<sec><title>Toxicity</title>
<table-wrap id="t1"><label>Table 1</label><caption><p>Oral toxicity.</p></caption><table>
<thead><tr><th rowspan="2">Compound</th><th colspan="2">Rat</th><th colspan="2">Mouse</th></tr>
<tr><th>LD50 (mg/kg)</th><th>n</th><th>LD50 (mg/kg)</th><th>n</th></tr></thead>
<tbody><tr><td rowspan="2">K-11</td><td>120</td><td>6</td><td>&gt;2000</td><td>8</td></tr>
<tr><td>135<xref ref-type="table-fn" rid="fn2"><sup>2</sup></xref></td><td>6</td><td>&#8212;</td><td/></tr>
<tr><td rowspan="3">K-12</td><td colspan="2">not tested</td><td>85<xref ref-type="table-fn" rid="fn2"><sup>2</sup>
</xref></td>
<td>10</td></tr></tbody>
</table><table-wrap-foot><fn id="fn2"><label>2</label><p>Females only.</p></fn></table-wrap-foot></table-wrap>
<table-wrap id="t2"><label>Table 2</label><table><tr><th rowspan="2">Dose</th><th rowspan="2">Deaths</th></tr>
</table></table-wrap>
</sec>"""


def grid(number: int, document: str = TABLES) -> Grid:
    return read_grid(etree.fromstring(document).findall(".//table")[number], table_text)


def test_five_columns_and_three_rows():
    first = grid(0)
    assert first.column_names() == ["Compound", "Rat / LD50 (mg/kg)", "Rat / n", "Mouse / LD50 (mg/kg)", "Mouse / n"]
    assert [[cell.text for cell in row] for row in first.body] == [
        ["K-11", "120", "6", ">2000", "8"],
        ["K-11", "135 [2]", "6", "—", ""],
        ["K-12", "not tested", "not tested", "85 [2]", "10"],
    ]


def test_a_spanned_cell_is_one_cell():
    row = grid(0).body[2]
    assert row[1] is row[2]
    assert grid(0).body[0][0] == grid(0).body[1][0]


def test_notes_point_to_their_footnote():
    body = grid(0).body
    assert body[1][1].notes == body[2][3].notes == ("fn2",)
    assert body[0][1].notes == ()


def test_four_values_can_be_extracted():
    first = grid(0)
    names = first.column_names()
    values = []
    for row in first.body:
        for name, cell in zip(names, row, strict=True):
            number = re.match(r"[<>]?\d+(?=$| \[)", cell.text)
            if "LD50" in name and cell.has_value and number:
                values.append((row[0].text, name.split(" / ")[0], number.group()))
    assert values == [
        ("K-11", "Rat", "120"),
        ("K-11", "Mouse", ">2000"),
        ("K-11", "Rat", "135"),
        ("K-12", "Mouse", "85"),
    ]


@pytest.mark.parametrize("text", ["—", "–", "-", "", "not tested", "ND", "n.d.", "N/A"])
def test_words_for_no_value_are_no_value(text):
    cell = grid(0, f"<r><table><tr><td>{text}</td></tr></table></r>").body[0][0]
    assert not cell.has_value


@pytest.mark.parametrize("text", ["0", "0.0", "<0.1", "not detected at 5"])
def test_zero_is_a_value(text):
    escaped = text.replace("<", "&lt;")
    cell = grid(0, f"<r><table><tr><td>{escaped}</td></tr></table></r>").body[0][0]
    assert cell.has_value


def test_what_a_window_shows(tmp_path):
    _, papers, _ = read_all([write(tmp_path, "a.nxml", article(TABLES))])
    table, second = texts(papers, "table")
    assert table.split("\n") == [
        "Table 1 Oral toxicity.",
        "Compound: K-11 | Rat / LD50 (mg/kg): 120 | Rat / n: 6 | Mouse / LD50 (mg/kg): >2000 | Mouse / n: 8",
        "Compound: K-11 | Rat / LD50 (mg/kg): 135 [2] | Rat / n: 6 | Mouse / LD50 (mg/kg): —",
        "Compound: K-12 | Rat / LD50 (mg/kg), Rat / n: not tested | Mouse / LD50 (mg/kg): 85 [2] | Mouse / n: 10",
    ]
    for wrong in ("1352", "852", "135²", "85²", "135^2"):
        assert wrong not in table
    assert texts(papers, "footnote") == ["[2] Females only."]
    assert second == "Table 2\nDose | Deaths"


def test_the_empty_table_is_counted_and_has_no_row():
    second = grid(1)
    assert second.column_names() == ["Dose", "Deaths"]
    assert second.body == []


@pytest.mark.parametrize("tag", ["tbody", "tfoot", ""])
def test_a_span_ends_with_its_row_group(tag):
    rows = "<tr><td rowspan='9'>a</td><td>1</td></tr><tr><td>2</td></tr>"
    group = f"<{tag}>{rows}</{tag}>" if tag else rows
    first = grid(0, f"<r><table><thead><tr><th rowspan='4'>x</th><th>y</th></tr></thead>{group}</table></r>")
    assert [[cell.text for cell in row] for row in first.body] == [["a", "1"], ["a", "2"]]
    assert len(first.header) == 1


def test_column_names_of_oasis_tables():
    document = """<r><table><tgroup cols="3"><colspec colname="a"/><colspec colname="b"/><colspec colname="c"/>
    <thead><row><entry morerows="1" colname="a">Compound</entry><entry namest="b" nameend="c">Rat</entry></row>
    <row><entry colname="b">LD50</entry><entry colname="c">n</entry></row></thead>
    <tbody><row><entry>K-11</entry><entry colname="c">6</entry></row></tbody></tgroup></table></r>"""
    first = read_grid(etree.fromstring(document).find(".//tgroup"), table_text)
    assert first.column_names() == ["Compound", "Rat / LD50", "Rat / n"]
    assert [cell.text for cell in first.body[0]] == ["K-11", "", "6"]


@pytest.mark.parametrize(
    "attributes",
    ["rowspan='0'", "rowspan='99999999'", "colspan='99999999'", "colspan='-1'", "rowspan='x'", "colspan=''"],
)
def test_absurd_spans_are_bounded(attributes):
    first = grid(0, f"<r><table><tr><td {attributes}>a</td><td>b</td></tr><tr><td>c</td></tr></table></r>")
    assert len(first.body) + len(first.header) == 2
    assert first.width <= 1_002
