"""JATS and NLM articles to blocks, in reading order: nothing that a reader sees is left out.

Body, back matter, floating figures and tables, appendices, and sub-articles (translations, reviews, replies; marked
``supplementary``). References become blocks of kind ``reference`` without a paragraph number.
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from . import jats_meta
from .blocks import Block, Paper
from .grids import read_grid
from .jats_inline import BLOCK_TAGS, inline_text
from .jats_math import tex_of_formula
from .jats_references import references
from .jats_tables import table_blocks, table_text, tables_of
from .sections import Place, section_kind
from .text import clean
from .xml import BadSource, local_name, own_text

EXTRACTOR = "jats/1"
_CONTAINERS = frozenset(
    {
        "sec",
        "app",
        "app-group",
        "ack",
        "bio",
        "glossary",
        "notes",
        "boxed-text",
        "statement",
        "fn-group",
        "back",
        "body",
    }
)
_FIGURES = frozenset({"fig", "chem-struct-wrap", "supplementary-material", "media", "graphic", "array"})
_LISTS = frozenset({"list", "def-list"})
#: Never hold a block of their own.
_INLINE = frozenset({"italic", "bold", "sup", "sub", "xref", "ext-link", "underline", "math", "inline-formula"})
_MAX_NESTING = 60


def read_jats(root: etree._Element) -> list[Paper]:
    """The papers of a JATS document (one, or those of an article set). Raises :class:`BadSource` when it holds none."""
    articles = [root] if local_name(root.tag) == "article" else [e for e in root if local_name(e.tag) == "article"]
    papers = [_read_article(article) for article in articles]
    if not papers:
        raise BadSource(f"no article inside <{local_name(root.tag)}>")
    return papers


def _read_article(article: etree._Element) -> Paper:
    paper = Paper(source_kind="jats", extractor=EXTRACTOR)
    jats_meta.read_front(article, paper)
    paper.blocks = [block for block in _article_blocks(article, paper) if block.text]
    if not paper.blocks:
        raise BadSource("the article holds neither a title nor any text")
    return paper


def _article_blocks(article: etree._Element, paper: Paper) -> Iterator[Block]:
    if paper.title:
        yield Block("title", paper.title, "title")
    for child in article:
        tag = local_name(child.tag)
        if tag == "front":
            yield from _abstracts(child)
        elif tag in {"body", "back"}:
            yield from _children(child, Place((), "other"))
        elif tag == "floats-group":
            yield from _children(child, Place(("Figures and tables",), "other"))
        elif tag in {"sub-article", "response"}:
            yield from _sub_article(child)
    yield from _front_notes(article, Place(("Notes",), "other"))


def _front_notes(article: etree._Element, place: Place) -> Iterator[Block]:
    """Footnotes of title and authors: they stand at the end, where they interrupt nothing."""
    for front in article:
        if local_name(front.tag) in {"front", "front-stub"}:
            for note in front.iter("fn", "{*}fn"):
                yield from _footnote(note, place)


def _abstracts(front: etree._Element) -> Iterator[Block]:
    for element in front.iter("abstract", "{*}abstract", "trans-abstract", "{*}trans-abstract"):
        kind = element.get("abstract-type") or ""
        translated = local_name(element.tag) == "trans-abstract"
        if kind in {"graphical", "teaser-picture"} and not own_text(element).strip():
            continue
        language = element.get("{http://www.w3.org/XML/1998/namespace}lang") or ""
        # A translation repeats the abstract in another language: kept, but not read as a second abstract.
        place = Place((f"Abstract ({language})",), "other") if translated else Place(("Abstract",), "abstract")
        for block in _children(element, place):
            if block.kind != "heading":
                yield block


def _sub_article(element: etree._Element) -> Iterator[Block]:
    stub = next((child for child in element if local_name(child.tag) in {"front-stub", "front"}), None)
    title = next(stub.iter("article-title", "{*}article-title"), None) if stub is not None else None
    name = clean(inline_text(title)) if title is not None else ""
    label = name or (element.get("article-type") or local_name(element.tag)).replace("-", " ")
    place = Place((label,), "supplementary")
    if name:
        yield Block("heading", name, "supplementary", (label,))
    if stub is not None:
        for abstract in stub.iter("abstract", "{*}abstract"):
            yield from _children(abstract, place)
    for child in element:
        tag = local_name(child.tag)
        if tag in {"body", "back", "floats-group"}:
            yield from _children(child, place)
        elif tag in {"sub-article", "response"}:
            yield from _sub_article(child)
    yield from _front_notes(element, place)


def _children(element: etree._Element, place: Place) -> Iterator[Block]:
    if place.depth > _MAX_NESTING:
        raise BadSource("sections are nested too deep")
    heading = ""
    label = ""
    for child in element:
        tag = local_name(child.tag)
        if tag == "label":
            label = clean(inline_text(child))
        elif tag in {"title", "subtitle"}:
            heading = clean(inline_text(child))
            heading = f"{label} {heading}".strip() if label and not heading.startswith(label) else heading
            if heading:
                place = place.below(heading, element.get("sec-type")) if tag == "title" else place
                yield Block("heading", heading, place.kind, place.path)
                # A subsection must not inherit the depth of its siblings' headings.
        else:
            yield from _element(child, tag, place if heading else _typed(place, element))


def _typed(place: Place, element: etree._Element) -> Place:
    sec_type = element.get("sec-type")
    return Place(place.path, section_kind("", sec_type, place.kind), place.depth) if sec_type else place


def _element(child: etree._Element, tag: str, place: Place) -> Iterator[Block]:
    if tag == "p":
        yield from _paragraph(child, place)
    elif tag in _CONTAINERS:
        yield from _children(child, Place(place.path, place.kind, place.depth + 1))
    elif tag in _LISTS:
        yield from _list(child, place)
    elif tag == "table-wrap":
        yield from _table_wrap(child, place)
    elif tag in _FIGURES:
        yield from _figure(child, place)
    else:
        yield from _rarer_element(child, tag, place)


def _rarer_element(child: etree._Element, tag: str, place: Place) -> Iterator[Block]:
    if tag in {"fig-group", "table-wrap-group", "floats-group"}:
        yield from _group(child, place)
    elif tag in {"disp-formula", "disp-formula-group"}:
        yield from _formula(child, place)
    elif tag == "ref-list":
        yield from references(child, place)
    elif tag == "table":
        yield from table_blocks(read_grid(child, table_text), "", place)
    elif tag == "fn":
        yield from _footnote(child, place)
    elif tag in {"disp-quote", "verse-group", "speech", "preformat", "code", "attrib", "verse-line"}:
        yield from _quote(child, place)
    elif tag and tag not in {
        "sec-meta",
        "object-id",
        "alternatives",
        "permissions",
        "kwd-group",
        "abstract",
        "trans-abstract",
    }:
        text = clean(inline_text(child))
        if text:
            yield Block("paragraph", text, place.kind, place.path)


def _paragraph(element: etree._Element, place: Place) -> Iterator[Block]:
    text = clean(inline_text(element))
    if text:
        yield Block("paragraph", text, place.kind, place.path)
    # Blocks that stand inside the paragraph come after its text, in their order.
    yield from _inner_blocks(element, place)


def _inner_blocks(element: etree._Element, place: Place) -> Iterator[Block]:
    for child in element:
        tag = child.tag
        if tag in _INLINE:  # most children of a paragraph
            continue
        tag = local_name(tag)
        if tag in BLOCK_TAGS or tag == "fn":
            yield from _element(child, tag, place)
        elif len(child) and tag not in _INLINE:
            yield from _inner_blocks(child, place)


def _list(element: etree._Element, place: Place) -> Iterator[Block]:
    for child in element:
        tag = local_name(child.tag)
        if tag == "title":
            yield Block("heading", clean(inline_text(child)), place.kind, place.path)
        elif tag in {"list-item", "def-item"}:
            yield from _list_item(child, place)
        elif tag in _LISTS:
            yield from _list(child, place)


def _list_item(element: etree._Element, place: Place) -> Iterator[Block]:
    if local_name(element.tag) == "def-item":
        parts = [clean(inline_text(child)) for child in element if local_name(child.tag) in {"term", "def"}]
        yield Block("list_item", ": ".join(part for part in parts if part), place.kind, place.path)
        yield from _inner_blocks(element, place)
        return
    label = ""
    for child in element:
        tag = local_name(child.tag)
        if tag == "label":
            label = clean(inline_text(child))
        elif tag in {"p", "title"}:
            text = clean(f"{label} {inline_text(child)}")
            label = ""
            if text:
                yield Block("list_item", text, place.kind, place.path)
            yield from _inner_blocks(child, place)
        else:
            yield from _element(child, tag, place)


def _label_and_caption(element: etree._Element) -> str:
    parts = []
    for child in element:
        tag = local_name(child.tag)
        if tag in {"label", "caption"} or tag == "title":
            parts.append(clean(inline_text(child)))
    return " ".join(part for part in parts if part)


def _figure(element: etree._Element, place: Place) -> Iterator[Block]:
    kind = "supplementary" if local_name(element.tag) in {"supplementary-material", "media"} else place.kind
    place = Place(place.path, kind, place.depth)
    caption = _label_and_caption(element)
    if caption:
        yield Block("caption", caption, kind, place.path)
    for child in element:
        tag = local_name(child.tag)
        if tag == "caption":
            yield from _inner_blocks(child, place)
        elif tag in {"p", "attrib", "disp-formula", "table-wrap", "list", "supplementary-material", "media", "table"}:
            yield from _table_wrap(element, place) if tag == "table" else _element(child, tag, place)


def _group(element: etree._Element, place: Place) -> Iterator[Block]:
    caption = _label_and_caption(element)
    if caption:
        yield Block("caption", caption, place.kind, place.path)
    for child in element:
        if (tag := local_name(child.tag)) not in {"label", "caption", "title"}:
            yield from _element(child, tag, place)


def _table_wrap(element: etree._Element, place: Place) -> Iterator[Block]:
    caption = _label_and_caption(element)
    grids = [read_grid(table, table_text) for table in tables_of(element)]
    if caption and not any(grid.width for grid in grids):
        yield Block("caption", caption, place.kind, place.path)
    for number, grid in enumerate(grids):
        yield from table_blocks(grid, caption if number == 0 else f"{caption} (continued)", place)
    for child in element:
        tag = local_name(child.tag)
        if tag == "caption":
            yield from _inner_blocks(child, place)
        elif tag == "table-wrap-foot":
            yield from _table_foot(child, place)
        elif tag in {"p", "attrib", "fn", "list", "disp-formula", "disp-quote"}:
            yield from _element(child, tag, place)
    for table in tables_of(element):
        yield from _inner_blocks_of_cells(table, place)


def _inner_blocks_of_cells(table: etree._Element, place: Place) -> Iterator[Block]:
    for nested in table.iter("{*}table-wrap", "table-wrap"):
        yield from _table_wrap(nested, place)


def _table_foot(element: etree._Element, place: Place) -> Iterator[Block]:
    for child in element:
        tag = local_name(child.tag)
        if tag == "fn-group":
            yield from _table_foot(child, place)
        elif tag in {"fn", "p", "attrib", "title"}:
            text = clean(_with_label(child))
            if text:
                yield Block("footnote", text, place.kind, place.path)
            yield from _inner_blocks(child, place)
        elif tag:
            yield from _element(child, tag, place)


def _with_label(element: etree._Element) -> str:
    parts = [element.text or ""]
    for child in element:
        tag = local_name(child.tag)
        if tag == "label":
            mark = clean(inline_text(child))
            parts.append(f"[{mark.strip('[]().')}] " if mark else "")
        elif tag == "p":
            parts.append(inline_text(child) + " ")
        else:
            break
        parts.append(child.tail or "")
    else:
        return "".join(parts)
    return inline_text(element)


def _footnote(element: etree._Element, place: Place) -> Iterator[Block]:
    text = clean(_with_label(element))
    if text:
        yield Block("footnote", text, place.kind, place.path)
    yield from _inner_blocks(element, place)


def _formula(element: etree._Element, place: Place) -> Iterator[Block]:
    tex = tex_of_formula(element)
    text = clean(inline_text(element)) or tex
    if text:
        yield Block("formula", text, place.kind, place.path, f"$${tex}$$" if tex else "")


def _quote(element: etree._Element, place: Place) -> Iterator[Block]:
    inner = [
        child
        for child in element
        if local_name(child.tag) in {"p", "list", "disp-quote", "verse-line", "attrib", "title"}
    ]
    if not inner:
        text = clean(inline_text(element))
        if text:
            yield Block("paragraph", text, place.kind, place.path)
    for child in inner:
        tag = local_name(child.tag)
        if tag in {"title", "verse-line", "attrib"}:
            text = clean(inline_text(child))
            if text:
                yield Block("paragraph", text, place.kind, place.path)
        else:
            yield from _element(child, tag, place)
