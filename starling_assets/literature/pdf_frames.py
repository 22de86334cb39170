"""Which way up a page is read: PDF coordinates to points from the upper left corner of the upright text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

Corners = tuple[float, float, float, float]
_QUARTER = math.pi / 2
_TOLERANCE = 0.2


def quarter(angle: float) -> int | None:
    """pdfium's ``angle`` (radians) as 0, 90, 180 or 270 degrees counterclockwise; ``None`` for text set aslant."""
    turns = round(-angle / _QUARTER)  # pdfium counts clockwise
    return turns % 4 * 90 if abs(angle + turns * _QUARTER) <= _TOLERANCE else None


def reading_angle(angles: Iterable[tuple[float, int]]) -> int:
    """The angle most of a page is written at, from the angle and the length of each line."""
    weights: Counter[int] = Counter()
    for angle, length in angles:
        turned = quarter(angle)
        if turned is not None:
            weights[turned] += length
    # A tie goes to the usual angle.
    return max(weights, key=lambda turned: (weights[turned], -turned)) if weights else 0


@dataclass(frozen=True, slots=True)
class Frame:
    """An unrotated page of ``width`` × ``height`` points whose lower left corner is (``left``, ``bottom``), and the
    ``angle`` in degrees, counterclockwise, at which it is written.
    """

    width: float
    height: float
    left: float = 0.0
    bottom: float = 0.0
    angle: int = 0

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the upright page."""
        return (self.height, self.width) if self.angle in {90, 270} else (self.width, self.height)

    def box(self, left: float, bottom: float, right: float, top: float) -> Corners:
        """A box of PDF coordinates as left, upper, right and lower edge of the upright page."""
        left, right = left - self.left, right - self.left
        bottom, top = bottom - self.bottom, top - self.bottom
        if self.angle == 0:
            return left, self.height - top, right, self.height - bottom
        if self.angle == 90:
            return bottom, left, top, right
        if self.angle == 180:
            return self.width - right, bottom, self.width - left, top
        return self.height - top, self.width - right, self.height - bottom, self.width - left
