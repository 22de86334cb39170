"""Runs of paragraphs: what a window may hold, where it ends, and that its key is its content's."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.artifacts.keys import joined_key
from starling_assets.literature.blocks import Block, Paper, block_rows
from starling_assets.literature.tables import BLOCKS, WINDOWS
from starling_assets.literature.windows import cut_windows, window_blocks


def blocks_of(*papers: list[tuple[str, str]]) -> pl.DataFrame:
    """BLOCKS of papers given as (kind, section kind) pairs."""
    rows = []
    paragraphs = 0
    for ordinal, shape in enumerate(papers):
        paper = Paper("jats", "test/1", pmid=str(100 + ordinal), source_sha256="0" * 64)
        paper.blocks = [Block(kind, f"text {ordinal} {n}", section) for n, (kind, section) in enumerate(shape)]
        own = block_rows(paper, ordinal, paragraphs)
        paragraphs += sum(row["para_idx"] is not None for row in own)
        rows += own
    return pl.DataFrame(rows, schema=BLOCKS)


def shape(front: int = 1, body: int = 7, supplement: int = 0, references: int = 0, title: bool = True):
    return (
        [("title", "title")] * title
        + [("paragraph", "abstract")] * front
        + [("heading", "methods")]
        + [("paragraph", "methods")] * (body // 2)
        + [("table", "results")] * (body - body // 2)
        + [("heading", "references")] * bool(references)
        + [("reference", "references")] * references
        + [("paragraph", "supplementary")] * supplement
    )


def spans(windows: pl.DataFrame) -> list[tuple[int, int]]:
    return list(windows.select("first_para", "n").iter_rows())


def test_title_travels_with_the_abstract_and_not_with_the_body():
    assert spans(cut_windows(blocks_of(shape(front=2, body=7)), 5, 3)) == [(0, 3), (3, 5), (6, 4)]


def test_a_title_without_abstract_stands_alone():
    assert spans(cut_windows(blocks_of(shape(front=0, body=2)), 5, 3)) == [(0, 1), (1, 2)]


def test_an_abstract_alone():
    assert spans(cut_windows(blocks_of([("title", "title"), ("paragraph", "abstract")]), 5, 3)) == [(0, 2)]


def test_references_are_in_no_window_and_supplements_in_their_own():
    windows = cut_windows(blocks_of(shape(front=1, body=4, references=3, supplement=2)), 5, 5)
    assert spans(windows) == [(0, 2), (2, 4), (6, 2)]
    assert windows["section_kind"].to_list() == ["abstract", "methods", "supplementary"]


def test_papers_do_not_mix():
    windows = cut_windows(blocks_of(shape(body=3), shape(body=3)), 5, 5)
    assert windows["paper_ordinal"].to_list() == [0, 0, 1, 1]
    assert windows["first_para_ordinal"].to_list() == [0, 2, 5, 7]
    assert windows["ordinal"].to_list() == [0, 1, 2, 3]


def test_the_key_is_that_of_the_members():
    blocks = blocks_of(shape(body=6))
    window = cut_windows(blocks, 3, 3).row(1, named=True)
    members = window_blocks(blocks, window["paper_id"], window["first_para"], window["n"])
    assert members["para_idx"].to_list() == [2, 3, 4]
    assert window["window_key"] == joined_key(members["block_key"])


def test_no_paragraph_no_window():
    empty = cut_windows(pl.DataFrame(schema=BLOCKS), 5, 3)
    assert empty.is_empty()
    assert dict(empty.schema) == WINDOWS


@pytest.mark.parametrize(("n", "stride"), [(0, 1), (3, 0), (3, 4), (1, -1)])
def test_a_stride_that_leaves_paragraphs_out_is_refused(n, stride):
    with pytest.raises(ValueError, match="stride"):
        cut_windows(blocks_of(shape()), n, stride)


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 17), st.integers(0, 4), st.integers(0, 3), st.booleans()),
        min_size=1,
        max_size=3,
    ),
    st.integers(1, 6),
    st.integers(1, 6),
)
def test_every_paragraph_is_covered_and_no_border_crossed(papers, n, stride):
    stride = min(stride, n)
    blocks = blocks_of(
        *(shape(front, body, supplement, references, title) for front, body, supplement, references, title in papers)
    )
    windows = cut_windows(blocks, n, stride)
    paragraphs = blocks.filter(pl.col("para_idx").is_not_null())
    covered = set()
    for window in windows.iter_rows(named=True):
        members = window_blocks(paragraphs, window["paper_id"], window["first_para"], window["n"])
        assert members.height == window["n"] <= n
        zones = {
            "front" if kind in {"title", "abstract"} else "supplementary" if kind == "supplementary" else "body"
            for kind in members["section_kind"]
        }
        assert len(zones) == 1
        assert members["para_ordinal"][0] == window["first_para_ordinal"]
        covered |= set(members["para_ordinal"])
    assert covered == set(paragraphs["para_ordinal"])
