"""From the lines an engine read on one page to blocks: the layout rules of the text layer, fit for measured sizes."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace

from starling_assets.literature.pdf_layout import Chunk, lay_out
from starling_assets.literature.pdf_lines import Line, Page

from .pages import Box, OcrBlock

#: Sizes measured on a picture vary with the letters of a line: those within this share of another are equal to it.
_SAME_SIZE = 0.22
#: A line of fewer letters says little about its size: it is taken for the page's own unless it differs by more.
_SHORT, _SHORT_SAME_SIZE = 25, 0.35
_FEWEST_WORDS, _UPPER = 4, 0.6
_WORD = re.compile(r"[^\W\d_]{4,}")
#: A chunk of so many letters is running text.
_TEXT = 200


def blocks_of_lines(
    lines: Sequence[Line], page: int, width: float, height: float, place: Callable[[Box], Box] = lambda box: box
) -> tuple[OcrBlock, ...]:
    """Blocks of one page in reading order; ``place`` turns a box of the upright page to one of the page as it is."""
    chunks = lay_out([Page(page, width, height, _evened(lines), 0)], titled=False)
    if page == 1:  # only the first page of a paper has its title
        chunks = _title_first(chunks, height)
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
        # What an engine makes of a drawing is no heading.
        kind = "paragraph" if chunk.kind == "heading" and not _WORD.search(chunk.text) else chunk.kind
        rows = tuple(tuple(row) for row in chunk.table.rows) if chunk.table is not None else ()
        blocks.append(OcrBlock(kind, chunk.text, box, rows, chunk.table.header_rows if chunk.table else 0))
    return tuple(blocks)


def _title_first(chunks: list[Chunk], height: float) -> list[Chunk]:
    """The largest words of the upper page become the title and stand first; logos are large too, but of few words."""
    body = min((chunk.lines[0].size for chunk in chunks if len(chunk.text) > _TEXT), default=0.0)
    candidates = [
        chunk
        for chunk in chunks
        if chunk.lines[0].size > body * 1.15
        and chunk.lines[0].y0 < height * _UPPER
        and len(chunk.text.split()) >= _FEWEST_WORDS
        and chunk.kind != "caption"
    ]
    if not candidates:
        return chunks
    title = max(candidates, key=lambda chunk: (chunk.lines[0].size, len(chunk.text)))
    title.kind = "title"
    return [title, *(chunk for chunk in chunks if chunk is not title)]


def _evened(lines: Sequence[Line]) -> list[Line]:
    """The lines with sizes in few steps: what most of the page is set in, and classes above and below it."""
    if not lines:
        return []
    body = statistics.median(line.size for line in lines for _ in range(len(line.text) // 10 + 1))
    classes = [body]
    for size in sorted({line.size for line in lines if len(line.text) >= _SHORT}, reverse=True):
        if all(abs(size - known) > _SAME_SIZE * known for known in classes):
            classes.append(size)
    return [replace(line, size=round(_class_of(line, body, classes), 1)) for line in lines]


def _class_of(line: Line, body: float, classes: Sequence[float]) -> float:
    if len(line.text) < _SHORT:
        return body if abs(line.size - body) <= _SHORT_SAME_SIZE * body else line.size
    return min(classes, key=lambda known: abs(known - line.size))
