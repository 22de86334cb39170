"""Running text of JATS (and BioMed Central's old) elements: what a reader sees, with marks that cannot be misread.

Sub- and superscripts stay in the text (``LD50``); a power keeps its caret (``10^6``, not 106); a citation or note mark
is set off in brackets (``mg/kg [12]``), never glued to a unit or a number. Tables, figures, lists and displayed
formulas inside a paragraph are left out of its text and come as blocks of their own.
"""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

from .jats_math import math_text
from .xml import entity_text, is_entity, local_name, own_text

#: Elements that become blocks of their own, wherever they stand.
BLOCK_TAGS = frozenset(
    {
        "table-wrap", "table-wrap-group", "fig", "fig-group", "list", "def-list", "disp-formula", "disp-formula-group",
        "disp-quote",
        "boxed-text", "supplementary-material", "verse-group", "statement", "array", "chem-struct-wrap", "media",
        "speech", "preformat", "code",
        "tbl", "suppl", "table", "graphic", "ol", "ul", "dl", "display-formula",
    }
)  # fmt: skip
_SILENT = frozenset(
    {
        "tex-math", "inline-graphic", "object-id", "private-char", "milestone-start", "milestone-end", "index-term",
        "processing-meta", "fn", "annotation", "annotation-xml", "glyph-data", "alt-text", "long-desc", "target",
    }
)  # fmt: skip
_BREAKS = frozenset(
    {"break", "p", "title", "td", "th", "entry", "sec", "label", "list-item", "br", "hr", "def", "term"}
)
_STYLES = frozenset(
    {"italic", "bold", "named-content", "it", "b", "i", "u", "sc", "underline", "styled-content", "ext-link"}
)
_SCRIPTS = frozenset({"sup", "sub", "xref", "abbrgrp"})
_NOTE_REFERENCES = frozenset({"bibr", "fn", "table-fn", "author-notes", "corresp", "other-ref"})
_DIGITS = re.compile(r"[-−–+]?\s?\d{1,3}(?:\.\d+)?")
_NOTE_LETTERS = re.compile(r"[a-zA-Z](?:\s*,\s*[a-zA-Z])*|\d+(?:\s*[,–-]\s*\d+)+")
_ORDINAL = re.compile(r"\s*(?:st|nd|rd|th)\b", re.IGNORECASE)
#: A mark that was set off just now goes on: "[1], [2]".
_CHAIN = re.compile(r"\] ?[,;–-]\s*$")
_POWER_BASE = re.compile(r"(?:^|[^\d.,])(?:10|2|e)$")


def inline_text(element: etree._Element, *, keep_blocks: bool = False) -> str:
    """Text of ``element`` (not yet cleaned). ``keep_blocks`` also reads displayed formulas and lists inside it."""
    if len(element) == 0:
        return element.text or ""
    parts: list[str] = []
    _walk(element, parts, keep_blocks)
    return "".join(parts)


def _walk(element: etree._Element, parts: list[str], keep_blocks: bool) -> None:
    if element.text:
        parts.append(element.text)
    for child in element:
        tag: Any = child.tag
        if tag in _STYLES:
            # most inline elements hold nothing but a word
            if len(child):
                _walk(child, parts, keep_blocks)
            elif child.text:
                parts.append(child.text)
        elif tag.__class__ is str:
            _one(child, local_name(tag) if tag[0] == "{" else tag, parts, keep_blocks)
        elif is_entity(child):
            parts.append(entity_text(child))
        if child.tail:
            parts.append(child.tail)


def _one(child: etree._Element, tag: str, parts: list[str], keep_blocks: bool) -> None:
    if tag in _SCRIPTS:
        _script(child, tag, parts, keep_blocks)
    elif tag in _SILENT:
        return
    elif tag == "math":
        parts.append(math_text(child))
    elif tag == "alternatives":
        _alternatives(child, parts, keep_blocks)
    elif tag in BLOCK_TAGS:
        parts.append(" ")
        if keep_blocks and tag not in {"graphic", "media"}:
            _walk(child, parts, keep_blocks)
            parts.append(" ")
    elif tag in _BREAKS:
        parts.append(" ")
        _walk(child, parts, keep_blocks)
        parts.append(" ")
    else:
        _walk(child, parts, keep_blocks)


def _script(child: etree._Element, tag: str, parts: list[str], keep_blocks: bool) -> None:
    text = inline_text(child, keep_blocks=keep_blocks)
    stripped = text.strip()
    if not stripped:
        parts.append(text)
        return
    before = _last_character(parts)
    is_note = _is_note(child, tag)
    if tag == "abbrgrp":
        parts.append(f" [{stripped.strip('[]')}]")
        return
    glued = before != "" and (before.isalnum() or before in ").%°]’'\"”")
    if is_note and tag == "xref" and not glued and not _CHAIN.search("".join(parts[-2:])):
        # "(Smith 2001)" and "[12]" are set off by the author already
        parts.append(text)
    elif is_note and (glued or before in ",.;:–-"):
        parts.append(f" {stripped}" if stripped.startswith("[") else f" [{stripped}]")
    elif tag == "sup" and before.isdigit():
        parts.append(_after_digit(text, stripped, parts))
    else:
        parts.append(text)


def _after_digit(text: str, stripped: str, parts: list[str]) -> str:
    if _ORDINAL.match(text):
        return text
    if _DIGITS.fullmatch(stripped):
        base = "".join(parts[-3:])
        return f"^{stripped}" if _POWER_BASE.search(base) or stripped[0] in "-−–" else f" [{stripped}]"
    return f" [{stripped}]" if _NOTE_LETTERS.fullmatch(stripped) else text


def _is_note(child: etree._Element, tag: str) -> bool:
    if tag == "xref":
        kind = child.get("ref-type")
        if kind in _NOTE_REFERENCES:
            text = own_text(child).strip("[]() ")
            return len(text) <= 12 and not any(len(word) > 3 and word.isalpha() for word in text.split())
        return False
    return any(
        local_name(inner.tag) in {"xref", "abbrgrp"}
        and (inner.get("ref-type") in _NOTE_REFERENCES or inner.get("ref-type") is None)
        for inner in child
    )


def _alternatives(element: etree._Element, parts: list[str], keep_blocks: bool) -> None:
    """The one variant that reads best: markup before TeX, TeX before pictures."""
    children = [child for child in element if isinstance(child.tag, str)]
    for wanted in ("math", "textual-form", "table", "tex-math"):
        for child in children:
            if local_name(child.tag) == wanted:
                if wanted == "tex-math":
                    return
                _one(child, wanted, parts, keep_blocks)
                return
    for child in children[:1]:
        _one(child, local_name(child.tag), parts, keep_blocks)


def _last_character(parts: list[str]) -> str:
    for part in reversed(parts):
        if part:
            return part[-1]
    return ""
