"""Tesseract: fast, good on clean prose, loses symbols. Its command line program is called once per page."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cached_property
from typing import Final

from starling_assets.literature.pdf_process import child_environment
from starling_assets.literature.xml import BadSource
from starling_assets.settings.model import LiteratureSettings

from .hocr import angle_of, lines_of, upright
from .line_blocks import blocks_of_lines
from .pages import OcrPage, PageToRead
from .pictures import PictureProblem, draw, run_process, size_at

PROGRAM: Final = "tesseract"
#: Its arithmetic may differ from release to release: what this module makes of it has a number of its own.
_REVISION = 1


def tesseract_problem() -> str:
    """Why Tesseract cannot be used; empty when it is installed."""
    return "" if shutil.which(PROGRAM) else "Tesseract is not installed (Debian: apt install tesseract-ocr)"


class Tesseract:
    """:class:`~.pages.OcrEngine` over the command line program."""

    def __init__(self, limits: LiteratureSettings) -> None:
        self._limits = limits

    @cached_property
    def name(self) -> str:
        """Engine, its version, languages and resolution."""
        version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True, timeout=60)
        release = version.stdout.split("\n", 1)[0].removeprefix(PROGRAM).strip()
        return f"tesseract-{release}.{_REVISION}/{self._limits.ocr_languages}/{self._limits.ocr_dpi}dpi"

    @property
    def in_flight(self) -> int:
        """One page per core."""
        return os.cpu_count() or 1

    async def read(self, page: PageToRead) -> OcrPage:
        """The reading of ``page``."""
        limits = self._limits
        try:
            picture = await draw(page, size_at(page, limits.ocr_dpi, limits.ocr_pixels), limits)
        except PictureProblem as problem:
            return OcrPage(page.page, "failed", str(problem))
        if picture.is_blank:
            return OcrPage(page.page, "blank", "the page shows nothing")
        # Page segmentation 1 finds out by itself which way up the page is.
        command = [PROGRAM, "stdin", "stdout", "--psm", "1", "--dpi", str(limits.ocr_dpi), "-l", limits.ocr_languages]
        code, output, errors = await run_process(
            [*command, "hocr"], picture.png, limits.ocr_seconds, child_environment(OMP_THREAD_LIMIT="1")
        )
        if code is None:
            return OcrPage(
                page.page, "failed", f"Tesseract took longer than {limits.ocr_seconds:g} s (literature.ocr_seconds)"
            )
        if code != 0:
            said = errors.decode(errors="replace").strip().split("\n")[-1][:200]
            return OcrPage(page.page, "failed", f"Tesseract ended with code {code}: {said}")
        raw = output.decode(errors="replace")
        try:
            lines = lines_of(output, picture, page, limits)
            angle = angle_of(output, limits)
        except BadSource as error:
            return OcrPage(page.page, "failed", f"Tesseract's reply cannot be read: {error.reason}", raw=(raw,))
        width, height = (page.height, page.width) if angle in {90, 270} else (page.width, page.height)
        back = upright(360 - angle, width, height)
        blocks = blocks_of_lines(lines, page.page, width, height, back)
        if not blocks:
            return OcrPage(page.page, "blank", "no text was found on the page", raw=(raw,))
        return OcrPage(page.page, "ok", "", blocks, (raw,))
