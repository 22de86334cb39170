"""What assets that pay for model calls tell: progress while they run, counts, tokens and cost when they are done."""

from __future__ import annotations

import dagster as dg

from starling_assets.artifacts.journal import Journal, Tally
from starling_assets.artifacts.progress import report
from starling_assets.journalled import OnProgress
from starling_assets.journalled import Progress as UnitProgress


def progress_of(stage: str) -> OnProgress:
    """Report journalled work under ``stage``, with the tokens this run has paid for."""

    def tell(progress: UnitProgress) -> None:
        usage = progress.usage
        report(stage, progress.done, progress.planned, tokens=usage.prompt_tokens + usage.completion_tokens)

    return tell


def accounted(name: str, tally: Tally) -> dg.AssetCheckResult:
    """planned = ok + empty + failed, and nothing failed."""
    whole = tally.planned == tally.ok + tally.empty + tally.failed
    return dg.AssetCheckResult(
        check_name=name,
        passed=whole and tally.failed == 0,
        severity=dg.AssetCheckSeverity.ERROR if not whole else dg.AssetCheckSeverity.WARN,
        metadata=tally.model_dump(),
    )


def tally_metadata(tally: Tally) -> dict[str, int]:
    """How the planned units ended."""
    return {f"units_{name}": getattr(tally, name) for name in ("planned", "ok", "empty", "failed", "pending")}


def usage_metadata(journal: Journal) -> dict[str, dg.MetadataValue]:
    """Tokens, calls and US dollars over all outcomes of a journal, earlier runs included."""
    totals: dict[str, float] = {}
    for outcome in journal.outcomes().values():
        for name, value in outcome.usage.items():
            totals[name] = totals.get(name, 0.0) + value
    return {f"usage_{name}": dg.MetadataValue.float(float(value)) for name, value in sorted(totals.items())}
