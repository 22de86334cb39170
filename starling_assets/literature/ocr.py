"""What the literature room asks of an OCR engine. Engines are resources; this room only knows the protocol."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

PageStatus = Literal["ok", "blank", "failed"]


@dataclass(frozen=True)
class OcrBlock:
    """One block that an engine read: ``kind`` as in BLOCKS, text, and the box in points from the upper left corner."""

    kind: str
    text: str
    bbox: tuple[float, float, float, float] | None = None


@dataclass(frozen=True)
class OcrPage:
    """What became of one page: its number from 1, how it ended, why it failed, and its blocks in reading order."""

    page: int
    status: PageStatus
    reason: str = ""
    blocks: tuple[OcrBlock, ...] = ()


class OcrEngine(Protocol):
    """Reads pages of a file as pictures. ``name`` carries the version: it is part of the extraction id."""

    name: str

    def read(self, path: Path, pages: list[int]) -> list[OcrPage]:
        """One :class:`OcrPage` per number in ``pages``, whatever happens; a page that fails never stops the others."""
        ...
