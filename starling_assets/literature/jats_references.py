"""Reference lists: one block per cited work, without a paragraph number."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from .blocks import Block
from .jats_inline import inline_text
from .sections import Place
from .text import clean
from .xml import local_name


def references(element: etree._Element, place: Place) -> Iterator[Block]:
    """Blocks of kind ``reference``, one per entry, under their heading."""
    for child in element:
        tag = local_name(child.tag)
        if tag == "title":
            heading = clean(inline_text(child))
            if heading:
                yield Block("heading", heading, "references", (*place.path, heading))
        elif tag == "ref-list":
            yield from references(child, place)
        elif tag in {"ref", "p", "note"}:
            text = clean(" ".join(part for part in _words(child)))
            if text:
                yield Block("reference", text, "references", (*place.path, "References"))


def _words(element: etree._Element) -> Iterator[str]:
    for child in element:
        tag = local_name(child.tag)
        if tag in {
            "element-citation",
            "citation",
            "nlm-citation",
            "citation-alternatives",
            "person-group",
            "name",
            "string-name",
        }:
            yield from _words(child)
        elif tag:
            yield inline_text(child)
        if child.tail and child.tail.strip():
            yield child.tail.strip()
    if element.text and element.text.strip():
        yield element.text.strip()
