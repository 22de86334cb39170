"""From the lines an engine read on one page to blocks: the layout rules of the text layer, fit for measured sizes."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace

from starling_assets.literature.pdf_layout import lay_out
from starling_assets.literature.pdf_lines import Line, Page

from .pages import Box, OcrBlock

#: Sizes measured on a picture vary with the letters of a line: those within this share of the page's size are equal.
_SAME_SIZE = 0.22
_STEP = 2.0


def blocks_of_lines(
    lines: Sequence[Line], page: int, width: float, height: float, place: Callable[[Box], Box] = lambda box: box
) -> tuple[OcrBlock, ...]:
    """Blocks of one page in reading order; ``place`` turns a box of the upright page to one of the page as it is."""
    chunks = lay_out([Page(page, width, height, _evened(lines), 0)])
    blocks: list[OcrBlock] = []
    for chunk in chunks:
        bbox = place(
            (
                min(line.x0 for line in chunk.lines),
                min(line.y0 for line in chunk.lines),
                max(line.x1 for line in chunk.lines),
                max(line.y1 for line in chunk.lines),
            )
        )
        box = (round(bbox[0], 1), round(bbox[1], 1), round(bbox[2], 1), round(bbox[3], 1))
        # Only the first page of a paper has its title; elsewhere the largest text is a heading.
        kind = "heading" if chunk.kind == "title" and page != 1 else chunk.kind
        rows = tuple(tuple(row) for row in chunk.table.rows) if chunk.table is not None else ()
        blocks.append(OcrBlock(kind, chunk.text, box, rows, chunk.table.header_rows if chunk.table else 0))
    return tuple(blocks)


def _evened(lines: Sequence[Line]) -> list[Line]:
    """The lines with sizes in few steps: the page's own, and others in steps of points."""
    if not lines:
        return []
    body = statistics.median(line.size for line in lines for _ in range(len(line.text) // 10 + 1))
    return [
        replace(
            line,
            size=round(body, 1)
            if abs(line.size - body) <= _SAME_SIZE * body
            else max(1.0, round(line.size / _STEP) * _STEP),
        )
        for line in lines
    ]
