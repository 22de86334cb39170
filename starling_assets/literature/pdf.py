"""Born-digital PDF to blocks, each file in a child process with bounded memory, CPU time and wall clock."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from starling_assets.settings.model import LiteratureSettings

from .blocks import Block, Paper
from .grids import grid_of_rows
from .jats_meta import own_doi
from .jats_tables import table_blocks
from .licences import classify
from .ocr import OcrEngine, OcrPage
from .sections import Place, section_kind
from .text import clean
from .xml import BadSource

EXTRACTOR = "pdf/1"
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>;,]+[^\s\"<>;,.\])]")
_OCR_STATUSES = frozenset({"scan", "garbled", "doubled"})
_MAX_OUTPUT = 200_000_000


def read_pdf(path: Path, limits: LiteratureSettings, ocr: OcrEngine | None = None) -> Paper:
    """The paper in the PDF at ``path``. Raises :class:`BadSource`, also for a file that needs OCR when ``ocr`` is
    None."""
    result = run_child(path, limits)
    if result.get("problem"):
        raise BadSource(str(result["problem"]))
    statuses: list[str] = result["pages"]
    wanting = [number for number, status in enumerate(statuses, start=1) if status in _OCR_STATUSES]
    readable = statuses.count("text")
    if wanting and len(wanting) * 2 > len(wanting) + readable and ocr is None:
        kinds = ", ".join(sorted({statuses[number - 1] for number in wanting}))
        raise BadSource(f"{len(wanting)} of {len(statuses)} pages need OCR ({kinds}) and no OCR engine is configured")
    if not wanting and not readable:
        raise BadSource("the PDF has no text")
    read_pages = ocr.read(path, wanting) if ocr is not None and wanting else []
    paper = Paper(source_kind="pdf", extractor=f"{EXTRACTOR}+{ocr.name}" if read_pages and ocr else EXTRACTOR)
    paper.note = _note(statuses, read_pages, int(result["total_pages"]))
    paper.blocks = _blocks(_with_ocr(result["chunks"], read_pages))
    if not paper.blocks:
        raise BadSource("the PDF has no text")
    _metadata(paper)
    return paper


def _note(statuses: list[str], read_pages: list[OcrPage], total: int) -> str:
    """What of the file was not read, by page."""
    read = {page.page for page in read_pages if page.status == "ok"}
    left_out = [
        f"page {number} ({status})"
        for number, status in enumerate(statuses, start=1)
        if status in _OCR_STATUSES and number not in read
    ]
    parts = [f"left out: {', '.join(left_out)}"] if left_out else []
    if total > len(statuses):
        parts.append(f"read {len(statuses)} of {total} pages (literature.pdf_pages)")
    return "; ".join(parts)


def run_child(path: Path, limits: LiteratureSettings) -> dict[str, Any]:
    """What the child process says of ``path``: its blocks, or ``{"problem": reason}`` also when it was stopped."""
    command = [
        sys.executable, "-m", "starling_assets.literature.pdf_child", str(path.resolve()), str(limits.pdf_memory_bytes),
        str(max(1, int(limits.pdf_seconds))), str(limits.pdf_pages),
    ]  # fmt: skip
    # The child reads an untrusted file: no secret of this process goes along.
    environment = {
        name: os.environ[name] for name in ("PATH", "HOME", "LANG", "PYTHONPATH", "VIRTUAL_ENV") if name in os.environ
    }
    package_root = str(Path(__file__).resolve().parents[2])
    environment["PYTHONPATH"] = os.pathsep.join(part for part in (package_root, environment.get("PYTHONPATH")) if part)
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=limits.pdf_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return {"problem": f"took longer than {limits.pdf_seconds:g} s (literature.pdf_seconds)"}
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0 or len(output) > _MAX_OUTPUT:
        return {"problem": _explain_exit(process.returncode, limits)}
    try:
        result = json.loads(output)
    except ValueError:
        return {"problem": "the PDF reader gave no answer"}
    return result if isinstance(result, dict) else {"problem": "the PDF reader gave no answer"}


def _explain_exit(code: int, limits: LiteratureSettings) -> str:
    if code == -signal.SIGXCPU or code == -signal.SIGKILL:
        return f"took more than {limits.pdf_seconds:g} s of CPU time (literature.pdf_seconds)"
    if code in {-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGTRAP, -signal.SIGILL, 1}:
        return f"the PDF reader needed more than {limits.pdf_memory_bytes:,} bytes of memory or crashed on this file"
    return f"the PDF reader stopped with code {code}"


def _with_ocr(chunks: list[dict[str, Any]], pages: list[OcrPage]) -> list[dict[str, Any]]:
    """Chunks of the text layer and of OCR pages, in page order."""
    read = [
        {"kind": block.kind, "text": block.text, "lines": [(page.page, list(block.bbox or (0, 0, 0, 0)), block.text)]}
        for page in pages
        if page.status == "ok"
        for block in page.blocks
    ]
    if not read:
        return chunks
    return sorted(
        [*chunks, *read], key=lambda chunk: (chunk["kind"] != "title", chunk["lines"][0][0] if chunk["lines"] else 0)
    )


def _blocks(chunks: list[dict[str, Any]]) -> list[Block]:
    blocks: list[Block] = []
    path: tuple[str, ...] = ()
    kind = "other"
    for chunk in chunks:
        text = clean(chunk["text"])
        if not text:
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
