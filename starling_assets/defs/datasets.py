"""The judged dataset of a task: all shards, newest paper versions, with Parquet, CSV and a data card."""

import dagster as dg
import polars as pl

from resources.project import ProjectResource
from starling_assets.artifacts.store import Schema, Store
from starling_assets.datasets.build import build_dataset
from starling_assets.datasets.costs import stage_costs
from starling_assets.datasets.export import export_dataset
from starling_assets.extraction.tables import AXES, RECORDS, REJECTED, VERDICTS
from starling_assets.inference.ledger import read_ledger
from starling_assets.literature.tables import PAPERS
from starling_assets.partitions import tasks

from .extraction import judgments
from .metadata import counts_table, sample_table, value_counts
from .planning import read_frozen_task

_TASK = dg.BackfillPolicy.multi_run(max_partitions_per_run=1)


@dg.asset(
    group_name="datasets",
    partitions_def=tasks,
    backfill_policy=_TASK,
    deps=[dg.AssetDep(judgments, partition_mapping=dg.MultiToSingleDimensionPartitionMapping("task"))],
    pool="cpu",
    kinds={"polars"},
)
def judged_dataset(context: dg.AssetExecutionContext, project: ProjectResource) -> dg.MaterializeResult:
    """Judged records of all shards; kept ones are the dataset, the others stay with their reasons."""
    name, store, settings = context.partition_key, project.store, project.settings
    task, digest = read_frozen_task(store, name)
    shards = [shard for shard in project.shards.in_order() if store.exists("judgments", name, shard)]
    made = build_dataset(
        task,
        gather(store, "raw_extractions", [(name, shard) for shard in shards], RECORDS),
        gather(store, "judgments", [(name, shard) for shard in shards], VERDICTS),
        gather(store, "papers", [(shard,) for shard in project.shards.in_order()], PAPERS),
    )
    rejected = gather(store, "raw_extractions", [(name, shard) for shard in shards], REJECTED, table="rejected")
    costs = stage_costs(name, read_ledger(settings.ledger_dir))
    store.write(made.judged, "judged_dataset", name, table="judged")
    store.write(made.kept, "judged_dataset", name)
    store.write(rejected, "judged_dataset", name, table="rejected")
    store.write(costs, "judged_dataset", name, table="costs")
    paths = export_dataset(task, digest, made, rejected, costs, settings.home / "datasets" / name)
    return dg.MaterializeResult(
        metadata={
            "kept": made.kept.height,
            "judged": made.judged.height,
            "papers": made.kept["paper_id"].n_unique(),
            "rejected_by_axis": counts_table({axis: int((made.judged[axis] == False).sum()) for axis in AXES}, "axis"),  # noqa: E712
            "by_label": counts_table(value_counts(made.kept, "label"), "label"),
            "cost_usd": float(costs["cost"].sum()),
            "data_card": dg.MetadataValue.path(paths.card),
            "parquet": dg.MetadataValue.path(paths.parquet),
            "csv": dg.MetadataValue.path(paths.csv),
            "sample": sample_table(made.kept, ["entity", "smiles", "label", "value_text", "pmid"], rows=20),
        }
    )


def gather(store: Store, asset: str, keys: list[tuple[str, ...]], schema: Schema, table: str = "data") -> pl.DataFrame:
    """One table of several partitions, with the shard each row came from."""
    frames = [
        store.read(asset, *key, table=table).with_columns(pl.lit(key[-1]).alias("shard"))
        for key in keys
        if store.exists(asset, *key, table=table)
    ]
    if frames:
        return pl.concat(frames)
    return pl.DataFrame(schema={**schema, "shard": pl.String})
