"""The asset of pages that are pictures: read by an OCR engine before papers are put together."""

import dagster as dg
import polars as pl

from resources.gpu_jobs import op_tags
from resources.ocr import OcrResource
from resources.project import ProjectResource
from starling_assets.artifacts.journal import Journal
from starling_assets.artifacts.locks import partition_lock
from starling_assets.artifacts.progress import report
from starling_assets.inference.calls import Role
from starling_assets.literature.ocr.reading import no_engine, read_shard
from starling_assets.literature.tables import OCR_ENGINE, OCR_PAGES
from starling_assets.partitions import shards
from starling_assets.settings import load_settings

from .metadata import counts_table, sample_table, value_counts

# The shape of a GPU step is part of the definition, so it is read when the code location loads.
_SETTINGS = load_settings()
_ON_GPU = op_tags(Role.OCR, _SETTINGS) if _SETTINGS.literature.ocr_engine == "dots" else {}


@dg.asset(
    group_name="literature",
    partitions_def=shards,
    backfill_policy=dg.BackfillPolicy.multi_run(max_partitions_per_run=1),
    pool="ocr",
    kinds={"polars"},
    op_tags=_ON_GPU,
    check_specs=[dg.AssetCheckSpec("ocr_pages_accounted", asset="ocr_markdown")],
)
def ocr_markdown(context: dg.AssetExecutionContext, project: ProjectResource, ocr: OcrResource) -> dg.MaterializeResult:
    """PDF pages without a sound text layer, read as pictures: blocks, Markdown, raw replies and a status per page."""
    shard, store, limits = context.partition_key, project.store, project.settings.literature
    folder = store.folder("ocr_markdown", shard)
    with partition_lock(folder, f"OCR of {shard}"):
        choice = ocr.choice()
        if choice.engine is None:
            result = no_engine(choice.reason)
        else:
            result = read_shard(
                project.shards.sources(shard),
                choice.engine,
                Journal(folder / "journal"),
                limits,
                on_progress=lambda done, total: report("ocr", done, total),
            )
        store.write(result.pages, "ocr_markdown", shard, schema=OCR_PAGES)
        store.write(result.engine, "ocr_markdown", shard, table="engine", schema=OCR_ENGINE)
    tally = result.tally
    whole = tally.planned == tally.ok + tally.empty + tally.failed
    troubled = result.pages.filter(pl.col("status") != "ok")
    return dg.MaterializeResult(
        metadata={
            "engine": choice.engine.name if choice.engine else f"none: {choice.reason}",
            **{f"units_{name}": getattr(tally, name) for name in ("planned", "ok", "empty", "failed", "pending")},
            "by_problem": counts_table(value_counts(result.pages, "problem"), "problem", "pages"),
            "cost": float(result.pages["cost"].sum()),
            "not_read_whole": sample_table(troubled, ["file", "page", "status", "reason"], rows=50),
            "sample": sample_table(result.pages, ["file", "page", "problem", "status", "markdown"]),
        },
        check_results=[
            dg.AssetCheckResult(
                check_name="ocr_pages_accounted",
                passed=whole and tally.failed == 0,
                severity=dg.AssetCheckSeverity.WARN if whole else dg.AssetCheckSeverity.ERROR,
                metadata=tally.model_dump(),
            )
        ],
    )
