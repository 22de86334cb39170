"""Readings of single pages as one document: running heads away, paragraphs made whole across pages, references told."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from starling_assets.literature.pdf_layout import AFTER_REFERENCES, REFERENCES, goes_on
from starling_assets.literature.pdf_words import join_lines

from .pages import OcrBlock, OcrPage

_MARGIN = 0.09
_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(r"^\W*(?:page\s*)?\d{1,5}\W*$", re.IGNORECASE)
#: What may stand between the two halves of a paragraph that a page has cut.
_BETWEEN = frozenset({"footnote", "caption", "table"})
_RUNNING_TEXT = frozenset({"paragraph", "list_item"})


def chunks_of(pages: Iterable[OcrPage], sizes: Sequence[Sequence[float]]) -> list[dict[str, Any]]:
    """Chunks (as ``pdf_child`` gives them) of the pages that were read; ``sizes`` are those of all pages, in points."""
    used = sorted((page for page in pages if page.is_used), key=lambda page: page.page)
    heads = _running_heads(used, sizes)
    chunks: list[dict[str, Any]] = []
    for page in used:
        for block in page.blocks:
            if _is_at_the_edge(page, block, sizes) and (_PAGE_NUMBER.match(block.text) or _masked(block) in heads):
                continue
            chunk: dict[str, Any] = {
                "kind": block.kind,
                "text": block.text,
                "lines": [(page.page, list(block.bbox or (0.0, 0.0, 0.0, 0.0)), block.text)],
                "ocr": True,
            }
            if block.rows:
                chunk |= {"rows": [list(row) for row in block.rows], "header_rows": block.header_rows}
            chunks.append(chunk)
    return _references_marked(chunks)


def together(chunks: Sequence[dict[str, Any]], read: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Chunks of the text layer and of pages that were read, the title first, the rest by page; paragraphs that a page
    has cut are joined where at least one half was read.
    """
    ordered = sorted(
        [*chunks, *read], key=lambda chunk: (chunk["kind"] != "title", chunk["lines"][0][0] if chunk["lines"] else 0)
    )
    out: list[dict[str, Any]] = []
    for chunk in ordered:
        before = _open_end(out, chunk) if chunk["kind"] == "paragraph" else None
        if before is None:
            out.append(chunk)
            continue
        place = next(number for number, other in enumerate(out) if other is before)
        out[place] = before | {
            "text": join_lines([before["text"], chunk["text"]]),
            "lines": [*before["lines"], *chunk["lines"]],
            "ocr": True,
        }
    return out


def _open_end(out: Sequence[dict[str, Any]], chunk: dict[str, Any]) -> dict[str, Any] | None:
    """The paragraph at the end of the page before that goes on in ``chunk``, the first running text of its page."""
    page = chunk["lines"][0][0] if chunk["lines"] else 0
    for before in reversed(out):
        if not before["lines"] or before["kind"] in _BETWEEN:
            continue
        joins = (
            before["kind"] in _RUNNING_TEXT
            and before["lines"][-1][0] == page - 1
            and (before.get("ocr") or chunk.get("ocr"))
            and goes_on(before["text"], chunk["text"])
        )
        return before if joins else None
    return None


def _running_heads(pages: Sequence[OcrPage], sizes: Sequence[Sequence[float]]) -> set[str]:
    """Texts, their digits masked, that stand near the edge of several pages."""
    places: dict[str, set[int]] = defaultdict(set)
    for page in pages:
        for block in page.blocks:
            if _is_at_the_edge(page, block, sizes):
                places[_masked(block)].add(page.page)
    enough = 2 if len(pages) <= 4 else 3
    return {text for text, numbers in places.items() if len(numbers) >= enough}


def _is_at_the_edge(page: OcrPage, block: OcrBlock, sizes: Sequence[Sequence[float]]) -> bool:
    if block.bbox is None or block.rows or page.page > len(sizes):
        return False
    height = sizes[page.page - 1][1]
    return block.bbox[3] < height * _MARGIN or block.bbox[1] > height * (1 - _MARGIN)


def _masked(block: OcrBlock) -> str:
    return _DIGITS.sub("#", block.text.strip().casefold())


def _references_marked(chunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    inside = False
    for chunk in chunks:
        if chunk["kind"] == "heading":
            if REFERENCES.match(chunk["text"]):
                inside = True
                continue
            if AFTER_REFERENCES.match(chunk["text"]):
                inside = False
        if inside and chunk["kind"] in {"paragraph", "list_item", "heading"}:
            chunk["kind"] = "reference"
    return chunks
