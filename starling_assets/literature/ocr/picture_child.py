"""The child process that draws one page of a PDF: limits first, then pdfium; a PNG on its standard output.

Called as ``python -m starling_assets.literature.ocr.picture_child PATH PAGE WIDTH HEIGHT COLOUR MEMORY_BYTES
CPU_SECONDS``. One line of JSON comes first: ``{"ink": …}``, the share of points that are not paper, or
``{"problem": …}``.
"""

from __future__ import annotations

import json
import resource
import struct
import sys
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

from starling_assets.literature.pdf_lines import PdfProblem, open_document

#: A point that differs by more than this from the paper's own shade belongs to a letter, a line or a picture.
_CONTRAST = 48
_SAMPLED = 97


def main(arguments: list[str]) -> int:
    """Draw the page and write it."""
    path, page, width, height = Path(arguments[0]), int(arguments[1]), int(arguments[2]), int(arguments[3])
    colour, memory, seconds = arguments[4] == "colour", int(arguments[5]), int(arguments[6])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    body = b""
    try:
        ink, body = draw(path, page, width, height, colour=colour)
        head: dict[str, Any] = {"ink": ink}
    except PdfProblem as error:
        head = {"problem": str(error)}
    except MemoryError:
        head = {"problem": "drawing the page needs more memory than literature.pdf_memory_bytes"}
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + body)
    return 0


def draw(path: Path, number: int, width: int, height: int, *, colour: bool) -> tuple[float, bytes]:
    """Share of points that are not paper, and the PNG of page ``number`` (from 1) at exactly that size in pixels."""
    import pypdfium2 as pdfium
    import pypdfium2.raw as raw

    document = open_document(path)
    try:
        page = document[number - 1]
    except (pdfium.PdfiumError, IndexError):
        raise PdfProblem(f"page {number} cannot be opened") from None
    kind = raw.FPDFBitmap_BGR if colour else raw.FPDFBitmap_Gray
    bitmap = pdfium.PdfBitmap.new_native(width, height, kind)
    bitmap.fill_rect((255, 255, 255, 255), 0, 0, width, height)
    flags = raw.FPDF_ANNOT | (raw.FPDF_REVERSE_BYTE_ORDER if colour else raw.FPDF_GRAYSCALE)
    raw.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, flags)
    samples = width * (3 if colour else 1)
    data = bytes(bitmap.buffer)
    rows = [data[start : start + samples] for start in range(0, bitmap.stride * height, bitmap.stride)]
    green = b"".join(row[1::3] for row in rows) if colour else b"".join(rows)
    paper = Counter(green[::_SAMPLED]).most_common(1)[0][0]
    shades = bytes(range(max(paper - _CONTRAST, 0), min(paper + _CONTRAST, 255) + 1))
    ink = len(green.translate(None, shades)) / len(green)
    return round(ink, 6), _png(rows, width, height, 2 if colour else 0)


def _png(rows: list[bytes], width: int, height: int, colour_type: int) -> bytes:
    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 1)
    header = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
