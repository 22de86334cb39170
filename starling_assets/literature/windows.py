"""Runs of consecutive paragraphs: embedding chunks, tagging windows, extraction windows.

A window never crosses from the front (title and abstract) to the body, from the body to supplementary text, or into the
references, which have no paragraph number at all. The title travels with the abstract: it stands alone only in a paper
without one. A run shorter than ``n``, and the tail of a run, is a window of its own length.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

import polars as pl

from starling_assets.artifacts.keys import joined_key

from .tables import WINDOWS

_FRONT = frozenset({"title", "abstract"})
_COLUMNS = ["paper_ordinal", "paper_id", "extraction_id", "para_idx", "para_ordinal", "section_kind", "block_key"]


def cut_windows(blocks: pl.DataFrame, n: int, stride: int) -> pl.DataFrame:
    """WINDOWS over ``blocks`` (BLOCKS of one shard): ``n`` paragraphs each, starting every ``stride`` paragraphs.

    Every paragraph is in at least one window as long as ``stride <= n``; raises ValueError otherwise.
    """
    if not 1 <= stride <= n:
        raise ValueError(f"stride must lie between 1 and n: {stride} and {n} would leave paragraphs out")
    paragraphs = blocks.select(_COLUMNS).filter(pl.col("para_idx").is_not_null()).sort("paper_ordinal", "para_idx")
    rows: list[dict[str, Any]] = []
    for _, members in groupby(paragraphs.iter_rows(named=True), key=_run_of):
        run = list(members)
        start = 0
        while True:
            window = run[start : start + n]
            first = window[0]
            kinds = [member["section_kind"] for member in window]
            rows.append(
                {
                    "ordinal": len(rows),
                    "paper_ordinal": first["paper_ordinal"],
                    "paper_id": first["paper_id"],
                    "extraction_id": first["extraction_id"],
                    "first_para": first["para_idx"],
                    "n": len(window),
                    "first_para_ordinal": first["para_ordinal"],
                    # a window of title and abstract is an abstract window
                    "section_kind": next((kind for kind in kinds if kind != "title"), "title"),
                    "window_key": joined_key(member["block_key"] for member in window),
                }
            )
            if start + n >= len(run):
                break
            start += stride
    return pl.DataFrame(rows, schema=WINDOWS)


def window_blocks(blocks: pl.DataFrame, paper_id: str, first_para: int, n: int) -> pl.DataFrame:
    """The blocks of one window, in order: the paragraphs ``first_para … first_para + n - 1`` of ``paper_id``."""
    return blocks.filter(
        (pl.col("paper_id") == paper_id) & pl.col("para_idx").is_between(first_para, first_para + n - 1)
    ).sort("para_idx")


def _run_of(paragraph: dict[str, Any]) -> tuple[int, str]:
    kind = paragraph["section_kind"]
    zone = "front" if kind in _FRONT else kind if kind == "supplementary" else "body"
    return paragraph["paper_ordinal"], zone
