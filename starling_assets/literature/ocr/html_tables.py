"""Tables that a model writes as HTML, well-formed or not, as rows of cells with every span filled in."""

from __future__ import annotations

from html.parser import HTMLParser

from lxml import etree

from starling_assets.literature.grids import Grid, read_grid

_CELLS = frozenset({"td", "th"})
_GROUPS = frozenset({"thead", "tbody", "tfoot"})
_BREAKS = frozenset({"br", "p", "div", "li"})


class _TableBuilder(HTMLParser):
    """Builds an element tree of tables, rows and cells only; everything else counts for its text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.table = etree.Element("table")
        self._group: etree._Element | None = None
        self._row: etree._Element | None = None
        self._cell: etree._Element | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open what is part of a table; a cell or row that was left open is closed by the next one."""
        if tag in _GROUPS:
            self._group = etree.SubElement(self.table, tag)
            self._row = self._cell = None
        elif tag == "tr":
            self._row = etree.SubElement(self._group if self._group is not None else self.table, "tr")
            self._cell = None
        elif tag in _CELLS:
            if self._row is None:
                self._row = etree.SubElement(self._group if self._group is not None else self.table, "tr")
            spans = {name: value for name, value in attrs if name in {"colspan", "rowspan"} and value}
            self._cell = etree.SubElement(self._row, tag, spans)
            self._cell.text = ""
        elif tag in _BREAKS:
            self.handle_data(" ")
        elif tag == "sup" and self._cell is not None and (self._cell.text or "")[-1:].isdigit():
            self.handle_data("^")  # a power, not an index

    def handle_endtag(self, tag: str) -> None:
        """Close a cell, row or group."""
        if tag in _CELLS:
            self._cell = None
        elif tag == "tr":
            self._row = self._cell = None
        elif tag in _GROUPS:
            self._group = self._row = self._cell = None

    def handle_data(self, data: str) -> None:
        """Text counts inside cells only. Control characters cannot stand in an element tree and mean nothing."""
        if self._cell is not None:
            kept = "".join(character for character in data if character >= " " or character in "\t\n")
            self._cell.text = f"{self._cell.text or ''}{kept}"


def rows_of_html(html: str) -> tuple[tuple[tuple[str, ...], ...], int]:
    """Rows of equal width and how many of them are the header; no rows where ``html`` holds no table."""
    builder = _TableBuilder()
    builder.feed(html)
    builder.close()
    grid = read_grid(builder.table, lambda cell: cell.text or "")
    return _texts(grid), len(grid.header)


def _texts(grid: Grid) -> tuple[tuple[str, ...], ...]:
    rows: list[tuple[str, ...]] = [tuple(cell.text for cell in row) for row in grid.header]
    for row in grid.body:
        # One cell across all columns is a heading of rows: its words stand once, in the first column.
        across = len(row) > 1 and all(cell is row[0] for cell in row)
        rows.append((row[0].text, *[""] * (len(row) - 1)) if across else tuple(cell.text for cell in row))
    return tuple(rows)
