"""OCR of a shard: which pages need it, each read once through a journal, every page accounted for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from starling_assets.artifacts.journal import Journal, Outcome, Tally
from starling_assets.artifacts.keys import content_key
from starling_assets.inference.calls import FailureKind, ModelFailure
from starling_assets.inference.engine import run_blocking, run_units
from starling_assets.inference.stopping import Stop
from starling_assets.literature.pdf_process import run_child
from starling_assets.literature.sources import SourceFile, sniff
from starling_assets.literature.tables import OCR_ENGINE, OCR_PAGES
from starling_assets.settings.model import LiteratureSettings

from .markdown import page_markdown
from .pages import OcrEngine, OcrPage, PageToRead, Readings, as_payload, from_payload

OnProgress = Callable[[int, int], None]

#: Pages in a row that the endpoint did not answer for, from which it counts as gone.
_GONE_AFTER = 3
_OUTCOMES = {"ok": "ok", "blank": "empty", "partial": "failed", "failed": "failed"}


@dataclass(frozen=True)
class OcrResult:
    """``pages``: OCR_PAGES, one row per page that needs OCR; ``engine``: OCR_ENGINE, one row; their ``tally``."""

    pages: pl.DataFrame
    engine: pl.DataFrame
    tally: Tally


def pages_to_read(files: Sequence[SourceFile], engine: str, limits: LiteratureSettings) -> list[PageToRead]:
    """The pages of all PDFs among ``files`` whose text layer is missing or cannot be trusted, by file and number.

    A file that cannot be read at all has none here: the reader of papers sets it aside with the reason.
    """
    pages: list[PageToRead] = []
    seen: set[str] = set()
    for file in sorted(files, key=lambda file: file.name):
        if file.sha256 in seen or sniff(file.path) != "pdf":
            continue
        seen.add(file.sha256)
        result = run_child(file.path, limits, layout=False)
        for number, layer in (result.get("layers") or {}).items():
            page = int(number)
            width, height = result["sizes"][page - 1]
            unit = content_key(file.sha256, page, engine)
            pages.append(
                PageToRead(
                    file.path, file.name, file.sha256, page, width, height, result["pages"][page - 1], layer, unit
                )
            )
    return pages


def read_shard(
    files: Sequence[SourceFile],
    engine: OcrEngine,
    journal: Journal,
    limits: LiteratureSettings,
    on_progress: OnProgress | None = None,
    stop: Stop | None = None,
) -> OcrResult:
    """Read the pages that need it and have no reading yet in ``journal``.

    A page ends ``ok``, ``empty`` (nothing on it) or ``failed`` with a reason; a page read in part counts as failed, its
    blocks are used all the same. Raises :class:`ModelFailure` for what no further page can escape, after everything
    that was paid for is stored, and for an endpoint that is gone.
    """
    todo = {page.unit: page for page in pages_to_read(files, engine.name, limits)}
    journal.plan(list(todo))
    missing = journal.missing()
    done = len(todo) - len(missing)
    in_a_row = 0

    def tell() -> None:
        if on_progress is not None:
            on_progress(done, len(todo))

    def read(page: PageToRead, reading: OcrPage) -> None:
        nonlocal done, in_a_row
        journal.record([outcome_of(page.unit, reading)])
        done, in_a_row = done + 1, 0
        tell()

    def failed(page: PageToRead, failure: ModelFailure) -> None:
        nonlocal done, in_a_row
        reason = f"{failure.kind.value}: {failure.message[:300]}"
        journal.record([outcome_of(page.unit, OcrPage(page.page, "failed", reason, usage=failure.usage.as_dict()))])
        done += 1
        in_a_row += failure.kind is FailureKind.CONNECTION
        tell()
        if in_a_row >= max(_GONE_AFTER, engine.in_flight):
            raise failure

    tell()
    run_blocking(
        run_units([todo[unit] for unit in missing], engine.read, engine.in_flight, read, failed, stop or Stop())
    )
    outcomes = journal.outcomes()
    rows = [_row(page, outcomes[unit], engine.name) for unit, page in todo.items() if unit in outcomes]
    return OcrResult(
        pl.DataFrame(rows, schema=OCR_PAGES),
        pl.DataFrame([{"engine": engine.name, "reason": ""}], schema=OCR_ENGINE),
        journal.tally(),
    )


def no_engine(reason: str) -> OcrResult:
    """The result where no engine can be used; ``reason`` is what papers that need one are set aside with."""
    return OcrResult(
        pl.DataFrame(schema=OCR_PAGES),
        pl.DataFrame([{"engine": "", "reason": reason}], schema=OCR_ENGINE),
        Tally(planned=0, ok=0, empty=0, failed=0, pending=0),
    )


def readings_of(pages: pl.DataFrame, engine: pl.DataFrame) -> Readings:
    """What :func:`read_shard` stored, for the reader of papers."""
    name, reason = engine.row(0)
    by_file: dict[str, dict[int, OcrPage]] = {}
    for row in pages.iter_rows(named=True):
        by_file.setdefault(row["sha256"], {})[row["page"]] = from_payload(row)
    return Readings(name, reason, by_file)


def outcome_of(unit: str, page: OcrPage) -> Outcome:
    """The journal's outcome of one page."""
    return Outcome.model_validate(
        {
            "unit": unit,
            "status": _OUTCOMES[page.status],
            "reason": page.reason or None,
            "payload": as_payload(page),
            "usage": page.usage,
        }
    )


def _row(page: PageToRead, outcome: Outcome, engine: str) -> dict[str, object]:
    reading = replace(from_payload(outcome.payload), usage=outcome.usage)
    return {
        "file": page.file,
        "sha256": page.sha256,
        "problem": page.problem,
        "engine": engine,
        **as_payload(reading),
        "markdown": page_markdown(reading),
        "prompt_tokens": int(reading.usage.get("prompt_tokens", 0)),
        "completion_tokens": int(reading.usage.get("completion_tokens", 0)),
        "cost": reading.usage.get("cost", 0.0),
    }
