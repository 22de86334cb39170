"""Pieces of text found anywhere on a page, put together to lines and into reading order."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from starling_assets.literature.pdf_lines import Line

#: Pieces wider than this share of the page run across both columns.
_WIDE = 0.55
_FEWEST = 5
#: A detected box is this much higher than the letters' size.
_BOX_TO_SIZE = 1.25


@dataclass(frozen=True, slots=True)
class Piece:
    """Text in one box; coordinates in points from the page's upper left corner."""

    x0: float
    y0: float
    x1: float
    y1: float
    text: str

    @property
    def middle(self) -> float:
        """Height at which it stands."""
        return (self.y0 + self.y1) / 2


def ordered_lines(pieces: Sequence[Piece], page: int, width: float) -> list[Line]:
    """Lines in reading order: down the left column, then the right one, each stretch between lines across both."""
    middle = _gutter(pieces, width)
    if middle is None:
        return _lines(pieces, page)
    out: list[Line] = []
    left: list[Piece] = []
    right: list[Piece] = []
    for piece in sorted(pieces, key=lambda piece: (piece.middle, piece.x0)):
        if piece.x0 < middle < piece.x1:
            out += [*_lines(left, page), *_lines(right, page), *_lines([piece], page)]
            left, right = [], []
        else:
            (left if piece.x1 <= middle else right).append(piece)
    return [*out, *_lines(left, page), *_lines(right, page)]


def _gutter(pieces: Sequence[Piece], width: float) -> float | None:
    """Where the gap between two columns runs; ``None`` for a page of one."""
    wide = [piece for piece in pieces if piece.x1 - piece.x0 > _WIDE * width]
    left = [piece.x1 for piece in pieces if piece.x1 <= width * 0.53 and len(piece.text) > 20]
    right = [piece.x0 for piece in pieces if piece.x0 >= width * 0.47 and len(piece.text) > 20]
    if len(left) < _FEWEST or len(right) < _FEWEST or len(wide) > min(len(left), len(right)):
        return None
    return (statistics.median(left) + statistics.median(right)) / 2


def _lines(pieces: Sequence[Piece], page: int) -> list[Line]:
    """Pieces that stand at one height, from left to right, as one line whose runs they are."""
    rows: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda piece: (piece.middle, piece.x0)):
        if rows and abs(piece.middle - rows[-1][0].middle) < 0.4 * (rows[-1][0].y1 - rows[-1][0].y0):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [_line(sorted(row, key=lambda piece: piece.x0), page) for row in rows]


def _line(row: list[Piece], page: int) -> Line:
    low = statistics.median(piece.y1 for piece in row)
    size = statistics.median(piece.y1 - piece.y0 for piece in row) / _BOX_TO_SIZE
    return Line(
        page,
        " ".join(piece.text for piece in row),
        row[0].x0,
        min(piece.y0 for piece in row),
        max(piece.x1 for piece in row),
        max(piece.y1 for piece in row),
        size,
        bold=False,
        base=low,
        runs=tuple((piece.x0, piece.x1, piece.text) for piece in row),
    )
