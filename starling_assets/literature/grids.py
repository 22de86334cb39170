"""Tables as grids: spans expanded, header levels joined, one line of text per row that carries its headers.

A cell cannot reach past the last row of its row group (CSS 2.1 table model), so a ``rowspan`` that is too large adds
no row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from .text import clean
from .xml import local_name

#: A block of a table holds at most this many rows and code points; longer tables continue in further blocks.
ROWS_PER_BLOCK = 20
CHARACTERS_PER_BLOCK = 2_400
_MAX_SPAN = 1_000
_MAX_CELLS = 200_000
#: Attributes that can stretch a cell where no columns are declared; most cells have others or none.
_SPANNING: frozenset[str | bytes] = frozenset({"colspan", "cspan", "rowspan", "rspan", "morerows"})
#: Written for "no value"; they are neither a number nor zero.
NO_VALUE = frozenset(
    {"", "-", "–", "—", "−", "‐", "‑", "n/a", "na", "n.a.", "nd", "n.d.", "not tested", "nt", "n.t.", "…", "..."}
)

TextOf = Callable[[Any], str]  # of an lxml element


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell as written; the positions it spans all hold this same object."""

    text: str
    is_header: bool = False
    notes: tuple[str, ...] = ()  # ids of the footnotes its marks point to

    @property
    def has_value(self) -> bool:
        """False for an empty cell, a dash or words for "not measured"."""
        return self.text.casefold() not in NO_VALUE


EMPTY = Cell("")


@dataclass(slots=True)
class Grid:
    """A table: ``header`` and ``body`` rows of equal width. A spanned cell appears at each of its positions."""

    header: list[list[Cell]] = field(default_factory=list)
    body: list[list[Cell]] = field(default_factory=list)

    @property
    def width(self) -> int:
        """Number of columns."""
        return max((len(row) for row in (*self.header, *self.body)), default=0)

    def column_names(self) -> list[str]:
        """Header of each column, its levels joined by `` / ``, a repeated level written once."""
        names = []
        for column in range(self.width):
            levels: list[str] = []
            for row in self.header:
                text = row[column].text if column < len(row) else ""
                if text and (not levels or levels[-1] != text):
                    levels.append(text)
            names.append(" / ".join(levels))
        return names

    def lines(self) -> Iterator[tuple[str, bool]]:
        """Each body row as text (see :func:`linearised`), and whether it is a heading of rows."""
        names = self.column_names()
        for row in self.body:
            line = linearised(row, names)
            if line:
                yield line, is_heading(row)


def linearised(row: Sequence[Cell], names: Sequence[str]) -> str:
    """One body row as text: ``header: cell | header: cell``; empty cells are left out, spanned ones written once."""
    if is_heading(row):
        return row[0].text
    parts: list[str] = []
    column = 0
    while column < len(row):
        cell = row[column]
        first = column
        while column + 1 < len(row) and row[column + 1] is cell and cell is not EMPTY:
            column += 1
        column += 1
        if cell.text:
            headers = names[first:column]
            if len(headers) > 1 or "" in headers:
                headers = list(dict.fromkeys(name for name in headers if name))
            parts.append(f"{', '.join(headers)}: {cell.text}" if headers else cell.text)
    return " | ".join(parts)


def is_heading(row: Sequence[Cell]) -> bool:
    """Whether a body row is a heading: one cell across all columns, or a first cell and nothing else."""
    if len(row) < 2 or not row[0].text:
        return False
    return all(cell is row[0] for cell in row) or (len(row) > 2 and not any(cell.text for cell in row[1:]))


def read_grid(table: etree._Element, text_of: TextOf) -> Grid:
    """The grid of an XHTML ``table`` or an OASIS ``tgroup`` (also BioMed Central's ``tblbdy``)."""
    groups: list[tuple[bool, list[list[Cell]]]] = []
    columns = _column_numbers(table)
    loose: list[etree._Element] = []
    for child in table:
        tag = local_name(child.tag)
        if tag in {"thead", "tbody", "tfoot"}:
            if loose:
                groups.append((False, _expand(loose, columns, text_of)))
                loose = []
            rows = [row for row in child if local_name(row.tag) in {"tr", "row"}]
            groups.append((tag == "thead", _expand(rows, columns, text_of)))
        elif tag in {"tr", "row", "r"}:
            loose.append(child)
    if loose:
        groups.append((False, _expand(loose, columns, text_of)))
    return _grid_of(groups)


def grid_of_rows(rows: Sequence[Sequence[str]], header_rows: int) -> Grid:
    """A grid from plain rows of text (tables found on a page)."""
    cells = [[Cell(clean(text)) for text in row] for row in rows]
    width = max((len(row) for row in cells), default=0)
    padded = [row + [EMPTY] * (width - len(row)) for row in cells]
    return Grid(padded[:header_rows], padded[header_rows:])


def _grid_of(groups: list[tuple[bool, list[list[Cell]]]]) -> Grid:
    header = [row for is_head, rows in groups if is_head for row in rows]
    body = [row for is_head, rows in groups if not is_head for row in rows]
    if not header:
        taken = 0
        while taken < len(body) and _looks_like_header(body[taken]):
            taken += 1
        if taken == 0 and len(body) > 1 and _names_columns(body):
            taken = 1
        header, body = body[:taken], body[taken:]
    width = max((len(row) for row in (*header, *body)), default=0)
    pad = [EMPTY] * width
    return Grid([(row + pad)[:width] for row in header], [(row + pad)[:width] for row in body])


def _looks_like_header(row: list[Cell]) -> bool:
    return bool(row) and all(cell.is_header or cell is EMPTY for cell in row)


def _names_columns(body: list[list[Cell]]) -> bool:
    """Whether the first row has words where the rows below have numbers."""
    first = body[0]
    if any(_numeric(cell.text) for cell in first) or sum(bool(cell.text) for cell in first) < 2:
        return False
    return any(_numeric(cell.text) for row in body[1:] for cell in row[1:])


def _numeric(text: str) -> bool:
    digits = sum(character.isdigit() for character in text)
    return digits > 0 and digits * 2 >= len(text.replace(" ", ""))


def _expand(rows: list[etree._Element], columns: dict[str, int], text_of: TextOf) -> list[list[Cell]]:
    """Cells of one row group at all positions they span; a span ends with the group."""
    placed: dict[tuple[int, int], Cell] = {}
    width = 0
    for y, row in enumerate(rows):
        x = 0
        for element in row:
            tag = local_name(element.tag)
            if tag not in {"td", "th", "entry", "c"}:
                continue
            if columns:
                x = columns.get(element.get("namest") or element.get("colname") or "", x)
            while (y, x) in placed:
                x += 1
            across = down = 1
            keys = element.keys()
            if columns or not _SPANNING.isdisjoint(keys):
                across, down = _spans(element, columns, x) if keys else (1, 1)
                down = min(down, len(rows) - y)
            if len(placed) + across * down > _MAX_CELLS:
                break
            cell = Cell(clean(text_of(element)), tag == "th", _note_ids(element) if len(element) else ())
            if across == down == 1:
                placed[y, x] = cell  # free: looked up above
            else:
                for dy in range(down):
                    for dx in range(across):
                        placed.setdefault((y + dy, x + dx), cell)
            x += across
            width = max(width, x)
    return [[placed.get((y, x), EMPTY) for x in range(width)] for y in range(len(rows))]


def _spans(element: etree._Element, columns: dict[str, int], x: int) -> tuple[int, int]:
    across = _number(element.get("colspan") or element.get("cspan"), 1)
    last = columns.get(element.get("nameend") or "")
    if last is not None:
        across = max(1, last - x + 1)
    down = _number(element.get("rowspan") or element.get("rspan"), 1)
    if element.get("morerows"):
        down = _number(element.get("morerows"), 0) + 1
    return across, down


def _number(text: str | None, default: int) -> int:
    if not text or text == "1":
        return 1 if text else default
    stripped = text.strip()
    # rowspan="0" means "to the end of the group"
    value = int(stripped) if stripped.isdecimal() else default
    return min(value, _MAX_SPAN) if value > 0 else _MAX_SPAN if stripped == "0" else default


def _column_numbers(table: etree._Element) -> dict[str, int]:
    return {
        spec.get("colname", ""): number
        for number, spec in enumerate(child for child in table if local_name(child.tag) == "colspec")
    }


def _note_ids(element: etree._Element) -> tuple[str, ...]:
    return tuple(
        name
        for xref in element.iter("{*}xref", "xref")
        if xref.get("ref-type") in {"table-fn", "fn"}
        for name in (xref.get("rid") or "").split()
    )
