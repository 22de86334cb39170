"""Reference lists: one block per cited work, without a paragraph number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from lxml import etree

from .blocks import Block
from .jats_inline import inline_text
from .sections import Place
from .text import clean
from .xml import local_name

_STRUCTURED = frozenset({"element-citation", "citation", "nlm-citation", "citation-alternatives"})


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
            text = clean(_words(child))
            if text:
                yield Block("reference", text, "references", (*place.path, "References"))


def _words(entry: etree._Element) -> str:
    """Words of an entry. Parts of a structured citation have no blanks between them; a written one has its own."""
    return " ".join(
        (" " if local_name(child.tag) in _STRUCTURED else "").join(cast("Iterator[str]", child.itertext()))
        for child in entry
    )
