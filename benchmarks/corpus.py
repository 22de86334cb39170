"""Speed and quality of reading papers, ours beside other readers in one run.

``uv run --with pubmed-parser --with pdfminer.six --with pypandoc_binary benchmarks/corpus.py --shared ../shared/data``

CPU seconds of this process and its children count, on one core. A peer that is not installed is left out and said so.
Quality is against the publishers' XML: the share of its paragraphs found whole in one block that holds little else.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import logging
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from lxml import etree

from starling_assets.literature.bmc import read_bmc
from starling_assets.literature.citations import iter_citations
from starling_assets.literature.grids import read_grid
from starling_assets.literature.jats import read_jats
from starling_assets.literature.jats_tables import table_text, tables_of
from starling_assets.literature.pdf_layout import lay_out
from starling_assets.literature.pdf_lines import read_pages
from starling_assets.literature.sources import SourceFile
from starling_assets.literature.text import fold
from starling_assets.literature.xml import open_source, parse_xml
from starling_assets.settings.model import LiteratureSettings

LIMITS = LiteratureSettings()
TWINS = ("PMC4417228", "PMC4521097", "bmc14-70", "f1000_3-190", "trials15_511", "trials16_2")
LOOSE = re.compile(r"\[[\d,\s–-]+\]|[\W_]")


@dataclass(frozen=True)
class Measured:
    """One line of the report."""

    task: str
    reader: str
    items: int
    per_cpu_second: float
    quality: str
    peak_mb: int


def cpu_seconds() -> float:
    """CPU time of this process and of its finished children."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def measure(task: str, reader: str, run: Callable[[], tuple[int, str]]) -> Measured:
    """Run once and take the time."""
    began = cpu_seconds()
    items, quality = run()
    seconds = max(cpu_seconds() - began, 1e-6)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return Measured(task, reader, items, round(items / seconds, 1), quality, peak)


def core_score() -> float:
    """Additions per microsecond of one core now: tells a busy or slow machine from an idle, fast one."""
    began = time.process_time()
    total = 0
    for number in range(3_000_000):
        total += number
    return round(3.0 / (time.process_time() - began), 1)


def loose(text: str) -> str:
    """Text without white space, punctuation, case and numbers of citations."""
    return LOOSE.sub("", fold(text))


def citations(shared: Path, copies: int) -> Iterator[Measured]:
    """One large file made of ``copies`` of a real MEDLINE file."""
    source = gzip.decompress((shared / "literature/pubmed_xml/medline16n0902.xml.gz").read_bytes())
    records = re.findall(rb"<MedlineCitation .*?</MedlineCitation>", source, re.DOTALL)
    one = b"".join(b"<PubmedArticle>" + record + b"</PubmedArticle>\n" for record in records)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.xml.gz"
        with gzip.open(path, "wb", compresslevel=1) as stream:
            stream.write(b"<PubmedArticleSet>")
            for _ in range(copies):
                stream.write(one)
            stream.write(b"</PubmedArticleSet>")
        file = SourceFile.of(path)

        def ours() -> tuple[int, str]:
            titles = rows = 0
            for row in iter_citations(file, LIMITS):
                rows += 1
                titles += bool(row["title"])
            return rows, f"{titles / rows:.1%} with title"

        yield measure("PubMed citations", "starling", ours)
        if importlib.util.find_spec("pubmed_parser"):
            import pubmed_parser

            def peer() -> tuple[int, str]:
                rows = list(pubmed_parser.parse_medline_xml(str(path)))
                return len(rows), f"{sum(bool(row['title']) for row in rows) / len(rows):.1%} with title"

            yield measure("PubMed citations", "pubmed_parser", peer)


def articles(shared: Path) -> Iterator[Measured]:
    """The shared full texts."""
    paths = sorted((shared / "literature/jats").iterdir())
    wanted = {path: _source_paragraphs(path) for path in paths}

    def quality(found: dict[Path, str]) -> str:
        total = sum(map(len, wanted.values()))
        whole = sum(paragraph in found[path] for path in paths for paragraph in wanted[path])
        return f"{whole / total:.1%} of {total} paragraphs"

    texts: dict[Path, str] = {}

    def ours() -> tuple[int, str]:
        for path in paths:
            (paper,) = read_jats(parse_xml(open_source(path, LIMITS), LIMITS))
            texts[path] = "\n".join(block.text for block in paper.blocks)
        return len(paths), ""

    measured = measure("JATS articles", "starling", ours)
    yield _with_quality(measured, quality({path: loose(text) for path, text in texts.items()}))
    if importlib.util.find_spec("pypandoc"):
        import pypandoc

        def pandoc() -> tuple[int, str]:
            for path in paths:
                texts[path] = pypandoc.convert_text(gzip.decompress(path.read_bytes()).decode(), "plain", "jats")
            return len(paths), ""

        measured = measure("JATS articles", "pandoc", pandoc)
        yield _with_quality(measured, quality({path: loose(text) for path, text in texts.items()}))


def _with_quality(measured: Measured, quality: str) -> Measured:
    return Measured(**(asdict(measured) | {"quality": quality}))


def _source_paragraphs(path: Path) -> list[str]:
    root = etree.fromstring(gzip.decompress(path.read_bytes()), etree.XMLParser(resolve_entities=False))
    plain = root.xpath(
        "//body//p[not(.//table-wrap or .//fig or .//list or .//*[local-name()='math'] or .//disp-formula)]"
    )
    return [words for element in plain if len(words := loose("".join(element.itertext()))) > 40]


def pages(shared: Path) -> Iterator[Measured]:
    """The PDF twins against their XML."""
    folder = shared / "literature/pdf_twins"
    wanted: dict[str, list[str]] = {}
    for name in TWINS:
        root = parse_xml(open_source(folder / f"{name}.xml.gz", LIMITS), LIMITS)
        (paper,) = (read_bmc if root.tag == "art" else read_jats)(root)
        texts = [
            loose(block.text)
            for block in paper.blocks
            if block.kind in {"paragraph", "list_item"} and block.section_kind != "supplementary"
        ]
        wanted[name] = [text for text in texts if len(text) > 40]
    found: dict[str, list[str]] = {}

    def quality() -> str:
        total = sum(map(len, wanted.values()))
        whole = sum(
            any(text in block and len(block) < 1.15 * len(text) + 20 for block in found[name])
            for name in TWINS
            for text in wanted[name]
        )
        return f"{whole / total:.1%} of {total} paragraphs whole"

    def ours() -> tuple[int, str]:
        count = 0
        for name in TWINS:
            read = list(read_pages(folder / f"{name}.pdf", 400))
            count += len(read)
            found[name] = [loose(chunk.text) for chunk in lay_out(read)]
        return count, ""

    measured = measure("PDF pages", "starling", ours)
    cells, all_cells = table_cells(shared)
    yield _with_quality(measured, f"{quality()}, {cells / all_cells:.1%} of {all_cells} cells in their row")
    if importlib.util.find_spec("pdfminer"):
        from pdfminer.high_level import extract_pages
        from pdfminer.layout import LTTextBox

        def pdfminer() -> tuple[int, str]:
            count = 0
            for name in TWINS:
                found[name] = []
                for page in extract_pages(folder / f"{name}.pdf"):
                    count += 1
                    found[name] += [
                        loose(box.get_text().replace("-\n", "")) for box in page if isinstance(box, LTTextBox)
                    ]
            return count, ""

        yield _with_quality(measure("PDF pages", "pdfminer.six", pdfminer), quality())


def table_cells(shared: Path) -> tuple[int, int]:
    """Cells of the twins' tables that stand in one row of ours with the other cells of their row, and all cells."""
    folder = shared / "literature/pdf_twins"
    found = wanted = 0
    for name in TWINS:
        root = parse_xml(open_source(folder / f"{name}.xml.gz", LIMITS), LIMITS)
        wraps = list(root.iter("{*}table-wrap", "table-wrap"))
        grids = [read_grid(table, table_text) for wrap in wraps for table in tables_of(wrap)]
        tables = [chunk.table for chunk in lay_out(list(read_pages(folder / f"{name}.pdf", 400))) if chunk.table]
        rows = [{loose(cell) for cell in row} - {""} for table in tables for row in table.rows]
        for grid in grids:
            for line in grid.body:
                cells = {loose(cell.text) for cell in line} - {""}
                wanted += len(cells)
                found += max((len(cells & row) for row in rows), default=0)
    return found, wanted


def main(arguments: list[str]) -> int:
    """Print the report, as a table or as JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, required=True, help="folder of the development data")
    parser.add_argument(
        "--copies", type=int, default=20, help="copies of the MEDLINE file in the large one (604 records each)"
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", choices=("citations", "articles", "pages"), help="one part of the report")
    options = parser.parse_args(arguments)
    logging.disable(logging.WARNING)  # peers complain about single files at length
    print(f"core score {core_score()} additions per microsecond", file=sys.stderr)
    tasks = {
        "citations": lambda: citations(options.shared, options.copies),
        "articles": lambda: articles(options.shared),
        "pages": lambda: pages(options.shared),
    }
    for name in [options.only] if options.only else tasks:
        for line in tasks[name]():
            if options.json:
                print(json.dumps(asdict(line)))
            else:
                print(
                    f"{line.task:<18}{line.reader:<16}{line.items:>7}  {line.per_cpu_second:>9}/s  "
                    f"{line.peak_mb:>5} MB  {line.quality}"
                )
    for module in ("pubmed_parser", "pypandoc", "pdfminer"):
        if not importlib.util.find_spec(module):
            print(f"{module} is not installed: left out", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
