"""How well and how fast OCR reads: pages with a sound text layer are drawn, read as pictures, and held against it.

``uv run --extra ocr python -m benchmarks.ocr --shared ../shared/data [--engine tesseract] [--pages 12] [--json]``

CPU seconds of this process and its children count. Words of a page and words read are aligned; errors are counted where
a few words differ between words that agree, so that captions or tables read in another order do not count as errors but
lower the aligned share. Signs are letters and marks that matter in this field (Greek, ±, ≤, °, …).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from pathlib import Path

from benchmarks.corpus import TWINS, core_score, cpu_seconds
from resources.ocr import choose_engine
from starling_assets.literature.ocr.pages import OcrEngine, PageToRead
from starling_assets.literature.pdf_lines import Page, read_pages
from starling_assets.literature.pdf_words import join_lines
from starling_assets.literature.text import clean
from starling_assets.settings import Settings
from starling_assets.settings.model import LiteratureSettings

SIGNS = frozenset("αβγδεκλμπσφχψωΔΣΩ±×≤≥≈°−→·®²³½")
#: Differences of at most this many words on either side are errors of reading, longer ones of order or of layout.
_FEW = 4


@dataclass
class Measured:
    """One line of the report."""

    engine: str
    pages: int
    failed: int
    pages_per_cpu_minute: float
    wall_seconds: float
    words: int
    aligned: float
    character_errors: float
    signs_kept: float


def sample(shared: Path, count: int) -> list[tuple[Path, Page]]:
    """Pages of running text, spread over the files and within each."""
    found: list[tuple[Path, Page]] = []
    folder = shared / "literature/pdf_twins"
    for number in range(count):
        path = folder / f"{TWINS[number % len(TWINS)]}.pdf"
        pages = [page for page in read_pages(path, 400) if sum(len(line.text) for line in page.lines) > 1_500]
        found.append((path, pages[(1 + 2 * (number // len(TWINS))) % len(pages)]))
    return found


def words_of(page: Page) -> list[str]:
    """Words of the text layer, in its order."""
    return clean(join_lines([line.text for line in page.lines])).split()


def measure(engine: OcrEngine, pages: Sequence[tuple[Path, Page]]) -> Measured:
    """Read all pages, one after the other."""
    total = aligned = letters = errors = failed = 0
    signs, kept = Counter[str](), Counter[str]()
    began, clock = cpu_seconds(), time.monotonic()
    readings = []
    for path, page in pages:
        todo = PageToRead(path, path.name, "0" * 64, page.number, page.width, page.height, "scan", unit=path.name)
        readings.append(asyncio.run(engine.read(todo)))
    seconds, wall = cpu_seconds() - began, time.monotonic() - clock
    for (_, page), reading in zip(pages, readings, strict=True):
        failed += not reading.is_used
        expected, found = words_of(page), clean(" ".join(block.text for block in reading.blocks)).split()
        total += len(expected)
        signs.update(sign for sign in "".join(expected) if sign in SIGNS)
        both = Counter(sign for sign in "".join(expected) if sign in SIGNS)
        kept.update(both & Counter(sign for sign in "".join(found) if sign in SIGNS))
        for kind, i, j, k, m in SequenceMatcher(None, expected, found, autojunk=False).get_opcodes():
            if kind == "equal" or (kind == "replace" and max(j - i, m - k) <= _FEW):
                aligned += j - i
                letters += sum(map(len, expected[i:j]))
                errors += distance("".join(expected[i:j]), "".join(found[k:m]))
    return Measured(
        engine.name,
        len(pages),
        failed,
        round(60 * len(pages) / max(seconds, 1e-6), 1),
        round(wall, 1),
        total,
        round(aligned / max(total, 1), 4),
        round(errors / max(letters, 1), 5),
        round(kept.total() / max(signs.total(), 1), 3),
    )


def distance(left: str, right: str) -> int:
    """Fewest insertions, deletions and replacements of characters that turn one text into the other."""
    if left == right:
        return 0
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        corner, row[0] = row[0], i
        for j, b in enumerate(right, start=1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (a != b))
    return row[-1]


def main(arguments: list[str]) -> int:
    """Print one line per engine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, required=True, help="folder of the development data")
    parser.add_argument("--engine", choices=("tesseract", "rapidocr", "dots"), action="append")
    parser.add_argument("--pages", type=int, default=6)
    parser.add_argument("--dpi", type=int, default=LiteratureSettings().ocr_dpi)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    print(f"core score {core_score()} additions per microsecond", file=sys.stderr)
    pages = sample(options.shared, options.pages)
    for name in options.engine or ("tesseract", "rapidocr"):
        choice = choose_engine(Settings(literature=LiteratureSettings(ocr_engine=name, ocr_dpi=options.dpi)))
        if choice.engine is None:
            print(f"{name}: {choice.reason}", file=sys.stderr)
            continue
        found = measure(choice.engine, pages)
        if options.json:
            print(json.dumps(asdict(found)))
        else:
            print(
                f"{found.engine:<34}{found.pages:>3} pages{found.failed:>3} failed"
                f"{found.pages_per_cpu_minute:>7}/CPU-min  {found.aligned:.1%} of {found.words} words aligned, "
                f"{found.character_errors:.2%} character errors in them, {found.signs_kept:.0%} of signs kept"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
