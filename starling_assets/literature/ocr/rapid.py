"""RapidOCR: neural detection and recognition on the processor, better on symbols than Tesseract and slower."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import sys
from functools import cached_property

from starling_assets.literature.pdf_process import child_environment
from starling_assets.settings.model import LiteratureSettings

from .line_blocks import blocks_of_lines
from .line_order import Piece, ordered_lines
from .pages import OcrPage, PageToRead
from .pictures import PictureProblem, draw, run_process, size_at

_PACKAGE = "rapidocr"
_REVISION = 1
#: It looks at pictures of about 2,000 pixels; a finer one is made smaller by it.
_MOST_DPI = 200


def rapidocr_problem() -> str:
    """Why RapidOCR cannot be used; empty when it is installed."""
    if importlib.util.find_spec(_PACKAGE):
        return ""
    return "RapidOCR is not installed: install the extra ocr (`uv sync --extra ocr`)"


class RapidOcr:
    """:class:`~.pages.OcrEngine` over the package ``rapidocr``, in a process of its own per page."""

    def __init__(self, limits: LiteratureSettings) -> None:
        self._limits = limits

    @property
    def _dpi(self) -> int:
        return min(self._limits.ocr_dpi, _MOST_DPI)

    @cached_property
    def name(self) -> str:
        """Engine, its version and the resolution."""
        return f"rapidocr-{importlib.metadata.version(_PACKAGE)}.{_REVISION}/{self._dpi}dpi"

    @property
    def in_flight(self) -> int:
        """It uses all cores for one page."""
        return 1

    async def read(self, page: PageToRead) -> OcrPage:
        """The reading of ``page``."""
        try:
            picture = await draw(page, size_at(page, self._dpi, self._limits.ocr_pixels), self._limits, colour=True)
        except PictureProblem as problem:
            return OcrPage(page.page, "failed", str(problem))
        if picture.is_blank:
            return OcrPage(page.page, "blank", "the page shows nothing")
        seconds = self._limits.ocr_seconds
        command = [sys.executable, "-m", "starling_assets.literature.ocr.rapid_child"]
        code, output, errors = await run_process(command, picture.png, seconds, child_environment())
        if code is None:
            return OcrPage(page.page, "failed", f"RapidOCR took longer than {seconds:g} s (literature.ocr_seconds)")
        raw = output.decode(errors="replace")
        try:
            found = json.loads(raw) if code == 0 else None
        except ValueError:
            found = None
        if not isinstance(found, list):
            said = errors.decode(errors="replace").strip().split("\n")[-1][:200]
            return OcrPage(page.page, "failed", f"RapidOCR ended with code {code}: {said}", raw=(raw,))
        pieces = [Piece(*picture.box_in_points(item[:4], page), item[4]) for item in found if item[4].strip()]
        lines = ordered_lines(pieces, page.page, page.width)
        blocks = blocks_of_lines(lines, page.page, page.width, page.height)
        if not blocks:
            return OcrPage(page.page, "blank", "no text was found on the page", raw=(raw,))
        return OcrPage(page.page, "ok", "", blocks, (raw,))
