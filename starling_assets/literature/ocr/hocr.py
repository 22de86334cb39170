"""From hOCR, in which Tesseract writes what it read, to the lines of an upright page."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lxml import etree

from starling_assets.literature.pdf_lines import Line
from starling_assets.literature.xml import parse_xml
from starling_assets.settings.model import LiteratureSettings

from .pages import Box, PageToRead
from .pictures import Picture

#: A word in which Tesseract trusts less than this is the dirt of a scan, unless its line is trusted.
_LEAST_TRUST = 20.0
#: A blank wider than this share of the letters' size parts two cells.
_CELL_GAP = 1.1
_PROPERTY = re.compile(r"([a-z_]+) ([^;]+)")
_BOX = re.compile(r"bbox (-?\d+) (-?\d+) (-?\d+) (-?\d+)")
_LONG = 25


@dataclass(frozen=True, slots=True)
class Word:
    """One word, its box in pixels of the picture, and how far Tesseract trusts it (0-100)."""

    text: str
    box: tuple[float, float, float, float]
    trust: float


@dataclass(frozen=True, slots=True)
class RawLine:
    """One line: its words, the angle it is written at, the height of its letters and of what hangs below them."""

    words: tuple[Word, ...]
    angle: int
    size: float
    descenders: float
    slope: float


def lines_of(hocr: bytes, picture: Picture, page: PageToRead, limits: LiteratureSettings) -> list[Line]:
    """The lines of a page in reading order; coordinates in points of the upright page (see :func:`upright`)."""
    raw = [line for line in _raw_lines(hocr, limits) if _is_text(line)]
    angle = _angle(raw)
    turn = upright(angle, picture.width, picture.height)
    slope = statistics.median([line.slope for line in raw if _length(line) > _LONG] or [0.0])
    # Turned by a quarter, the page's width and height change places.
    across, down = page.width / picture.width, page.height / picture.height
    if angle in {90, 270}:
        across, down = down, across
    return [_line(line, turn, slope, across, down, page.page) for line in raw if line.angle == angle]


def upright(angle: int, width: float, height: float) -> Callable[[Box], Box]:
    """How a box turns when a page that is written at ``angle`` (degrees, counterclockwise) is put upright."""
    turns: dict[int, Callable[[Box], Box]] = {
        90: lambda box: (height - box[3], box[0], height - box[1], box[2]),
        180: lambda box: (width - box[2], height - box[3], width - box[0], height - box[1]),
        270: lambda box: (box[1], width - box[2], box[3], width - box[0]),
    }
    return turns.get(angle, lambda box: box)


def angle_of(hocr: bytes, limits: LiteratureSettings) -> int:
    """The angle most of the page is written at: 0, 90, 180 or 270 degrees."""
    return _angle([line for line in _raw_lines(hocr, limits) if _is_text(line)])


def _angle(lines: list[RawLine]) -> int:
    weights: Counter[int] = Counter()
    for line in lines:
        weights[line.angle] += _length(line)
    return weights.most_common(1)[0][0] if weights else 0


def _raw_lines(hocr: bytes, limits: LiteratureSettings) -> Iterator[RawLine]:
    root = parse_xml(hocr, limits)
    for element in root.iter("{*}span"):
        words = tuple(_words(element))
        if words and element.get("class") != "ocrx_word":
            said = dict(_PROPERTY.findall(element.get("title") or ""))
            yield RawLine(
                words,
                round(float(said.get("textangle", "0"))) % 360,
                float(said.get("x_size", "0")),
                float(said.get("x_descenders", "0")),
                float(said.get("baseline", "0 0").split()[0]),
            )


def _words(line: etree._Element) -> Iterator[Word]:
    for element in line:
        if element.get("class") != "ocrx_word":
            continue
        text, title = "".join(str(part) for part in element.itertext()).strip(), element.get("title") or ""
        box = _BOX.search(title)
        trust = re.search(r"x_wconf (\d+)", title)
        if text and box is not None:
            left, top, right, bottom = (float(value) for value in box.groups())
            yield Word(text, (left, top, right, bottom), float(trust.group(1)) if trust else 100.0)


def _is_text(line: RawLine) -> bool:
    """False for what Tesseract makes of smudges and drawings."""
    trust = statistics.mean(word.trust for word in line.words)
    return trust >= _LEAST_TRUST and any(character.isalnum() for word in line.words for character in word.text)


def _length(line: RawLine) -> int:
    return sum(len(word.text) for word in line.words)


def _line(line: RawLine, turn: Callable[[Box], Box], slope: float, across: float, down: float, page: int) -> Line:
    boxes: list[Box] = []
    for word in line.words:
        left, top, right, bottom = turn(word.box)
        drop = slope * (left + right) / 2  # a page laid on the glass askew
        boxes.append((left * across, (top - drop) * down, right * across, (bottom - drop) * down))
    size = line.size * down
    low = statistics.median(box[3] for box in boxes)
    return Line(
        page,
        " ".join(word.text for word in line.words),
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
        size,
        bold=False,
        base=low,
        runs=_runs([word.text for word in line.words], boxes, size),
    )


def _runs(words: list[str], boxes: list[Box], size: float) -> tuple[tuple[float, float, str], ...]:
    runs: list[tuple[float, float, str]] = []
    for text, box in zip(words, boxes, strict=True):
        if runs and box[0] - runs[-1][1] <= _CELL_GAP * size:
            runs[-1] = (runs[-1][0], max(box[2], runs[-1][1]), f"{runs[-1][2]} {text}")
        else:
            runs.append((box[0], box[2], text))
    return tuple(runs)
