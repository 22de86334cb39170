"""OCR on pages: Tesseract where it is installed, the journal of a shard, the choice of an engine, papers with OCR."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from resources.ocr import choose_engine
from starling_assets.artifacts.journal import Journal
from starling_assets.inference.calls import FailureKind, ModelFailure
from starling_assets.literature.ocr import pictures, rapid, tesseract
from starling_assets.literature.ocr.pages import OcrBlock, OcrPage, PageToRead
from starling_assets.literature.ocr.rapid import RapidOcr
from starling_assets.literature.ocr.reading import no_engine, pages_to_read, read_shard, readings_of
from starling_assets.literature.ocr.tesseract import Tesseract
from starling_assets.literature.papers import read_papers
from starling_assets.literature.sources import SourceFile
from starling_assets.literature.tables import CITATIONS, OCR_PAGES
from starling_assets.settings import Settings
from starling_assets.settings.endpoints import Endpoint, LlmSettings
from starling_assets.settings.model import LiteratureSettings
from tests.literature.ocr_pages import HEIGHT, WORDS, made_pdf, page_of
from tests.literature.papers_on_disk import LIMITS, texts

NO_CITATIONS = pl.DataFrame(schema=CITATIONS)
needs_tesseract = pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not installed")


def loose(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()


@pytest.fixture(scope="module")
def scan(tmp_path_factory) -> SourceFile:
    """Two pages as a scanner makes them: the second shows nothing."""
    return SourceFile.of(made_pdf(tmp_path_factory.mktemp("scan") / "scan.pdf", WORDS, [], picture=True))


class Scripted:
    """An engine that gives what it is told, by page; what is a failure is raised."""

    name = "scripted/1"
    in_flight = 1

    def __init__(self, **by_page: OcrPage | ModelFailure) -> None:
        self.by_page = by_page
        self.asked: list[int] = []

    async def read(self, page: PageToRead) -> OcrPage:
        self.asked.append(page.page)
        found = self.by_page.get(f"p{page.page}", OcrPage(page.page, "ok", "", (OcrBlock("paragraph", "Words."),)))
        if isinstance(found, ModelFailure):
            raise found
        return found


# The journal


def test_every_page_is_accounted_for_and_read_once(scan, tmp_path):
    partial = OcrPage(2, "partial", "cut off", (OcrBlock("paragraph", "Half."),), ("raw",), {"cost": 0.5})
    engine = Scripted(p2=partial)
    seen: list[tuple[int, int]] = []
    first = read_shard([scan], engine, Journal(tmp_path), LIMITS, lambda done, total: seen.append((done, total)))
    assert seen == [(0, 2), (1, 2), (2, 2)]
    assert (first.tally.planned, first.tally.ok, first.tally.failed, first.tally.pending) == (2, 1, 1, 0)
    assert first.tally.reasons == {"cut off": 1}
    rows = first.pages.select("file", "page", "problem", "status", "reason", "markdown", "cost").rows()
    assert rows == [
        ("scan.pdf", 1, "scan", "ok", "", "Words.", 0.0),
        ("scan.pdf", 2, "scan", "partial", "cut off", "Half.", 0.5),
    ]
    assert first.pages["raw"].to_list() == [[], ["raw"]]
    again = Scripted()
    second = read_shard([scan], again, Journal(tmp_path), LIMITS)
    assert again.asked == [2]  # only what failed is paid for again
    assert second.pages["status"].to_list() == ["ok", "ok"]
    third = read_shard([scan], Scripted(), Journal(tmp_path), LIMITS)
    assert third.pages.equals(second.pages)


def test_a_failure_that_ends_one_page_is_a_reason(scan, tmp_path):
    engine = Scripted(p1=ModelFailure(FailureKind.BAD_REQUEST, "refused"))
    result = read_shard([scan], engine, Journal(tmp_path), LIMITS)
    assert result.pages["status"].to_list() == ["failed", "ok"]
    assert result.pages["reason"][0] == "bad_request: refused"


def test_a_wrong_key_stops_at_once_and_keeps_what_was_read(scan, tmp_path):
    engine = Scripted(p2=ModelFailure(FailureKind.AUTHENTICATION, "wrong key"))
    with pytest.raises(ModelFailure, match="wrong key"):
        read_shard([scan], engine, Journal(tmp_path), LIMITS)
    assert Journal(tmp_path).tally().ok == 1


def test_an_endpoint_that_is_gone_ends_the_run(tmp_path):
    pages = [[f"Page {n} of the thesis."] for n in range(6)]
    file = SourceFile.of(made_pdf(tmp_path / "long.pdf", *pages, picture=True))
    gone = {f"p{n}": ModelFailure(FailureKind.CONNECTION, "nobody answers") for n in range(2, 7)}
    engine = Scripted(**gone)
    with pytest.raises(ModelFailure, match="nobody answers"):
        read_shard([file], engine, Journal(tmp_path / "journal"), LIMITS)
    assert len(engine.asked) == 4


def test_sound_pages_and_other_files_are_not_shown(scan, tmp_path, examples):
    other = tmp_path / "note.txt"
    other.write_text("no PDF")
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.4\nnothing")
    copy = SourceFile(scan.path, "a-copy.pdf", scan.sha256)
    files = [scan, copy, SourceFile.of(other), SourceFile.of(broken)]
    files.append(SourceFile.of(examples / "papers" / "drug-monitoring-program.pdf"))
    found = pages_to_read(files, "engine", LIMITS)
    assert [(page.file, page.page, page.problem) for page in found] == [
        ("a-copy.pdf", 1, "scan"),
        ("a-copy.pdf", 2, "scan"),
    ]
    assert found[0].height == HEIGHT
    assert len({page.unit for page in found}) == 2
    assert {page.unit for page in found}.isdisjoint(page.unit for page in pages_to_read(files, "other", LIMITS))


# Papers


def test_papers_take_the_readings(scan, tmp_path):
    words = OcrPage(1, "ok", "", (OcrBlock("title", "A title"), OcrBlock("paragraph", "Words of the page.")))
    lost = OcrPage(2, "failed", "repetition_loop")
    result = read_shard([scan], Scripted(p1=words, p2=lost), Journal(tmp_path), LIMITS)
    readings = readings_of(result.pages, result.engine)
    papers = read_papers([scan], NO_CITATIONS, LIMITS, ocr=readings)
    assert papers.files.row(0, named=True)["reason"] == "left out: page 2 (scan: repetition_loop)"
    assert texts(papers) == ["A title", "Words of the page."]
    other = readings_of(result.pages, result.engine.with_columns(engine=pl.lit("scripted/2")))
    again = read_papers([scan], NO_CITATIONS, LIMITS, ocr=other)
    assert again.papers["extraction_id"][0] != papers.papers["extraction_id"][0]


def test_a_page_read_in_part_is_used_and_said(scan, tmp_path):
    half = OcrPage(1, "partial", "truncated", (OcrBlock("paragraph", "Half of the words."),))
    blank = OcrPage(2, "blank", "the page shows nothing")
    result = read_shard([scan], Scripted(p1=half, p2=blank), Journal(tmp_path), LIMITS)
    papers = read_papers([scan], NO_CITATIONS, LIMITS, ocr=readings_of(result.pages, result.engine))
    assert texts(papers) == ["Half of the words."]
    assert papers.files["reason"][0] == "read in part: page 1 (truncated)"


def test_a_table_that_was_read_is_a_table(scan, tmp_path):
    table = OcrBlock("table", "", (1.0, 2.0, 3.0, 4.0), (("Compound", "Dose"), ("K-11", "5")), 1)
    page = OcrPage(1, "ok", "", (OcrBlock("caption", "Table 1. Doses."), table))
    result = read_shard([scan], Scripted(p1=page), Journal(tmp_path), LIMITS)
    papers = read_papers([scan], NO_CITATIONS, LIMITS, ocr=readings_of(result.pages, result.engine))
    assert texts(papers, "table") == ["Table 1. Doses.\nCompound: K-11 | Dose: 5"]


def test_without_an_engine_the_reason_reaches_the_paper(scan):
    result = no_engine("literature.ocr_engine is none")
    assert result.pages.schema == pl.Schema(OCR_PAGES)
    papers = read_papers([scan], NO_CITATIONS, LIMITS, ocr=readings_of(result.pages, result.engine))
    assert papers.files["status"].to_list() == ["set_aside"]
    assert papers.files["reason"][0] == "2 of 2 pages need OCR (scan) and literature.ocr_engine is none"


# The choice


def test_the_choice_of_an_engine(monkeypatch, tmp_path):
    def reason(engine: str | None, **llm: object) -> str:
        settings = Settings(home=tmp_path, literature=LiteratureSettings(ocr_engine=engine), llm=LlmSettings(**llm))
        choice = choose_engine(settings)
        return choice.reason or choice.engine.name.partition("/")[0]

    monkeypatch.setattr(tesseract.shutil, "which", lambda _name: None)
    assert "Tesseract is not installed" in reason(None)
    assert reason(None).startswith("no OCR engine is configured")
    assert reason("tesseract").startswith("Tesseract is not installed")
    assert reason("none") == "literature.ocr_engine is none"
    assert "llm.ocr.base_url is not set" in reason("dots")
    assert "llm.ocr.model is not set" in reason("dots", ocr=Endpoint(base_url="http://127.0.0.1:9/v1"), model="gpt")
    assert reason("dots", ocr=Endpoint(base_url="http://127.0.0.1:9/v1", model="dots.ocr")) == "dots.1"
    monkeypatch.setattr(rapid.importlib.util, "find_spec", lambda _name: None)
    assert "install the extra ocr" in reason("rapidocr")


# Engines


@needs_tesseract
def test_tesseract_reads_a_scan(scan):
    engine = Tesseract(LIMITS)
    assert re.match(r"tesseract-\d+\.\d+.*/eng/300dpi$", engine.name)
    page = asyncio.run(engine.read(page_of(scan.path)))
    assert page.status == "ok"
    assert loose(" ".join(WORDS)) == loose(" ".join(block.text for block in page.blocks))
    assert "ocr_line" in page.raw[0]
    blank = asyncio.run(engine.read(page_of(scan.path, 2)))
    assert (blank.status, blank.reason) == ("blank", "the page shows nothing")


@needs_tesseract
def test_tesseract_reads_the_shared_scan_with_its_table(shared_data):
    path = shared_data / "literature" / "pdf" / "scan_derived_PMC5971330_p5.pdf"
    page = PageToRead(path, path.name, "x", 1, 595.0, 842.0, "scan")
    found = asyncio.run(Tesseract(LiteratureSettings(ocr_dpi=200)).read(page))
    (table,) = [block for block in found.blocks if block.rows]
    assert any("19.5 to 312.5" in " ".join(row) for row in table.rows)
    prose = loose(" ".join(block.text for block in found.blocks))
    assert loose("herbal feed supplements, including the entry of new functional feed ingredients") in prose
    assert 6 <= sum(block.kind == "paragraph" for block in found.blocks) <= 10


@needs_tesseract
def test_tesseract_reads_a_page_that_lies_on_its_side(shared_data):
    path = shared_data / "literature" / "pdf" / "scan_docling_ocr_test_rotated_90.pdf"
    found = asyncio.run(Tesseract(LIMITS).read(PageToRead(path, path.name, "x", 1, 841.9, 595.2, "scan")))
    (block,) = found.blocks
    assert block.text.startswith("Docling bundles PDF document conversion to JSON and Markdown")
    left, top, right, bottom = block.bbox
    assert right - left < bottom - top  # the box lies where the words lie, on their side
    assert 0 <= left < right <= 842
    assert 0 <= top < bottom <= 596


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Puts a script in the place of Tesseract."""

    def put(code: str) -> Tesseract:
        script = tmp_path / "tesseract"
        script.write_text(f"#!{sys.executable}\nimport sys\n{code}\n")
        script.chmod(0o755)
        monkeypatch.setattr(tesseract, "PROGRAM", str(script))
        return Tesseract(LiteratureSettings(ocr_seconds=1.0))

    return put


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import time; time.sleep(30)", "longer than 1 s (literature.ocr_seconds)"),
        ("sys.exit('Error opening data file xyz.traineddata')", "code 1: Error opening data file xyz.traineddata"),
        ("print('<html><broken')", "reply cannot be read"),
        ("print('<!DOCTYPE html [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><html>&a;</html>')", "cannot be read"),
    ],
)
def test_a_tesseract_that_fails(program, scan, code, reason):
    page = asyncio.run(program(code).read(page_of(scan.path)))
    assert page.status == "failed"
    assert reason in page.reason


def test_no_secret_reaches_tesseract(program, scan, monkeypatch):
    monkeypatch.setenv("STARLING_LLM_API_KEY", "sk-secret")
    engine = program("import os; sys.exit(' '.join(sorted(os.environ)))")
    assert "STARLING" not in asyncio.run(engine.read(page_of(scan.path))).reason


@pytest.fixture
def rapid_program(tmp_path, monkeypatch):
    """Puts a script in the place of the process in which RapidOCR reads; pages are drawn as ever."""
    run = pictures.run_process

    def put(code: str) -> RapidOcr:
        async def other(command, stdin, seconds, environment):
            return await run([sys.executable, "-c", f"import sys\n{code}"], stdin, seconds, environment)

        monkeypatch.setattr(rapid, "run_process", other)
        return RapidOcr(LiteratureSettings(ocr_seconds=5.0))

    return put


def test_rapidocr_lines_become_blocks(rapid_program, scan):
    lines = [[50, 60 + 56 * n, 700, 95 + 56 * n, line] for n, line in enumerate(WORDS)]
    page = asyncio.run(
        rapid_program(f"sys.stdin.buffer.read(); print({json.dumps(json.dumps(lines))})").read(page_of(scan.path))
    )
    assert page.status == "ok"
    assert loose(" ".join(WORDS)) == loose(" ".join(block.text for block in page.blocks))
    blank = asyncio.run(rapid_program("print('[]')").read(page_of(scan.path)))
    assert (blank.status, blank.reason) == ("blank", "no text was found on the page")


@pytest.mark.parametrize("code", ["sys.exit('no model')", "print('not json')"])
def test_a_rapidocr_that_fails(rapid_program, scan, code):
    page = asyncio.run(rapid_program(code).read(page_of(scan.path)))
    assert page.status == "failed"
    assert "RapidOCR ended with code" in page.reason


# Drawing


def test_a_page_that_cannot_be_drawn_is_a_reason(tmp_path, scan, monkeypatch):
    gone = page_of(scan.path, 7)
    assert asyncio.run(Tesseract(LIMITS).read(gone)).reason == "page 7 cannot be opened"
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.4\nnothing")
    assert "not a readable PDF" in asyncio.run(RapidOcr(LIMITS).read(page_of(broken))).reason
    little = LiteratureSettings(pdf_memory_bytes=20_000_000)
    assert "memory" in asyncio.run(Tesseract(little).read(page_of(scan.path))).reason
    sleeper = tmp_path / "python"
    sleeper.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(30)\n")
    sleeper.chmod(0o755)
    monkeypatch.setattr(pictures, "sys", SimpleNamespace(executable=str(sleeper)))
    slow = asyncio.run(Tesseract(LiteratureSettings(pdf_seconds=0.5)).read(page_of(scan.path)))
    assert "longer than 0.5 s" in slow.reason


def test_the_hostile_files_are_drawn_within_their_limits(shared_data):
    limits = LiteratureSettings(pdf_seconds=5.0, pdf_memory_bytes=600_000_000)
    for name in ("textbomb.pdf", "bomb_1GB.pdf", "hugebox.pdf"):
        path: Path = shared_data / "literature" / "pdf_hostile" / name
        page = PageToRead(path, name, "x", 1, 144_000.0, 144_000.0, "scan")
        reading = asyncio.run(Tesseract(limits).read(page))
        assert reading.status in {"failed", "blank"}, (name, reading)
        assert reading.reason
