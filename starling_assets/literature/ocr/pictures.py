"""Pages as pictures: how large, and drawn in a child process of their own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from starling_assets.literature.pdf_process import child_environment, cpu_seconds, explain_exit
from starling_assets.settings.model import LiteratureSettings

from .pages import Box, PageToRead

POINTS_PER_INCH = 72.0
#: Share of points other than paper below which a page shows nothing that could be read: a speck, the shadow of a fold.
BLANK_INK = 0.0002


class PictureProblem(Exception):
    """Why a page has no picture; one line for a person."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A page as PNG, its size in pixels, and the share of its points that are not paper."""

    png: bytes
    width: int
    height: int
    ink: float

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to read. Models write fiction on blank pages: they are not asked."""
        return self.ink < BLANK_INK

    def box_in_points(self, box: Sequence[float], page: PageToRead) -> Box:
        """A box of this picture's pixels as points of the page, kept inside it."""
        across, down = page.width / self.width, page.height / self.height
        left, right = sorted((_within(box[0] * across, page.width), _within(box[2] * across, page.width)))
        top, bottom = sorted((_within(box[1] * down, page.height), _within(box[3] * down, page.height)))
        return round(left, 1), round(top, 1), round(right, 1), round(bottom, 1)


def size_at(page: PageToRead, dpi: float, most_pixels: int) -> tuple[int, int]:
    """Width and height in pixels of ``page`` at ``dpi``, made smaller where that is more than ``most_pixels``."""
    scale = dpi / POINTS_PER_INCH
    wanted = page.width * page.height * scale * scale
    if wanted > most_pixels:
        scale *= math.sqrt(most_pixels / wanted)
    return max(1, int(page.width * scale)), max(1, int(page.height * scale))


async def draw(page: PageToRead, size: tuple[int, int], limits: LiteratureSettings, *, colour: bool = False) -> Picture:
    """The picture of ``page`` at exactly ``size`` pixels. Raises :class:`PictureProblem`."""
    arguments = [
        "-m", "starling_assets.literature.ocr.picture_child", str(page.path.resolve()), str(page.page), str(size[0]),
        str(size[1]), "colour" if colour else "grey", str(limits.pdf_memory_bytes), str(cpu_seconds(limits)),
    ]  # fmt: skip
    code, output, _ = await run_process([sys.executable, *arguments], b"", limits.pdf_seconds, child_environment())
    if code is None:
        raise PictureProblem(f"drawing the page took longer than {limits.pdf_seconds:g} s (literature.pdf_seconds)")
    head, _, png = output.partition(b"\n")
    if code != 0:
        raise PictureProblem(explain_exit(code, limits))
    try:
        said = json.loads(head)
    except ValueError:
        raise PictureProblem("drawing the page gave no answer") from None
    if "problem" in said:
        raise PictureProblem(said["problem"])
    return Picture(png, size[0], size[1], float(said["ink"]))


async def run_process(
    command: Sequence[str], stdin: bytes, seconds: float, environment: dict[str, str]
) -> tuple[int | None, bytes, bytes]:
    """Exit code, standard output and standard error. The code is ``None`` when the time was over.

    The process is killed when the time is over or when this task is cancelled.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(seconds):
            output, errors = await process.communicate(stdin)
    except TimeoutError:
        return None, b"", b""
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return process.returncode, output, errors


def _within(value: float, most: float) -> float:
    return min(max(value, 0.0), most)
