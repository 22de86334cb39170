"""What became of each paper: complete, partial (F5), failed or pending. Nothing that was planned is unaccounted for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import polars as pl

from starling_assets.artifacts.journal import Outcome
from starling_assets.artifacts.store import conform, empty

from .tables import COVERAGE
from .windows import Window


def paper_coverage(windows: Iterable[Window], outcomes: Mapping[str, Outcome]) -> pl.DataFrame:
    """COVERAGE frame, by paper id. A paper with a failed window is ``partial``, with failures only ``failed``."""
    counts: dict[str, Counter[str]] = {}
    reasons: dict[str, set[str]] = {}
    for window in windows:
        outcome = outcomes.get(window.unit)
        counts.setdefault(window.paper_id, Counter())[outcome.status if outcome else "pending"] += 1
        if outcome and outcome.status == "failed":
            reasons.setdefault(window.paper_id, set()).add(outcome.reason or "unknown")
    rows = [
        {
            "paper_id": paper,
            "windows": found.total(),
            **{status: found[status] for status in ("ok", "empty", "failed", "pending")},
            "status": _status(found),
            "reasons": sorted(reasons.get(paper, ())),
        }
        for paper, found in sorted(counts.items())
    ]
    return conform(pl.DataFrame(rows, schema=COVERAGE), COVERAGE) if rows else empty(COVERAGE)


def _status(found: Counter[str]) -> str:
    if found["pending"]:
        return "pending"
    if not found["failed"]:
        return "complete"
    return "failed" if found["failed"] == found.total() else "partial"
