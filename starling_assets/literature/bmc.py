"""BioMed Central's own document type (``<art>``), used before the publisher moved to JATS."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from .blocks import Block, Paper
from .dates import PublicDate, earliest_of, of_parts
from .grids import read_grid
from .jats_inline import inline_text
from .jats_meta import own_doi
from .jats_tables import table_blocks, table_text
from .licences import classify
from .sections import Place
from .text import clean
from .xml import BadSource, local_name

EXTRACTOR = "bmc/1"
_FLOATS = frozenset({"tbl", "fig", "suppl", "table"})
_LISTS = frozenset({"l", "list", "ol", "ul", "dl"})


def read_bmc(root: etree._Element) -> list[Paper]:
    """The paper of an ``<art>`` document. Raises :class:`BadSource` when it holds no text."""
    paper = Paper(source_kind="jats", extractor=EXTRACTOR)
    front = _child(root, "fm")
    if front is not None:
        _front(front, paper)
    paper.blocks = [block for block in _blocks(root, front, paper) if block.text]
    if not paper.blocks:
        raise BadSource("the article holds neither a title nor any text")
    return [paper]


def _front(front: etree._Element, paper: Paper) -> None:
    entry = _child(front, "bibl")
    if entry is None:
        return
    title = _child(entry, "title")
    paper.title = clean(inline_text(title)) if title is not None else ""
    source = _child(entry, "source")
    paper.journal = clean(inline_text(source)) or None if source is not None else None
    for element in entry.iter("pubid"):
        kind, text = element.get("idtype"), clean(inline_text(element))
        if kind == "pmpid" and text.isdecimal():
            paper.pmid = text
        elif kind == "doi":
            paper.doi = own_doi(text)
        elif kind in {"pmcid", "pmc"} and re.fullmatch(r"(?:PMC)?\d+", text):
            paper.pmcid = f"PMC{text.removeprefix('PMC')}"
    paper.public = earliest_of(_dates(front, entry))
    rights = _child(front, "cpyrt")
    licence = classify([clean(inline_text(rights, keep_blocks=True))] if rights is not None else [])
    paper.licence, paper.licence_evidence = licence.name, licence.evidence


def _dates(front: etree._Element, entry: etree._Element) -> Iterator[PublicDate]:
    for element in entry:
        if local_name(element.tag) == "pubdate":
            yield of_parts(clean(inline_text(element)))
    history = _child(front, "history")
    for element in history if history is not None else ():
        if local_name(element.tag) == "pub":
            parts = {
                local_name(part.tag): clean(inline_text(part))
                for part in element.iter()
                if isinstance(part.tag, str) and not len(part)
            }
            yield of_parts(parts.get("year"), parts.get("month"), parts.get("day"))


def _blocks(root: etree._Element, front: etree._Element | None, paper: Paper) -> Iterator[Block]:
    if paper.title:
        yield Block("title", paper.title, "title")
    abstract = _child(front, "abs") if front is not None else None
    if abstract is not None:
        for block in _section(abstract, Place(("Abstract",), "abstract"), named=True):
            if block.kind != "heading":
                yield block
    for name in ("bdy", "bm"):
        part = _child(root, name)
        if part is not None:
            yield from _section(part, Place((), "other"), named=False)


def _section(element: etree._Element, place: Place, *, named: bool) -> Iterator[Block]:
    for child in element:
        tag = local_name(child.tag)
        if tag == "st":
            heading = clean(inline_text(child))
            if heading:
                place = place if named and len(place.path) == 1 else place.below(heading)
                yield Block("heading", heading, place.kind, place.path)
        elif tag in {"sec", "ack", "bm"}:
            yield from _section(child, Place(place.path, place.kind, place.depth + 1), named=named)
        elif tag == "refgrp":
            yield from _references(child, place)
        elif tag in _FLOATS:
            yield from _float(child, tag, place)
        elif tag in _LISTS:
            yield from _list(child, place)
        elif tag:
            yield from _paragraph(child, place)


def _paragraph(element: etree._Element, place: Place, kind: str = "paragraph") -> Iterator[Block]:
    text = clean(inline_text(element))
    if text:
        yield Block(kind, text, place.kind, place.path)
    yield from _inner_blocks(element, place)


def _inner_blocks(element: etree._Element, place: Place) -> Iterator[Block]:
    for child in element:
        tag = local_name(child.tag)
        if tag in _FLOATS:
            yield from _float(child, tag, place)
        elif tag in _LISTS:
            yield from _list(child, place)
        else:
            yield from _inner_blocks(child, place)


def _list(element: etree._Element, place: Place) -> Iterator[Block]:
    for item in element:
        text = clean(inline_text(item, keep_blocks=True))
        if text:
            yield Block("list_item", text, place.kind, place.path)


def _float(element: etree._Element, tag: str, place: Place) -> Iterator[Block]:
    caption = clean(" ".join(inline_text(child) for child in element if local_name(child.tag) in {"title", "caption"}))
    body = next((child for child in element if local_name(child.tag) in {"tblbdy", "tgroup"}), None)
    if body is not None:
        yield from table_blocks(read_grid(body, table_text), caption, place)
        for note in element.iter("tfoot"):
            for part in note:
                text = clean(inline_text(part, keep_blocks=True)) if local_name(part.tag) in {"p", "note"} else ""
                if text:
                    yield Block("footnote", text, place.kind, place.path)
    elif caption:
        yield Block("caption", caption, "supplementary" if tag == "suppl" else place.kind, place.path)
    for child in element:
        name = local_name(child.tag)
        if name == "tblfn":
            text = clean(inline_text(child, keep_blocks=True))
            if text:
                yield Block("footnote", text, place.kind, place.path)
        elif name in {"text", "p"}:
            text = clean(inline_text(child, keep_blocks=True))
            if text:
                yield Block("caption", text, "supplementary" if tag == "suppl" else place.kind, place.path)


def _references(element: etree._Element, place: Place) -> Iterator[Block]:
    for child in element:
        if local_name(child.tag) == "bibl":
            text = clean(" ".join(str(part) for part in child.itertext()))
            if text:
                yield Block("reference", text, "references", (*place.path, "References"))


def _child(element: etree._Element, name: str) -> etree._Element | None:
    return next((child for child in element if local_name(child.tag) == name), None)
