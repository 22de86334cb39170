"""Tables of a page: what follows a table's caption, its columns found from the gaps that all rows share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .pdf_lines import HYPHENS, Line

CAPTION = re.compile(r"^(?:TABLE|Table|Supplementary Table|Tab\.)\s*(?:S?\d+|[IVX]+)\b")
_NUMBER = re.compile(r"^[<>≤≥~±\-−–+(]*\d")
_MAX_ROWS = 400
_MAX_HEADER = 4
_END_OF_TEXT = 45


@dataclass(frozen=True, slots=True)
class PageTable:
    """Rows of text of one table, the first ``header_rows`` of them its header, and the lines they were read from."""

    rows: list[list[str]]
    header_rows: int
    lines: list[Line]


def table_after(lines: Sequence[Line], start: int, body_size: float) -> tuple[int, PageTable | None]:
    """The table whose lines begin at ``start`` and the index of the first line after it; None when there is no grid."""
    end = start
    region: list[Line] = []
    while end < len(lines) and len(region) < _MAX_ROWS and not _ends(lines[end], region, body_size):
        region.append(lines[end])
        end += 1
    columns = _columns(region)
    if len(columns) < 2 or len(region) < 2 or sum(len(line.runs) > 1 for line in region) < 2:
        return start, None
    rows = _rows(region, columns)
    if len(rows) < 2:
        return start, None
    return end, PageTable(rows, _header_rows(rows), region)


def _ends(line: Line, region: Sequence[Line], body_size: float) -> bool:
    text = line.text.strip()
    if region and line.page != region[-1].page:
        return True
    if CAPTION.match(text) or re.match(r"^(?:Fig(?:ure|\.)|FIGURE|FIG\.)\s*\d", text):
        return True
    if len(line.runs) > 1:
        return False
    if region and line.base < min(other.base for other in region) - 3 * body_size:
        return True  # back up the page: another column begins
    if line.size >= body_size * 0.97 and line.size > max((other.size for other in region), default=line.size) * 1.05:
        return True  # running text again
    if len(text) <= _END_OF_TEXT:
        return line.size >= body_size * 1.12
    left = min((other.x0 for other in region), default=line.x0)
    width = max((other.x1 for other in region), default=line.x1) - left
    return line.x0 < left + body_size and line.x1 - line.x0 > 0.6 * width


def _columns(region: Sequence[Line]) -> list[tuple[float, float]]:
    """Left and right edges of the columns: what text covers, between gaps that nearly every row leaves open."""
    parted = [line for line in region if len(line.runs) > 1]
    # Headers reach over several columns: rows with numbers show best where the columns are.
    numeric = [line for line in parted if sum(bool(_NUMBER.match(run[2])) for run in line.runs) > 1]
    parted = numeric if len(numeric) > 2 else parted
    runs = [run for line in parted for run in line.runs]
    if not runs:
        return []
    left, right = min(run[0] for run in runs), max(run[1] for run in runs)
    cover = [0] * (int(right - left) + 2)
    for x0, x1, _ in runs:
        for point in range(int(x0 - left), int(x1 - left) + 1):
            cover[point] += 1
    allowed = round(0.06 * len(parted))
    columns: list[tuple[float, float]] = []
    begin: int | None = None
    for point, count in enumerate([*cover, 0]):
        if count > allowed and begin is None:
            begin = point
        elif count <= allowed and begin is not None:
            if columns and left + begin - columns[-1][1] < 2.0:
                columns[-1] = (columns[-1][0], left + point)
            else:
                columns.append((left + begin, left + point))
            begin = None
    return columns


def _rows(region: Sequence[Line], columns: Sequence[tuple[float, float]]) -> list[list[str]]:
    grouped: list[list[Line]] = []
    for line in sorted(region, key=lambda line: (round(line.base, 1), line.x0)):
        if grouped and abs(line.base - grouped[-1][0].base) < 0.45 * max(line.size, 6.0):
            grouped[-1].append(line)
        else:
            grouped.append([line])
    tight = _tight_pitch(grouped)
    rows: list[list[str]] = []
    base = 0.0
    for lines in grouped:
        cells = _cells(lines, columns)
        close = lines[0].base - base < abs(tight)
        filled = sum(map(bool, cells))
        if rows and close and (tight > 0 or (not cells[0] and 2 * filled <= len(columns))):
            rows[-1] = [_joined(above, below) for above, below in zip(rows[-1], cells, strict=True)]
        elif filled:
            alone = filled == 1 and not cells[0]
            rows.append([next(filter(None, cells)), *[""] * (len(cells) - 1)] if alone else cells)
        base = lines[0].base
    return rows


def _tight_pitch(grouped: Sequence[Sequence[Line]]) -> float:
    """Distance under which a line belongs to the row above; negative when rows are not set apart at all."""
    pitches = sorted(right[0].base - left[0].base for left, right in pairwise(grouped))
    if not pitches:
        return 0.0
    small, large = pitches[len(pitches) // 5], pitches[(len(pitches) * 3) // 5]
    return small * 1.2 if large > small * 1.25 else -small * 1.2


def _cells(lines: Sequence[Line], columns: Sequence[tuple[float, float]]) -> list[str]:
    cells = [""] * len(columns)
    for line in lines:
        for x0, x1, text in line.runs or ((line.x0, line.x1, line.text),):
            overlaps = [min(x1, right) - max(x0, left) for left, right in columns]
            place = max(range(len(columns)), key=overlaps.__getitem__)
            cells[place] = _joined(cells[place], text)
    return cells


def _joined(above: str, below: str) -> str:
    below = below.strip()
    if above and above[-1] in HYPHENS:
        return above[:-1] + below
    return f"{above} {below}".strip()


def _header_rows(rows: Sequence[Sequence[str]]) -> int:
    for number, row in enumerate(rows[: _MAX_HEADER + 1]):
        if any(_NUMBER.match(cell) for cell in row[1:]):
            return max(1, number)
    return 1
