"""A page that was read, as Markdown for a person."""

from __future__ import annotations

from starling_assets.literature.grids import grid_of_rows
from starling_assets.literature.jats_tables import table_markdown

from .pages import OcrBlock, OcrPage

_MARKS = {"title": "# ", "heading": "## ", "list_item": "- ", "footnote": "> "}


def page_markdown(page: OcrPage) -> str:
    """The blocks of ``page`` in reading order; empty where nothing was read."""
    return "\n\n".join(_block(block) for block in page.blocks)


def _block(block: OcrBlock) -> str:
    if block.rows:
        return table_markdown(grid_of_rows(block.rows, block.header_rows), "").strip()
    if block.kind == "formula":
        return f"$$\n{block.text}\n$$"
    return f"{_MARKS.get(block.kind, '')}{block.text}"
