"""Cheap checks beside the assets: nothing lost, evidence true, identifiers sane."""

import dagster as dg
import polars as pl

from resources.project import ProjectResource
from starling_assets.artifacts.store import Store
from starling_assets.extraction.assemble import evidence_holds

from .datasets import judged_dataset
from .literature import citations, papers
from .tagging import tag_shards

#: Share of empty titles above which a parser, not the papers, is to blame.
_NULL_RATE = 0.2


def _latest_partition(context: dg.AssetCheckExecutionContext, store: Store, asset: str) -> tuple[str, ...] | None:
    """Partition of the run, else the newest one made."""
    if context.has_partition_key:
        return (context.partition_key,)
    made = list(store.partitions(asset))
    return max(made, key=lambda key: store.path(asset, *key).stat().st_mtime) if made else None


@dg.asset_check(asset=papers, description="Every source file is either read or set aside with a reason.")
def every_file_accounted(context: dg.AssetCheckExecutionContext, project: ProjectResource) -> dg.AssetCheckResult:
    """Files of the manifest = files read + files set aside."""
    key = _latest_partition(context, project.store, "papers")
    if key is None:
        return dg.AssetCheckResult(passed=True, metadata={"files": 0})
    planned = {file.name for file in project.shards.shard(key[0]).files}
    files = project.store.read("papers", *key, table="files")
    silent = files.filter((pl.col("status") == "set_aside") & (pl.col("reason").fill_null("") == ""))
    missing = sorted(planned - set(files["file"]))
    return dg.AssetCheckResult(
        passed=not missing and silent.is_empty(),
        metadata={"files": len(planned), "missing": missing, "without_reason": silent["file"].to_list()},
    )


@dg.asset_check(asset=citations, description="Titles are not missing more often than papers without a title exist.")
def citation_null_rate(context: dg.AssetCheckExecutionContext, project: ProjectResource) -> dg.AssetCheckResult:
    """Share of citations without a title."""
    key = _latest_partition(context, project.store, "citations")
    frame = project.store.read("citations", *key) if key else pl.DataFrame({"title": [], "deleted": []})
    living = frame.filter(~pl.col("deleted").cast(pl.Boolean))
    rate = int((living["title"].fill_null("") == "").sum()) / max(living.height, 1)
    return dg.AssetCheckResult(passed=rate <= _NULL_RATE, metadata={"null_rate": rate, "citations": living.height})


@dg.asset_check(asset=tag_shards, description="text[start:end] == surface for every mention.")
def mention_offsets(context: dg.AssetCheckExecutionContext, project: ProjectResource) -> dg.AssetCheckResult:
    """Offsets of all mentions against the stored blocks."""
    key = _latest_partition(context, project.store, "tag_shards")
    if key is None:
        return dg.AssetCheckResult(passed=True, metadata={"mentions": 0})
    store = project.store
    mentions = store.read("tag_shards", *key, table="mentions")
    texts = store.read("papers", *key, table="blocks", columns=["paper_ordinal", "para_idx", "text"])
    joined = mentions.join(texts.drop_nulls("para_idx"), on=["paper_ordinal", "para_idx"], how="left")
    rows = joined.select("text", "start", "end", "surface").iter_rows()
    wrong = sum(1 for text, start, end, surface in rows if text is None or text[start:end] != surface)
    return dg.AssetCheckResult(passed=wrong == 0, metadata={"mentions": mentions.height, "wrong": wrong})


@dg.asset_check(asset=judged_dataset, description="text[start:end] == quote for every evidence of every kept record.")
def evidence_is_true(context: dg.AssetCheckExecutionContext, project: ProjectResource) -> dg.AssetCheckResult:
    """Evidence of the kept records against the stored blocks of all shards."""
    key = _latest_partition(context, project.store, "judged_dataset")
    if key is None:
        return dg.AssetCheckResult(passed=True, metadata={"records": 0})
    store = project.store
    records = store.read("judged_dataset", *key)
    broken: list[str] = []
    for (shard,), part in records.group_by(["shard"], maintain_order=True):
        broken += evidence_holds(part, store.read("papers", str(shard), table="blocks"))
    return dg.AssetCheckResult(passed=not broken, metadata={"records": records.height, "broken": broken[:20]})
