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
#: A caption set beside its table has at most this many lines.
_CAPTION_LINES = 16


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
    columns, labels = _columns(region)
    if len(columns) < 2 or len(region) < 2 or sum(len(line.runs) > 1 for line in region) < 2:
        return start, None
    rows, bases = _rows(region, columns, labels)
    if len(rows) < 2:
        return start, None
    header_rows = _header_rows(rows)
    return end, PageTable(_labelled(rows, bases, header_rows), header_rows, region)


def beside_table(lines: Sequence[Line], index: int) -> bool:
    """Whether the line at ``index`` stands left of the table that follows, where some publishers set the caption."""
    line = lines[index]
    if len(line.runs) > 1:
        return False
    first = next((other for other in lines[index + 1 : index + _CAPTION_LINES] if len(other.runs) > 1), None)
    # A header of several lines stands above the first row that has gaps, a caption beside the table does not.
    return first is not None and line.x1 < first.x0 and first.base < line.base - 0.1 * line.size


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
    second = min((other.runs[1][0] for other in region if len(other.runs) > 1), default=0.0)
    if line.x1 < second and line.size < body_size * 0.97:
        return False  # a long label, in print as small as the table's
    left = min((other.x0 for other in region), default=line.x0)
    width = max((other.x1 for other in region), default=line.x1) - left
    return line.x0 < left + body_size and line.x1 - line.x0 > 0.6 * width


def _columns(region: Sequence[Line]) -> tuple[list[tuple[float, float]], int]:
    """Left and right edges of the columns, and how many at the left hold labels only.

    A column is what text covers, between gaps that nearly every row leaves open.
    """
    parted = [line for line in region if len(line.runs) > 1]
    # Headers reach over several columns: rows with numbers show best where the columns are.
    numeric = [line for line in parted if _numbers([run[2] for run in line.runs]) > 1]
    if len(numeric) <= 2:
        return _covered([run for line in parted for run in line.runs], len(parted)), 0
    columns = _covered([run for line in numeric for run in line.runs], len(numeric))
    if not columns:
        return [], 0
    # Labels that stand beside several rows are lines of their own, left of all rows with numbers.
    beside = [run for line in region for run in line.runs if run[1] < columns[0][0]]
    labels = _covered(beside, 0) if len(beside) > 2 else []
    return [*labels, *columns], len(labels)


def _covered(runs: Sequence[tuple[float, float, str]], lines: int) -> list[tuple[float, float]]:
    if not runs:
        return []
    left, right = min(run[0] for run in runs), max(run[1] for run in runs)
    cover = [0] * (int(right - left) + 2)
    for x0, x1, _ in runs:
        for point in range(int(x0 - left), int(x1 - left) + 1):
            cover[point] += 1
    allowed = round(0.06 * lines)
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


def _numbers(cells: Sequence[str]) -> int:
    return sum(bool(_NUMBER.match(cell)) for cell in cells)


def _rows(
    region: Sequence[Line], columns: Sequence[tuple[float, float]], labels: int
) -> tuple[list[list[str]], list[float]]:
    """Rows of cells, and where on the page each one stands."""
    grouped: list[list[Line]] = []
    for line in sorted(region, key=lambda line: (round(line.base, 1), line.x0)):
        if grouped and abs(line.base - grouped[-1][0].base) < 0.45 * max(line.size, 6.0):
            grouped[-1].append(line)
        else:
            grouped.append([line])
    beside: list[list[tuple[float, str]]] = []
    if labels:
        grouped, beside = _set_apart(grouped, columns, labels)
    tight = _tight_pitch(grouped)
    rows: list[list[str]] = []
    bases: list[float] = []
    base = 0.0
    for lines in grouped:
        cells = _cells(lines, columns)
        close = lines[0].base - base < abs(tight)
        filled = sum(map(bool, cells))
        both_numeric = rows and _numbers(cells) > 1 and _numbers(rows[-1]) > 1
        if rows and close and not both_numeric and (tight > 0 or (not cells[0] and 2 * filled <= len(columns))):
            rows[-1] = [_joined(above, below) for above, below in zip(rows[-1], cells, strict=True)]
        elif filled:
            alone = filled == 1 and not cells[0]
            rows.append([next(filter(None, cells)), *[""] * (len(cells) - 1)] if alone else cells)
            bases.append(lines[0].base)
        base = lines[0].base
    for column, items in enumerate(beside):
        _put_beside(rows, bases, column, items)
    return rows, bases


def _set_apart(
    grouped: list[list[Line]], columns: Sequence[tuple[float, float]], labels: int
) -> tuple[list[list[Line]], list[list[tuple[float, str]]]]:
    """Lines of rows, and for each label column its texts with the height of their middle, apart from any row.

    Only where rows with numbers have no label of their own: elsewhere lines that stand alone are headings or the rest
    of a row.
    """
    cells = [_cells(lines, columns) for lines in grouped]
    first = next((number for number, row in enumerate(cells) if _numbers(row[labels:])), 0)
    rows = [number for number in range(first, len(grouped)) if any(cells[number][labels:])]
    bare = [number for number in rows if not any(cells[number][:labels])]
    alone = [number for number in range(first, len(grouped)) if number not in rows]
    # The first label may stand above the first row of numbers of its group.
    while first > 0 and not any(cells[first - 1][labels:]):
        first -= 1
        alone.insert(0, first)
    if len(bare) * 2 < len(rows) or not alone:
        return grouped, []
    beside: list[list[tuple[float, str]]] = [[] for _ in range(labels)]
    for column in range(labels):
        for number in alone:
            line = grouped[number][0]
            text = cells[number][column]
            if not text:
                continue
            if beside[column] and line.base - beside[column][-1][0] < 1.4 * line.size:
                above, words = beside[column][-1]
                beside[column][-1] = ((above + line.base) / 2, _joined(words, text))
            else:
                beside[column].append((line.base, text))
    return [lines for number, lines in enumerate(grouped) if number not in alone], beside


def _put_beside(rows: list[list[str]], bases: Sequence[float], column: int, items: Sequence[tuple[float, str]]) -> None:
    """Give each row below the first label's reach the label whose middle is nearest."""
    if not items:
        return
    begin = next((number for number, row in enumerate(rows) if _numbers(row)), len(rows))
    for number in range(begin, len(rows)):
        if not rows[number][column]:
            rows[number][column] = min(items, key=lambda item: abs(item[0] - bases[number]))[1]


def _labelled(rows: list[list[str]], bases: Sequence[float], header_rows: int) -> list[list[str]]:
    """The rows, each with the label that it shares with its neighbours.

    A label that stands for several rows is printed once: at the first of them, or in their middle. It is in the middle
    where the first row has none.
    """
    body = range(header_rows, len(rows))
    labels = [number for number in body if rows[number][0] and any(rows[number][1:])]
    open_rows = [number for number in body if not rows[number][0] and sum(map(bool, rows[number])) * 2 >= len(rows[0])]
    if not labels or not open_rows:
        return rows
    centred = open_rows[0] < labels[0]
    out = [list(row) for row in rows]
    for number in open_rows:
        before = [label for label in labels if label < number]
        if centred:
            out[number][0] = rows[min(labels, key=lambda label: abs(bases[label] - bases[number]))][0]
        elif before and all(any(rows[between][1:]) for between in range(before[-1], number)):
            out[number][0] = rows[before[-1]][0]
    return out


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
