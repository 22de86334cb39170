"""Born-digital PDF to blocks, pages that are pictures as an OCR engine read them.

Each file is read in a child process with bounded memory, CPU time and wall clock (see ``pdf_process``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starling_assets.settings.model import LiteratureSettings

from .blocks import Block, Paper
from .grids import grid_of_rows
from .jats_meta import own_doi
from .jats_tables import table_blocks
from .licences import classify
from .ocr.document import chunks_of, together
from .ocr.pages import NO_ENGINE, FileReadings
from .pdf_process import run_child
from .pdf_quality import NEED_OCR
from .sections import Place, section_kind
from .text import clean
from .xml import BadSource

EXTRACTOR = "pdf/1"
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>;,]+[^\s\"<>;,.\])]")
#: Pages named one by one in a note; of a long scan the rest is counted.
_NAMED = 12


def read_pdf(path: Path, limits: LiteratureSettings, ocr: FileReadings = NO_ENGINE) -> Paper:
    """The paper in the PDF at ``path``, pages without a sound text layer taken from ``ocr``.

    Raises :class:`BadSource`, also when most of the file needs OCR and was not read; the reason says why.
    """
    result = run_child(path, limits)
    if result.get("problem"):
        raise BadSource(str(result["problem"]))
    statuses: list[str] = result["pages"]
    wanting = {number: status for number, status in enumerate(statuses, start=1) if status in NEED_OCR}
    used = [ocr.pages[number] for number in wanting if number in ocr.pages and ocr.pages[number].is_used]
    readable = statuses.count("text")
    if not wanting and not readable:
        raise BadSource("the PDF has no text")
    if len(wanting) > readable and not used:
        raise BadSource(_not_read(wanting, len(statuses), ocr))
    paper = Paper(source_kind="pdf", extractor=f"{EXTRACTOR}+{ocr.engine}" if used else EXTRACTOR)
    paper.note = _note(wanting, ocr, len(statuses), int(result["total_pages"]))
    paper.blocks = _blocks(together(result["chunks"], chunks_of(used, result["sizes"])))
    if not paper.blocks:
        raise BadSource("the PDF has no text")
    _metadata(paper)
    return paper


def _not_read(wanting: Mapping[int, str], pages: int, ocr: FileReadings) -> str:
    """Why a file that is mostly pictures gives no paper."""
    kinds = ", ".join(sorted(set(wanting.values())))
    needed = f"{len(wanting)} of {pages} pages need OCR ({kinds})"
    if not ocr.engine:
        return f"{needed} and {ocr.reason}"
    read = [ocr.pages[number] for number in wanting if number in ocr.pages]
    if read and all(page.status == "blank" for page in read):
        return f"the PDF has no text: {needed}, and {ocr.engine} found none on them"
    reasons = ", ".join(sorted({page.reason for page in read if page.reason})[:3]) or "no page was read"
    return f"{needed} and {ocr.engine} read none of them: {reasons}"


def _note(wanting: Mapping[int, str], ocr: FileReadings, read: int, total: int) -> str:
    """What of the file was not read, or only in part, by page."""
    left_out, in_part = [], []
    for number, status in wanting.items():
        page = ocr.pages.get(number)
        if page is None or page.status == "failed":
            left_out.append(f"page {number} ({status}{f': {page.reason}' if page and page.reason else ''})")
        elif page.status == "partial":
            in_part.append(f"page {number} ({page.reason})")
    parts = [
        f"{word}: {', '.join(items[:_NAMED])}{f' and {len(items) - _NAMED} more' if len(items) > _NAMED else ''}"
        for word, items in (("left out", left_out), ("read in part", in_part))
        if items
    ]
    if left_out and not ocr.engine:
        parts.append(ocr.reason)
    if total > read:
        parts.append(f"read {read} of {total} pages (literature.pdf_pages)")
    return "; ".join(parts)


def _blocks(chunks: list[dict[str, Any]]) -> list[Block]:
    blocks: list[Block] = []
    path: tuple[str, ...] = ()
    kind = "other"
    for chunk in chunks:
        text = clean(chunk["text"])
        if not text and "rows" not in chunk:
            continue
        if chunk["kind"] == "title":
            blocks.append(Block("title", text, "title", (), "", _spans(text, chunk["lines"])))
            continue
        if chunk["kind"] == "heading":
            path, kind = (text,), _kind_under(text, kind)
        section = "references" if chunk["kind"] == "reference" else kind
        if section != "references" and kind == "references":
            section = "other"
        if "rows" in chunk:
            caption = blocks.pop().text if blocks and blocks[-1].kind == "caption" else ""
            blocks += _table(chunk, caption, Place(path, section))
        else:
            blocks.append(Block(chunk["kind"], text, section, path, "", _spans(text, chunk["lines"])))
    return blocks


def _table(chunk: dict[str, Any], caption: str, place: Place) -> list[Block]:
    """Blocks of a table found on a page; each carries the box of the whole table."""
    boxes = [box for _, box, _ in chunk["lines"]]
    bbox = [
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    ]
    blocks = list(table_blocks(grid_of_rows(chunk["rows"], chunk["header_rows"]), caption, place))
    for block in blocks:
        block.spans = ({"page": chunk["lines"][0][0], "bbox": bbox, "start": 0, "end": len(block.text)},)
    return blocks


def _kind_under(heading: str, before: str) -> str:
    if re.match(r"^(?:\d+\.?\s+)?(?:abstract|summary)\b", heading, re.IGNORECASE):
        return "abstract"
    found = section_kind(heading)
    # A heading that tells nothing opens a subsection of what came before, except after the abstract.
    return found if found != "other" else "other" if before in {"abstract", "references"} else before


def _spans(text: str, lines: list[Any]) -> tuple[dict[str, Any], ...]:
    """Where each line lies in ``text`` and on its page."""
    spans: list[dict[str, Any]] = []
    position = 0
    for page, bbox, line in lines:
        words = clean(line).split()
        start = _find(text, words[0], position) if words else -1
        if start < 0:
            continue
        end = start
        for word in words:
            found = _find(text, word, end)
            if found < 0 or found > end + 2:
                break
            end = found + len(word)
        end = max(end, start + 1)
        spans.append({"page": page, "bbox": [float(value) for value in bbox], "start": start, "end": end})
        position = end
    return tuple(spans)


def _find(text: str, word: str, position: int) -> int:
    found = text.find(word, position)
    return found if 0 <= found <= position + 80 else -1


def _metadata(paper: Paper) -> None:
    first = [block for block in paper.blocks if any(span["page"] == 1 for span in block.spans)]
    title = next((block for block in paper.blocks if block.kind == "title"), None)
    paper.title = title.text if title is not None else ""
    # Cited works have DOIs too: only one that stands alone on the first page, outside the references, is the paper's.
    found = {
        match.group().rstrip(".").lower(): match.group()
        for block in first
        if block.kind != "reference"
        for match in _DOI.finditer(block.text)
    }
    if len(found) == 1:
        paper.doi = own_doi(next(iter(found.values())))
    statements = [block.text for block in paper.blocks if len(block.text) < 1_500 and _speaks_of_licence(block.text)]
    licence = classify(statements)
    paper.licence, paper.licence_evidence = licence.name, licence.evidence


def _speaks_of_licence(text: str) -> bool:
    lowered = text.lower()
    return (
        "creative commons" in lowered
        or "creativecommons" in lowered
        or "open access article" in lowered
        or "all rights reserved" in lowered
    )
