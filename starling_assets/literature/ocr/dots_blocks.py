"""From the elements of dots.ocr to blocks: kinds, tables as rows, Markdown and formulas as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .dots_reply import Category, Element
from .html_tables import rows_of_html
from .pages import OcrBlock, PageToRead
from .pictures import Picture
from .tex_text import plain

_KINDS: dict[Category, str] = {
    "Caption": "caption",
    "Footnote": "footnote",
    "Formula": "formula",
    "List-item": "list_item",
    "Section-header": "heading",
    "Table": "table",
    "Text": "paragraph",
    "Title": "title",
}
_HEADING_MARKS = re.compile(r"^\s*#{1,6}\s+")
_LIST_MARKS = re.compile(r"^\s*[-*+]\s+")
_EMPHASIS = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1|(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])")
_INDICES = re.compile(r"</?(?:sub|sup|b|i|em|strong)>|<br\s*/?>", re.IGNORECASE)
_POWER = re.compile(r"(?<=\d)<sup>", re.IGNORECASE)
_DISPLAY = re.compile(r"^\s*(?:\$\$|\\\[)(.*?)(?:\$\$|\\\])\s*$", re.DOTALL)


def blocks_of_elements(elements: Iterable[Element], picture: Picture, page: PageToRead) -> tuple[OcrBlock, ...]:
    """Blocks in the model's order, boxes in points. Pictures and running heads are left out.

    A table that holds no row in its HTML is kept as a paragraph: its words are on the page.
    """
    blocks: list[OcrBlock] = []
    titled = False
    for element in elements:
        kind = _KINDS.get(element.category)
        if kind is None:
            continue
        if kind == "title":
            # Only the first page of a paper has its title, and only once.
            kind = "heading" if titled or page.page != 1 else "title"
            titled = True
        bbox = picture.box_in_points(element.bbox, page)
        if kind == "table":
            rows, header_rows = rows_of_html(element.text)
            cells = tuple(tuple(plain(cell) for cell in row) for row in rows)
            if any(any(row) for row in cells):
                text = " ".join(cell for row in cells for cell in row if cell)
                blocks.append(OcrBlock("table", text, bbox, cells, header_rows))
                continue
            kind = "paragraph"
        text = plain_text(element.text, kind)
        if text:
            blocks.append(OcrBlock(kind, text, bbox))
    return tuple(blocks)


def plain_text(text: str, kind: str) -> str:
    """Markdown of one element as text; a formula stays TeX, without the signs around it."""
    if kind == "formula":
        display = _DISPLAY.match(text)
        return (display.group(1) if display else text).strip()
    text = _HEADING_MARKS.sub("", text)
    if kind == "list_item":
        text = _LIST_MARKS.sub("", text)
    text = _EMPHASIS.sub(lambda match: match.group(2) or match.group(3), text)
    return plain(_INDICES.sub("", _POWER.sub("^", text))).strip()
