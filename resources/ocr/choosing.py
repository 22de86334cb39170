"""Which OCR engine the settings mean, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from starling_assets.literature.ocr.pages import OcrEngine
from starling_assets.literature.ocr.rapid import RapidOcr, rapidocr_problem
from starling_assets.literature.ocr.tesseract import Tesseract, tesseract_problem
from starling_assets.settings import Settings


@dataclass(frozen=True)
class Choice:
    """The engine, or ``None`` and the reason in one line."""

    engine: OcrEngine | None
    reason: str = ""


def choose_engine(settings: Settings) -> Choice:
    """The engine of ``literature.ocr_engine``. An engine that was asked for by name and cannot be used is no engine:
    papers that need it say so, and the others are read.
    """
    wanted, limits = settings.literature.ocr_engine, settings.literature
    if wanted == "none":
        return Choice(None, "literature.ocr_engine is none")
    if wanted == "dots":
        return _dots(settings)
    if wanted == "rapidocr":
        problem = rapidocr_problem()
        return Choice(None, problem) if problem else Choice(RapidOcr(limits))
    problem = tesseract_problem()
    if not problem:
        return Choice(Tesseract(limits))
    return Choice(None, problem if wanted else f"no OCR engine is configured: {problem}, or set literature.ocr_engine")


def _dots(settings: Settings) -> Choice:
    from resources.endpoints import build_client
    from starling_assets.literature.ocr.dots import DotsOcr

    if settings.llm.ocr.base_url is None:
        return Choice(
            None, "literature.ocr_engine is dots, but llm.ocr.base_url is not set (STARLING_LLM_OCR_BASE_URL)"
        )
    if settings.llm.ocr.model is None:
        return Choice(None, "literature.ocr_engine is dots, but llm.ocr.model is not set (STARLING_LLM_OCR_MODEL)")
    client = build_client(settings)
    return Choice(DotsOcr(client, settings.literature))
