"""dots.ocr: a vision model behind an OpenAI-compatible endpoint, one request per page, distrusted on every point.

Its known failures are endless repetition, broken or cut-off JSON, fiction on pages that show little, and columns read
in the wrong order. Each is detected here; a page that failed is shown again in another way, and what could be saved of
the tries is kept with a reason.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from starling_assets.artifacts.keys import sha256_hex
from starling_assets.inference.calls import UNUSABLE, FailureKind, ModelFailure, Role, Usage
from starling_assets.inference.pictures import PictureCall, PictureClient
from starling_assets.literature.xml import BadSource
from starling_assets.settings.model import LiteratureSettings

from .crosscheck import disagreement
from .dots_blocks import blocks_of_elements
from .dots_reply import read_layout
from .pages import OcrBlock, OcrPage, PageStatus, PageToRead
from .pictures import POINTS_PER_INCH, Picture, PictureProblem, draw
from .repetition import repetition

#: What the model takes: sides in steps of this many pixels, and so many pixels in all.
STEP = 28
FEWEST_PIXELS, MOST_PIXELS = 3_136, 11_289_600
#: Stands for the picture inside the prompt where the server's chat template takes plain strings.
PICTURE_MARK = "<|img|><|imgpad|><|endofimg|>"
DPI = 200
_PROMPTS = Path(__file__).parent / "prompts"
_REVISION = 1


@dataclass(frozen=True, slots=True)
class _Try:
    """One way to show a page: what is asked for, at which share of the resolution, how freely the model may answer."""

    layout: bool
    scale: float
    temperature: float


#: The retry ladder. A smaller picture and another draw leave most loops; text without layout is better than no text.
LADDER = (_Try(True, 1.0, 0.0), _Try(True, 0.75, 0.2), _Try(True, 1.0, 0.5), _Try(False, 1.0, 0.0))


class DotsOcr:
    """:class:`~.pages.OcrEngine` over the door for pictures. Raises :class:`BadSource` where the prompt is no text."""

    def __init__(self, client: PictureClient, limits: LiteratureSettings) -> None:
        self._client = client
        self._limits = limits
        self._layout_prompt = _prompt(limits.ocr_prompt or _PROMPTS / "layout.txt")
        self._text_prompt = _prompt(_PROMPTS / "text.txt")

    @cached_property
    def name(self) -> str:
        """Engine, model, resolution, and a hash of the instructions and bounds."""
        bounds = f"{self._limits.ocr_output_tokens} {self._limits.ocr_pixels} {LADDER}"
        asked = sha256_hex(f"{self._layout_prompt}\0{self._text_prompt}\0{bounds}".encode())[:8]
        return f"dots.{_REVISION}/{self._client.model_name(Role.OCR)}/{asked}/{DPI}dpi"

    @property
    def in_flight(self) -> int:
        """Pages that the endpoint reads at the same time."""
        return self._client.concurrency(Role.OCR)

    async def read(self, page: PageToRead) -> OcrPage:
        """The reading of ``page``; see the ladder above."""
        attempts: list[_Attempt] = []
        for number, rung in enumerate(LADDER):
            try:
                picture = await draw(
                    page, fitting(page, rung.scale, self._limits.ocr_pixels), self._limits, colour=True
                )
            except PictureProblem as problem:
                return OcrPage(page.page, "failed", str(problem))
            if picture.is_blank:
                return OcrPage(page.page, "blank", "the page shows nothing")
            attempt = await self._attempt(page, picture, rung, attempts)
            attempts.append(attempt)
            if not attempt.trouble:
                reason = f"read at try {number + 1}, after {attempts[-2].trouble}" if number else ""
                return _page(page, "ok", reason, attempt.blocks, attempts)
        reasons = "; ".join(dict.fromkeys(attempt.trouble for attempt in attempts))
        saved = max(attempts, key=lambda attempt: sum(len(block.text) for block in attempt.blocks))
        if saved.blocks:
            return _page(page, "partial", saved.trouble, saved.blocks, attempts)
        if all(attempt.is_silent for attempt in attempts):
            return _page(page, "blank", "the model finds nothing on the page", (), attempts)
        return _page(page, "failed", reasons, (), attempts)

    async def _attempt(self, page: PageToRead, picture: Picture, rung: _Try, before: list[_Attempt]) -> _Attempt:
        call = PictureCall(
            role=Role.OCR,
            purpose="corpus/ocr",
            unit=page.unit,
            text=PICTURE_MARK + (self._layout_prompt if rung.layout else self._text_prompt),
            png=picture.png,
            width=picture.width,
            height=picture.height,
            prompt=self.name,
            max_output_tokens=self._limits.ocr_output_tokens,
            guard=repetition,
            temperature=rung.temperature,
        )
        try:
            reply = await self._client.transcribe(call)
        except ModelFailure as failure:
            if failure.kind not in UNUSABLE and failure.kind is not FailureKind.BAD_REQUEST:
                paid = sum((attempt.usage for attempt in before), Usage())
                raise ModelFailure(failure.kind, failure.message, paid + failure.usage, failure.raw) from failure
            raw, usage, trouble = failure.raw, failure.usage, f"{failure.kind.value}: {failure.message[:200]}"
            silent = failure.kind is FailureKind.EMPTY
        else:
            raw, usage, trouble, silent = reply.text, reply.usage, "", False
        blocks: tuple[OcrBlock, ...] = ()
        if rung.layout:
            layout = read_layout(raw, picture.width, picture.height)
            blocks = blocks_of_elements(layout.elements, picture, page)
            trouble = trouble or layout.trouble()
            silent = silent or (layout.is_whole and not layout.elements)
        elif not trouble:
            blocks = tuple(OcrBlock("paragraph", part) for part in _paragraphs(raw))
        if trouble and blocks and not _is_sound(blocks):
            blocks = ()
        words = " ".join(block.text for block in blocks)
        ink_points = picture.ink * picture.width * picture.height
        fiction = disagreement(words, page.layer if page.problem == "doubled" else "", ink_points) if blocks else ""
        if fiction:
            return _Attempt(raw, usage, fiction)
        if silent:
            return _Attempt(raw, usage, "the model finds nothing on the page", is_silent=True)
        return _Attempt(raw, usage, trouble, blocks)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """How one try ended: the reply, what it cost, what is wrong with it, and the blocks that can be used."""

    raw: str
    usage: Usage
    trouble: str
    blocks: tuple[OcrBlock, ...] = ()
    is_silent: bool = False


def fitting(page: PageToRead, scale: float, most_pixels: int = MOST_PIXELS) -> tuple[int, int]:
    """Width and height in pixels, in the model's own steps and bounds, so that the server resizes nothing."""
    width, height = page.width * DPI / POINTS_PER_INCH * scale, page.height * DPI / POINTS_PER_INCH * scale
    most, area = min(most_pixels, MOST_PIXELS), max(width * height, 1.0)
    factor = math.sqrt(most / area) if area > most else math.sqrt(FEWEST_PIXELS / area) if area < FEWEST_PIXELS else 1.0
    across, down = (max(1, round(side * factor / STEP)) for side in (width, height))
    while across * down * STEP * STEP > most and max(across, down) > 1:
        across, down = (across - 1, down) if across > down else (across, down - 1)
    while across * down * STEP * STEP < FEWEST_PIXELS:
        across, down = (across + 1, down) if across <= down else (across, down + 1)
    return across * STEP, down * STEP


def _is_sound(blocks: tuple[OcrBlock, ...]) -> bool:
    """Whether what was saved of a damaged reply is more than one block written again and again."""
    texts = [block.text for block in blocks]
    return len(texts) < 4 or len(set(texts)) * 2 > len(texts)


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def _page(
    page: PageToRead, status: PageStatus, reason: str, blocks: tuple[OcrBlock, ...], attempts: list[_Attempt]
) -> OcrPage:
    usage = sum((attempt.usage for attempt in attempts), Usage())
    raw = tuple(attempt.raw for attempt in attempts)
    return OcrPage(page.page, status, reason, blocks, raw, usage.as_dict())


def _prompt(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise BadSource(f"literature.ocr_prompt names {path}, which cannot be read: {error}") from None
