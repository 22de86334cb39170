"""F30 and F24 for PDF: scans, blank, rotated and many pages, encrypted and hostile files.

Each ends within its limits with a reason, and the next file is processed.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from starling_assets.literature import pdf, pdf_process
from starling_assets.literature.ocr.pages import FileReadings, OcrPage
from starling_assets.literature.papers import read_papers
from starling_assets.literature.pdf_lines import HYPHENS, Line, Page
from starling_assets.literature.pdf_quality import page_statuses, text_layer_problem
from starling_assets.literature.sources import SourceFile
from starling_assets.literature.tables import CITATIONS
from starling_assets.literature.xml import BadSource
from starling_assets.settings.model import LiteratureSettings
from tests.literature.ocr_pages import made_pdf
from tests.literature.papers_on_disk import write

NO_CITATIONS = pl.DataFrame(schema=CITATIONS)
LIMITS = LiteratureSettings(pdf_seconds=8.0, pdf_memory_bytes=1_000_000_000)


def read(file: Path | str, limits: LiteratureSettings = LIMITS):
    return pdf.read_pdf(Path(file), limits)


def outcome(path: Path, limits: LiteratureSettings = LIMITS) -> str:
    try:
        return f"ok: {len(read(path, limits).blocks)} blocks"
    except BadSource as error:
        return error.reason


@pytest.fixture
def example(examples) -> Path:
    return examples / "papers" / "drug-monitoring-program.pdf"


HOSTILE = {
    "bomb_1GB.pdf": "memory|no text|seconds|s of CPU|text layer",
    "cycle.pdf": "not a readable PDF|no page|no text",
    "empty.pdf": "the file is empty",
    "enc_owner_only.pdf": "ok|encrypted",
    "enc_user.pdf": "encrypted",
    "html.pdf": "neither JATS, PubMed XML nor PDF",
    "hugebox.pdf": "no text|ok",
    "junkprefix.pdf": "ok",
    "noise.pdf": "not a readable PDF|ok|no text",
    "noxref.pdf": "ok",
    "pagetree_1e7.pdf": "no text|not a readable PDF|s of CPU|longer than|memory|no page",
    "textbomb.pdf": "memory|longer than|s of CPU|text layer",
    "trunc.pdf": "ok|not a readable PDF",
    "zeropages.pdf": "no page was found in it",
}


@pytest.fixture(scope="module")
def batch(shared_data, examples):
    """What became of all of them in one go, a sound file after them."""
    folder = shared_data / "literature" / "pdf_hostile"
    assert {path.name for path in folder.iterdir()} == set(HOSTILE)
    files = [SourceFile.of(folder / name, name) for name in sorted(HOSTILE)]
    files.append(SourceFile.of(examples / "papers" / "drug-monitoring-program.pdf", "z-good.pdf"))
    papers = read_papers(files, NO_CITATIONS, LIMITS)
    return {row["file"]: row for row in papers.files.iter_rows(named=True)}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_files_end_within_their_limits(batch, name):
    row = batch[name]
    found = "ok" if row["status"] == "ok" else row["reason"]
    assert row["seconds"] < LIMITS.pdf_seconds + 5
    assert any(found.startswith("ok") if part == "ok" else part in found for part in HOSTILE[name].split("|")), found


def test_the_next_file_is_processed(batch):
    assert batch["z-good.pdf"]["status"] == "ok"
    assert batch["z-good.pdf"]["papers"] == 1
    assert all(row["reason"] for row in batch.values() if row["status"] == "set_aside")


def test_a_file_cut_short_or_corrupt(tmp_path, example):
    data = example.read_bytes()
    for name, content in {
        "half.pdf": data[: len(data) // 2],
        "header.pdf": data[:30],
        "zeros.pdf": b"%PDF-1.4\n" + bytes(10_000),
        "noise.pdf": b"%PDF-1.7\n" + bytes(range(256)) * 100,
    }.items():
        found = outcome(write(tmp_path, name, content).path)
        assert found.startswith(("ok", "not a readable PDF", "the PDF has no")), (name, found)


def test_junk_before_the_header_is_read(tmp_path, example):
    file = write(tmp_path, "junk.pdf", b"HTTP/1.1 200 OK\r\n\r\n" + example.read_bytes())
    papers = read_papers([file], NO_CITATIONS, LIMITS)
    assert papers.files["kind"].to_list() == ["pdf"]
    assert papers.files["status"].to_list() == ["ok"]


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """Puts a script in the place of the child process that reads a file."""

    def put(code: str) -> None:
        script = tmp_path / "reader.py"
        script.write_text(f"#!{sys.executable}\n{code}\n")
        script.chmod(0o755)
        monkeypatch.setattr(pdf_process, "sys", SimpleNamespace(executable=str(script)))

    return put


def test_an_infinite_reader_is_stopped_by_the_clock(reader, example):
    sleeper = "import time\ntime.sleep(60)"
    reader(sleeper)
    began = time.monotonic()
    with pytest.raises(BadSource, match=r"took longer than 1 s \(literature.pdf_seconds\)"):
        read(example, LiteratureSettings(pdf_seconds=1.0))
    assert time.monotonic() - began < 5


def test_a_busy_reader_is_stopped_by_its_processor_time(reader, example):
    spinner = (
        "import resource, sys\nseconds = int(sys.argv[5])\n"
        "resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))\nwhile True: pass"
    )
    reader(spinner)
    with pytest.raises(BadSource, match="took"):
        read(example, LiteratureSettings(pdf_seconds=1.5))


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import os; os.abort()", "crashed on this file"),
        ("print('not json')", "gave no answer"),
        ("print('[1, 2]')", "gave no answer"),
        ("raise SystemExit(3)", "stopped with code 3"),
    ],
)
def test_a_reader_that_dies_or_babbles(reader, example, script, reason):
    reader(script)
    with pytest.raises(BadSource, match=reason):
        read(example)


def test_no_secret_reaches_the_child(reader, monkeypatch, example):
    monkeypatch.setenv("STARLING_LLM_API_KEY", "sk-secret")
    code = "import json, os\nprint(json.dumps({'problem': ' '.join(sorted(os.environ))}))"
    reader(code)
    with pytest.raises(BadSource) as caught:
        read(example)
    assert "STARLING_LLM_API_KEY" not in caught.value.reason
    assert "PATH" in caught.value.reason


def test_a_thousand_pages_are_read_up_to_the_limit(tmp_path, example):
    import pypdfium2 as pdfium

    source = pdfium.PdfDocument(example)
    many = pdfium.PdfDocument.new()
    for _ in range(1_000 // len(source) + 1):
        many.import_pages(source)
    assert len(many) >= 1_000
    path = tmp_path / "thesis.pdf"
    many.save(path)
    result = pdf_process.run_child(path, LiteratureSettings(pdf_seconds=50.0, pdf_pages=25))
    assert len(result["pages"]) == 25
    assert result["total_pages"] >= 1_000


def lines_of(text: str) -> list[Line]:
    return [Line(1, part, 50, 50 + 12 * n, 500, 60 + 12 * n, 10, False) for n, part in enumerate(text.split("\n"))]


PROSE = "\n".join(
    ["The effect of the compound on the brain was measured in the rats of both groups and found to be low."] * 12
)
SHIFTED = PROSE.translate(str.maketrans("abcdefghijklmnopqrstuvwxyz", "qzxvkjwyfgpbmclrdhusotnaei"))


@pytest.mark.parametrize(
    ("text", "images", "expected"),
    [
        (PROSE, 0, ""),
        (PROSE, 3, ""),
        ("", 0, "blank"),
        ("", 1, "scan"),
        ("12", 1, "scan"),
        (PROSE.replace("e", "\ue012").replace("t", "\ue013"), 0, "garbled"),
        (PROSE.replace("e", "\x03").replace("a", "\x04").replace("n", "\x05"), 0, "garbled"),
        (SHIFTED, 0, "garbled"),
        (" ".join(word for word in PROSE.split() for _ in range(2)), 0, "doubled"),
        ("\n".join(f"{n}. Smith J, Garcia M. Nature {2000 + n}; {n}: 12-15." for n in range(40)), 0, ""),
        ("\n".join(f"{n} 12.{n} 13.{n} 0.0{n}" for n in range(60)), 0, ""),
        ("in" + HYPHENS[0] + "side " + PROSE, 0, ""),
    ],
)  # fmt: skip
def test_whether_a_text_layer_can_be_trusted(text, images, expected):
    assert text_layer_problem(Page(1, 600, 800, lines_of(text) if text else [], images)) == expected


SHORT = ["The compound entered the brain", "of the rats within two hours.", "A dose of 25 mg was given."]


@pytest.mark.parametrize(("angle", "rotation"), [(0, 0), (90, 90), (270, 270), (180, 180), (0, 90), (90, 0), (0, 270)])
def test_a_page_is_read_whichever_way_it_lies(tmp_path, angle, rotation):
    path = made_pdf(tmp_path / "turned.pdf", SHORT, [], angle=angle, rotation=rotation)
    result = pdf_process.run_child(path, LIMITS)
    assert result["pages"] == ["text", "blank"]
    assert " ".join(chunk["text"] for chunk in result["chunks"]) == " ".join(SHORT)
    _, (left, top, _, bottom), _ = result["chunks"][0]["lines"][0]
    assert left == pytest.approx(20, abs=2)
    assert 15 < top < bottom < 40
    assert result["sizes"][0] == ([200.0, 300.0] if rotation in {90, 270} else [300.0, 200.0])


def stamped(number: int, text: str, share: float) -> Page:
    return Page(number, 600, 800, lines_of(text), 1, (600, 800), share)


def test_a_stamp_does_not_make_a_scan_a_text():
    stamp = "Downloaded from example.org by a reader on 1 May 2020, page {}"
    scans = [stamped(n, stamp.format(n), 0.95) for n in (1, 2, 3)]
    plates = [
        stamped(n, f"Figure {n}. {words}", 0.95)
        for n, words in ((4, "The brain of a rat of group two."), (5, "Its liver at the end of the trial."))
    ]
    small = stamped(6, stamp.format(6), 0.3)
    prose = stamped(7, PROSE, 0.95)
    assert page_statuses([*scans, *plates, small, prose]) == ["scan"] * 3 + ["text"] * 4
    assert page_statuses(scans[:1]) == ["text"]  # nothing tells a stamp from a caption here


def test_the_shared_scans_and_the_garbled_file(shared_data):
    folder = shared_data / "literature" / "pdf"
    for name in ("scan_derived_PMC5971330_p5.pdf", "scan_docling_ocr_test.pdf", "scan_docling_ocr_test_rotated_90.pdf"):
        assert "need OCR (scan)" in outcome(folder / name), name
    statuses = pdf_process.run_child(folder / "f1000_3-305_garbled_text.pdf", LIMITS)["pages"]
    garbled = {number for number, status in enumerate(statuses, start=1) if status == "garbled"}
    assert garbled == {1, 2, 10, 11, 12, 13, 14}  # the title page and the reviews; the article itself is sound


def test_pages_left_out_are_said(shared_data):
    file = SourceFile.of(shared_data / "literature" / "pdf" / "f1000_3-305_garbled_text.pdf")
    papers = read_papers([file], NO_CITATIONS, LIMITS)
    row = papers.files.row(0, named=True)
    assert row["status"] == "ok"
    assert row["reason"].startswith("left out: page 1 (garbled), page 2 (garbled), page 10")


def test_every_page_has_a_status(shared_data):
    for path in sorted((shared_data / "literature" / "pdf").glob("*.pdf"))[:6]:
        result = pdf_process.run_child(path, LiteratureSettings())
        assert len(result["pages"]) == result["total_pages"]
        assert set(result["pages"]) <= {"text", "blank", "scan", "garbled", "doubled"}


def test_pages_that_an_engine_fails_do_not_become_text(shared_data):
    path = shared_data / "literature" / "pdf" / "scan_docling_ocr_test.pdf"
    lost = FileReadings("loops/1", "", {1: OcrPage(1, "failed", "repetition loop")})
    with pytest.raises(BadSource, match=r"1 of 1 pages need OCR \(scan\) and loops/1 read none of them: rep"):
        pdf.read_pdf(path, LIMITS, lost)
    nothing = FileReadings("loops/1", "", {1: OcrPage(1, "blank", "the page shows nothing")})
    with pytest.raises(BadSource, match=r"the PDF has no text: .* loops/1 found none"):
        pdf.read_pdf(path, LIMITS, nothing)
