"""What is asked of an OCR engine, and what it gives back: one reading per page, whatever happens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

#: ``partial``: some blocks are used, others were lost; the reason says what. It is tried again like ``failed``.
PageStatus = Literal["ok", "partial", "blank", "failed"]
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class OcrBlock:
    """One block that an engine read: ``kind`` as in BLOCKS, text, and the box in points from the upper left corner.

    A table carries its ``rows`` of cells, the first ``header_rows`` of them its header; its text may be empty.
    """

    kind: str
    text: str
    bbox: Box | None = None
    rows: tuple[tuple[str, ...], ...] = ()
    header_rows: int = 0


@dataclass(frozen=True, slots=True)
class OcrPage:
    """What became of one page: its number from 1, how it ended, why, and its blocks in reading order.

    ``raw`` keeps every reply of the engine as it came, the last one last; ``usage`` what they cost.
    """

    page: int
    status: PageStatus
    reason: str = ""
    blocks: tuple[OcrBlock, ...] = ()
    raw: tuple[str, ...] = ()
    usage: dict[str, float] = field(default_factory=dict)

    @property
    def is_used(self) -> bool:
        """Whether its blocks become text of the paper."""
        return self.status in {"ok", "partial"} and bool(self.blocks)


@dataclass(frozen=True, slots=True)
class PageToRead:
    """One page that needs OCR: where it is, its size in points, what is wrong with its text layer (``scan``, …).

    ``layer`` is the text layer all the same: a doubled one still says which words the page holds.
    """

    path: Path
    file: str
    sha256: str
    page: int
    width: float
    height: float
    problem: str
    layer: str = ""
    #: Key in the journal: bytes, page, and all that decides the reading.
    unit: str = ""


class OcrEngine(Protocol):
    """Reads pages as pictures."""

    @property
    def name(self) -> str:
        """Engine, version and everything that decides its reading: part of the extraction id."""
        ...

    @property
    def in_flight(self) -> int:
        """Pages that may be read at the same time."""
        ...

    async def read(self, page: PageToRead) -> OcrPage:
        """The reading of ``page``. A page that fails is a reading too; only what no further page can escape (a wrong
        key, an exhausted budget) or a later try may cure (an endpoint that is down) is raised, as ``ModelFailure``.
        """
        ...


@dataclass(frozen=True, slots=True)
class FileReadings:
    """The readings of one file. Without an engine (``engine`` is empty) ``reason`` says why there is none."""

    engine: str = ""
    reason: str = ""
    pages: Mapping[int, OcrPage] = field(default_factory=dict)


NO_ENGINE = FileReadings(reason="no OCR engine is configured (literature.ocr_engine)")


@dataclass(frozen=True, slots=True)
class Readings:
    """The readings of a shard, by the hash of the file."""

    engine: str = ""
    reason: str = NO_ENGINE.reason
    by_file: Mapping[str, Mapping[int, OcrPage]] = field(default_factory=dict)

    def of(self, sha256: str) -> FileReadings:
        """The readings of one file."""
        return FileReadings(self.engine, self.reason, self.by_file.get(sha256, {}))


def as_payload(page: OcrPage) -> dict[str, Any]:
    """``page`` as plain values, for the journal."""
    return {
        "page": page.page,
        "status": page.status,
        "reason": page.reason,
        "raw": list(page.raw),
        "blocks": [
            {
                "kind": block.kind,
                "text": block.text,
                "bbox": list(block.bbox) if block.bbox else None,
                "rows": [list(row) for row in block.rows],
                "header_rows": block.header_rows,
            }
            for block in page.blocks
        ],
    }


def from_payload(payload: Mapping[str, Any]) -> OcrPage:
    """The reading that :func:`as_payload` (or a row of OCR_PAGES) wrote."""
    blocks = tuple(
        OcrBlock(
            item["kind"],
            item["text"],
            _box(item["bbox"]),
            tuple(tuple(row) for row in item["rows"] or ()),
            item["header_rows"] or 0,
        )
        for item in payload["blocks"] or ()
    )
    return OcrPage(payload["page"], payload["status"], payload["reason"] or "", blocks, tuple(payload["raw"] or ()))


def _box(values: Any) -> Box | None:
    if not values:
        return None
    left, top, right, bottom = (float(value) for value in values)
    return left, top, right, bottom
