"""Pages for the OCR tests: small PDFs made for the purpose, and an engine on a scripted endpoint."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import Any

from resources.endpoints import OpenAiClient, build_client
from starling_assets.literature.ocr.dots import DotsOcr
from starling_assets.literature.ocr.pages import PageToRead
from starling_assets.settings import Settings
from starling_assets.settings.endpoints import Endpoint, LlmSettings
from starling_assets.settings.model import LiteratureSettings
from tests.stub_endpoint import StubEndpoint

WORDS = [
    "The compound entered the brain of the rats",
    "within two hours after the dose was given",
    "and left it again in the course of a day.",
    "A dose of 25 mg/kg was tolerated by all.",
    "No signs of toxicity were seen in the liver",
    "or in the kidneys of the treated animals.",
]
WIDTH, HEIGHT = 300.0, 200.0


#: How a line is written when the page is turned, and where the n-th line begins, by the angle of the text.
_TURNS = {
    0: ((1, 0, 0, 1), lambda down: (20, HEIGHT - 30 - down)),
    90: ((0, 1, -1, 0), lambda down: (30 + down, 20)),
    180: ((-1, 0, 0, -1), lambda down: (WIDTH - 20, 30 + down)),
    270: ((0, -1, 1, 0), lambda down: (WIDTH - 30 - down, HEIGHT - 20)),
}


def made_pdf(path: Path, *pages: list[str], picture: bool = False, angle: int = 0, rotation: int = 0) -> Path:
    """A PDF with these lines on each page, as text, or drawn as a picture as a scanner makes it.

    ``angle``: at which the text is written, ``rotation``: by which a viewer turns the page, both in degrees.
    """
    import pypdfium2 as pdfium
    import pypdfium2.raw as raw

    document = pdfium.PdfDocument.new()
    for lines in pages:
        page = document.new_page(WIDTH, HEIGHT)
        for number, line in enumerate(lines):
            item = raw.FPDFPageObj_NewTextObj(document, b"Helvetica", ctypes.c_float(12))
            text = (line + "\0").encode("utf-16-le")
            raw.FPDFText_SetText(item, ctypes.cast(ctypes.create_string_buffer(text), raw.FPDF_WIDESTRING))
            matrix, place = _TURNS[angle]
            raw.FPDFPageObj_Transform(item, *matrix, *place(20 * number))
            raw.FPDFPage_InsertObject(page, item)
        page.gen_content()
        page.set_rotation(rotation)
    document.save(path)
    if picture:
        drawn, document = document, pdfium.PdfDocument.new()
        for number in range(len(drawn)):
            bitmap = drawn[number].render(scale=200 / 72)
            image = pdfium.PdfImage.new(document)
            image.set_bitmap(bitmap)
            image.set_matrix(pdfium.PdfMatrix().scale(WIDTH, HEIGHT))
            page = document.new_page(WIDTH, HEIGHT)
            page.insert_obj(image)
            page.gen_content()
        document.save(path)
    return path


def page_of(path: Path, number: int = 1, problem: str = "scan", layer: str = "") -> PageToRead:
    return PageToRead(path, path.name, "0" * 64, number, WIDTH, HEIGHT, problem, layer, unit=f"{path.name}/{number}")


def element(text: str | None, category: str = "Text", bbox: Any = (56, 56, 500, 100)) -> dict[str, Any]:
    """An element as the model gives it."""
    return {"bbox": list(bbox), "category": category} | ({} if text is None else {"text": text})


def layout(*texts: str) -> str:
    """A sound reply with these paragraphs, each a little below the last."""
    items = [element(text, bbox=(56, 56 + n % 200, 500, 100 + n % 200)) for n, text in enumerate(texts)]
    return json.dumps(items, ensure_ascii=False)


def door(stub: StubEndpoint, home: Path, **llm: Any) -> OpenAiClient:
    ocr = Endpoint(base_url=stub.base_url, model="dots.ocr", price_prompt=1.0, price_completion=2.0)
    llm = {"backoff_seconds": 0.01, "timeout_seconds": 10.0} | llm
    return build_client(Settings(home=home, llm=LlmSettings(ocr=ocr, **llm)))


def engine(stub: StubEndpoint, home: Path, **limits: Any) -> DotsOcr:
    return DotsOcr(door(stub, home), LiteratureSettings(**limits))
