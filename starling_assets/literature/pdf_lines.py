"""Lines of text of a PDF with their place and size on the page: the part that touches pdfium.

Runs in a child process of its own (see ``pdf_child``): a hostile file may crash or stall it. Nothing heavy is imported.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from .pdf_frames import Frame, quarter, reading_angle

#: pdfium writes one of these where a word is divided at the end of a line.
HYPHENS = "\x02\ufffe\u00ad"
#: A divided word ends its line, though pdfium writes both lines as one.
_LINE = re.compile(r"[^\r\n\x02\ufffe]+[\x02\ufffe]?")
_HEADER_WITHIN = 65_536
_MAX_LINES_PER_PAGE = 5_000
#: Of a page made of countless little images only these are measured.
_MEASURED_IMAGES = 50
_VISIBLE = re.compile(r"\S")
_TABLE = re.compile(r"^(?:TABLE|Table|Tab\.|Supplementary Table)\s", re.MULTILINE)
#: A blank wider than this share of the font size parts two cells.
_CELL_GAP = 0.65
#: Figures that may belong to several cells, and a figure at the end of a word.
_FIGURES = re.compile(r"^[\d−–-]{2,6}$|[^\d\s.,−–-]\d{1,4}$")


@dataclass(slots=True)
class Line:
    """One line; coordinates in points from the page's upper left corner. ``runs`` are its parts between wide gaps."""

    page: int
    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    bold: bool
    font: str = ""  # of the whole line; empty where it changes inside
    base: float = 0.0  # where its letters stand, from the page's upper edge
    runs: tuple[tuple[float, float, str], ...] = ()


@dataclass(slots=True)
class Page:
    """One page: its size, its lines in the order of the file, and how many images it draws."""

    number: int
    width: float
    height: float
    lines: list[Line]
    images: int
    shown: tuple[float, float] = (0.0, 0.0)  # width and height as a viewer shows it; others are of the upright text
    image_share: float = 0.0  # share of the page that its largest image covers


class PdfProblem(Exception):
    """Why a file cannot be read; one line for a person."""


def read_pages(path: Path, max_pages: int) -> Iterator[Page]:
    """Pages of the file at ``path``, at most ``max_pages``. Raises :class:`PdfProblem`."""
    import pypdfium2 as pdfium
    import pypdfium2.raw as raw

    document = open_document(path)
    count = len(document)
    if count == 0:
        raise PdfProblem("the PDF has no page")
    for number in range(min(count, max_pages)):
        try:
            page = document[number]
        except pdfium.PdfiumError:
            yield Page(number + 1, 0.0, 0.0, [], 0)
            continue
        yield _read_page(page, number + 1, raw)
        page.close()


def page_count(path: Path) -> int:
    """Number of pages; raises :class:`PdfProblem`."""
    return len(open_document(path))


def open_document(path: Path) -> Any:
    """pdfium's document of the file at ``path``. Raises :class:`PdfProblem`."""
    import pypdfium2 as pdfium

    with path.open("rb") as handle:
        head = handle.read(_HEADER_WITHIN)
    start = head.find(b"%PDF-")
    try:
        # pdfium wants the header near the front; mail and web servers put their own lines before it.
        return pdfium.PdfDocument(path.read_bytes()[start:] if start > 0 else path)
    except pdfium.PdfiumError as error:
        raise PdfProblem(_explain(str(error))) from None


def _explain(message: str) -> str:
    lowered = message.lower()
    if "password" in lowered or "security" in lowered:
        return "the PDF is encrypted: save it without a password and add it again"
    if "success" in lowered:  # pdfium found nothing wrong, and nothing to show
        return "not a readable PDF: no page was found in it"
    return f"not a readable PDF: {message.rstrip('.')}"


def _read_page(page: Any, number: int, raw: Any) -> Page:
    shown = page.get_size()
    images = 0
    largest = 0.0
    for item in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=2):
        images += 1
        if images <= _MEASURED_IMAGES:
            largest = max(largest, _area(item))
    textpage = page.get_textpage()
    text = textpage.get_text_range()
    count = textpage.count_chars()
    lines: list[Line] = []
    width, height = shown
    if count > 0:
        text = _one_unit_per_character(textpage, count, text, raw)
        with_runs = _TABLE.search(text) is not None
        matches = list(islice(_LINE.finditer(text), _MAX_LINES_PER_PAGE))
        frame = _frame(page, textpage, raw, matches, shown)
        width, height = frame.size
        for match in matches:
            line = _line(textpage, raw, number, match, frame)
            if line is not None:
                if with_runs:
                    line.runs = _runs(textpage, raw, match, line, frame)
                lines.append(line)
    textpage.close()
    share = min(1.0, largest / max(width * height, 1.0))
    return Page(number, width, height, _downwards(lines), images, shown, share)


def _area(image: Any) -> float:
    """Square points that an image covers; 0 where pdfium does not know."""
    import pypdfium2 as pdfium

    try:
        left, bottom, right, top = image.get_bounds()
    except pdfium.PdfiumError:
        return 0.0
    return float((right - left) * (top - bottom))


def _frame(page: Any, textpage: Any, raw: Any, matches: list[re.Match[str]], shown: tuple[float, float]) -> Frame:
    """How the page is read: tables are often set sideways, and whole pages are scanned or saved that way."""
    width, height = shown if page.get_rotation() in {0, 180} else (shown[1], shown[0])
    angles = [
        (raw.FPDFText_GetCharAngle(textpage, match.start() + first.start()), len(match.group()))
        for match in matches
        if (first := _VISIBLE.search(match.group()))
    ]
    return Frame(width, height, *_origin(page), reading_angle(angles))


def _origin(page: Any) -> tuple[float, float]:
    try:
        left, bottom, _, _ = page.get_cropbox()
    except Exception:  # noqa: BLE001 - a page without a usable box is read from its origin
        return 0.0, 0.0
    return left, bottom


def _downwards(lines: list[Line]) -> list[Line]:
    """The lines from the top; pdfium gives those of a page that is shown sideways from the bottom."""
    upwards = sum(right.base < left.base for left, right in pairwise(lines))
    return lines[::-1] if len(lines) > 2 and upwards > 0.8 * (len(lines) - 1) else lines


def _one_unit_per_character(textpage: Any, count: int, text: str, raw: Any) -> str:
    """Text whose index is pdfium's character index (its own strings leave characters out)."""
    if len(text) == count:
        return text
    unicode_of = raw.FPDFText_GetUnicode
    return "".join(_character(unicode_of(textpage, index)) for index in range(count))


def _character(code: int) -> str:
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else " "


def _line(textpage: Any, raw: Any, page: int, match: re.Match[str], frame: Frame) -> Line | None:
    start, text = match.start(), match.group()
    # pdfium makes up blanks, which have neither size nor font
    visible = [index for index, character in enumerate(text) if not character.isspace() and character not in HYPHENS]
    if not visible:
        return None
    first, middle, last = visible[0], visible[len(visible) // 2], visible[-1]
    if quarter(raw.FPDFText_GetCharAngle(textpage, start + first)) != frame.angle:
        return None  # text that runs up the margin, or across the page
    rects = list(_rects(textpage, raw, start, len(text)))
    if not rects:
        return None
    x0, y0, x1, y1 = frame.box(
        min(rect[0] for rect in rects),
        min(rect[1] for rect in rects),
        max(rect[2] for rect in rects),
        max(rect[3] for rect in rects),
    )
    sizes = sorted(_size(textpage, raw, start + index) for index in (first, middle, last))
    fonts = [_font(textpage, raw, start + index) for index in (first, last)]
    bold = fonts[0] == fonts[1] and (raw.FPDFText_GetFontWeight(textpage, start + first) >= 600 or _is_bold(fonts[0]))
    x, y = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(textpage, start + first, x, y)
    return Line(
        page,
        text,
        x0,
        y0,
        x1,
        y1,
        round(sizes[1], 2) or round(y1 - y0, 2),
        bold,
        fonts[0] if fonts[0] == fonts[1] else "",
        frame.box(x.value, y.value, x.value, y.value)[1],
    )


def _edges(textpage: Any, raw: Any, index: int, frame: Frame) -> tuple[float, float]:
    """Left and right edge of a character."""
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    raw.FPDFText_GetCharBox(textpage, index, left, right, bottom, top)
    x0, _, x1, _ = frame.box(left.value, bottom.value, right.value, top.value)
    return x0, x1


def _runs(
    textpage: Any, raw: Any, match: re.Match[str], line: Line, frame: Frame
) -> tuple[tuple[float, float, str], ...]:
    """The parts of a line between blanks that are wider than a word's."""
    start, text = match.start(), match.group()
    runs: list[tuple[float, float, str]] = []
    begin, x0 = 0, line.x0
    for blank in re.finditer(r"\s+", text.rstrip()):
        if blank.start() == 0:
            begin = blank.end()
            continue
        _, right = _edges(textpage, raw, start + blank.start() - 1, frame)
        following, _ = _edges(textpage, raw, start + blank.end(), frame)
        if following - right > _CELL_GAP * line.size:
            runs.append((x0, right, text[begin : blank.start()]))
            begin, x0 = blank.end(), following
    runs.append((x0, line.x1, text[begin:].strip()))
    return tuple(part for run in runs for part in _apart(textpage, raw, start, text, run, line.size, frame))


def _apart(
    textpage: Any, raw: Any, start: int, text: str, run: tuple[float, float, str], size: float, frame: Frame
) -> list[tuple[float, float, str]]:
    """``run``, or its pieces where pdfium has written neighbouring cells as one word: ``24`` for 2 and 4."""
    tail = _FIGURES.search(run[2])
    if tail is None:
        return [run]
    # The same word may stand in the line more than once: it is the one that ends where the run does.
    for match in re.finditer(re.escape(run[2]), text):
        span = range(match.start() + tail.start(), match.end())
        boxes = [_edges(textpage, raw, start + index, frame) for index in span]
        if abs(boxes[-1][1] - run[1]) < size:
            break
    else:
        return [run]
    pieces = [(run[0], boxes[0][1], run[2][: tail.start() + 1])]
    for (x0, x1), character in zip(boxes[1:], run[2][tail.start() + 1 :], strict=True):
        if x0 - pieces[-1][1] <= _CELL_GAP * size:
            pieces[-1] = (pieces[-1][0], x1, pieces[-1][2] + character)
        else:
            pieces.append((x0, x1, character))
    return pieces


def _rects(textpage: Any, raw: Any, start: int, count: int) -> Iterator[tuple[float, float, float, float]]:
    number = raw.FPDFText_CountRects(textpage, start, count)
    left, top, right, bottom = (ctypes.c_double() for _ in range(4))
    for index in range(number):
        if raw.FPDFText_GetRect(textpage, index, left, top, right, bottom):
            yield left.value, bottom.value, right.value, top.value


def _size(textpage: Any, raw: Any, index: int) -> float:
    """Font size as seen on the page: many files set size 1 and scale with the text matrix."""
    size = raw.FPDFText_GetFontSize(textpage, index)
    matrix = raw.FS_MATRIX()
    if raw.FPDFText_GetMatrix(textpage, index, matrix):
        size *= (matrix.c**2 + matrix.d**2) ** 0.5
    return float(size)


def _font(textpage: Any, raw: Any, index: int) -> str:
    buffer = ctypes.create_string_buffer(96)
    flags = ctypes.c_int()
    size = raw.FPDFText_GetFontInfo(textpage, index, buffer, 96, flags)
    name = buffer.raw[: max(0, min(size, 96) - 1)].decode("latin-1") if size else ""
    return name.partition("+")[0] if not name[:6].isupper() else name  # "Name+20" is the same face re-encoded


def _is_bold(font: str) -> bool:
    lowered = font.lower()
    return any(mark in lowered for mark in ("bold", "black", "heavy", "-bd", "semib", "demi")) or lowered.endswith(".b")
