"""The child process that reads one PDF: limits on memory, CPU and files first, then pdfium.

Called as ``python -m starling_assets.literature.pdf_child PATH MEMORY_BYTES CPU_SECONDS MAX_PAGES layout|statuses``;
writes one JSON object.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from .pdf_layout import Chunk, lay_out
from .pdf_lines import Page, PdfProblem, page_count, read_pages
from .pdf_quality import NEED_OCR, page_statuses
from .pdf_words import join_lines

_MAX_CHARACTERS = 20_000_000


def main(arguments: list[str]) -> int:
    """Read the file and print its blocks, or the problem."""
    path, memory, seconds, max_pages = Path(arguments[0]), int(arguments[1]), int(arguments[2]), int(arguments[3])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    try:
        result = read(path, max_pages, layout=arguments[4] == "layout")
    except PdfProblem as error:
        result = {"problem": str(error)}
    except MemoryError:
        result = {"problem": "needs more memory than literature.pdf_memory_bytes"}
    sys.stdout.write(json.dumps(result))
    return 0


def read(path: Path, max_pages: int, *, layout: bool = True) -> dict[str, object]:
    """Pages of ``path`` as plain values, with their blocks (``layout``) or with the text of the pages that need OCR.

    Raises :class:`PdfProblem`.
    """
    pages: list[Page] = []
    size = 0
    for page in read_pages(path, max_pages):
        size += sum(len(line.text) for line in page.lines)
        if size > _MAX_CHARACTERS:
            raise PdfProblem(f"the text layer is longer than {_MAX_CHARACTERS:,} characters")
        pages.append(page)
    statuses = page_statuses(pages)
    result: dict[str, object] = {
        "pages": statuses,
        "total_pages": page_count(path),
        "sizes": [(round(page.shown[0], 1), round(page.shown[1], 1)) for page in pages],
    }
    if layout:
        readable = [page for page, status in zip(pages, statuses, strict=True) if status == "text"]
        # The title of a paper whose first page waits for OCR is not the largest text of another page.
        titled = next((status for status in statuses if status != "blank"), "") == "text"
        result["chunks"] = [_plain(chunk) for chunk in lay_out(readable, titled=titled)]
    else:
        result["layers"] = {
            page.number: join_lines([line.text for line in page.lines])
            for page, status in zip(pages, statuses, strict=True)
            if status in NEED_OCR
        }
    return result


def _plain(chunk: Chunk) -> dict[str, object]:
    boxes = [
        (line.page, [round(line.x0, 1), round(line.y0, 1), round(line.x1, 1), round(line.y1, 1)], line.text)
        for line in chunk.lines
    ]
    plain: dict[str, object] = {"kind": chunk.kind, "text": chunk.text, "lines": boxes}
    if chunk.table is not None:
        plain |= {"rows": chunk.table.rows, "header_rows": chunk.table.header_rows}
    return plain


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
