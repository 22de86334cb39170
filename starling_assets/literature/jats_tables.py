"""Blocks of a table: caption first, then one line per row. A long one goes on in blocks that repeat the caption."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from .blocks import Block
from .grids import CHARACTERS_PER_BLOCK, ROWS_PER_BLOCK, Grid
from .jats_inline import inline_text
from .sections import Place
from .text import clean_lines
from .xml import local_name


def table_text(cell: etree._Element) -> str:
    """Text of a table cell: also its lists and formulas, which cannot become blocks outside the table."""
    return inline_text(cell, keep_blocks=True)


def tables_of(element: etree._Element) -> Iterator[etree._Element]:
    """The ``table`` or ``tgroup`` elements directly inside a table wrapper, also among alternatives."""
    for child in element:
        tag = local_name(child.tag)
        if tag == "table":
            groups = [inner for inner in child if local_name(inner.tag) == "tgroup"]
            yield from groups or [child]
        elif tag == "tgroup":
            yield child
        elif tag == "alternatives":
            yield from tables_of(child)


def table_blocks(grid: Grid, caption: str, place: Place) -> Iterator[Block]:
    """Blocks of one table; each begins with the caption, and none is longer than the bounds of ``grids``."""
    lines = list(grid.lines())
    if not lines and grid.header:
        names = " | ".join(name for name in grid.column_names() if name)
        lines = [(names, False)] if names else []
    markdown = table_markdown(grid, caption)
    heading = ""
    start = 0
    while start < len(lines) or start == 0:
        # A block that begins below a heading of rows repeats it, as it repeats the caption.
        carried = [heading] if heading and start < len(lines) and not lines[start][1] else []
        end, size = start, 0
        while end < len(lines) and (
            end == start or (end - start < ROWS_PER_BLOCK and size + len(lines[end][0]) <= CHARACTERS_PER_BLOCK)
        ):
            line, is_heading = lines[end]
            heading = line if is_heading else heading
            size += len(line)
            end += 1
        text = clean_lines("\n".join([caption, *carried, *(line for line, _ in lines[start:end])]))
        if text:
            yield Block("table", text, place.kind, place.path, markdown if start == 0 else "")
        start = max(end, start + 1)


def table_markdown(grid: Grid, caption: str) -> str:
    """The table as a Markdown table under its caption."""
    names = grid.column_names()
    lines = [caption, ""] if caption else []
    lines.append("| " + " | ".join(_escaped(name) for name in names) + " |")
    lines.append("|" + " --- |" * len(names))
    lines += ["| " + " | ".join(_escaped(cell.text) for cell in row) + " |" for row in grid.body]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
