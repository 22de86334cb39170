"""Assets that cost money: records read from windows, and their verdicts."""

import dagster as dg
import polars as pl

from resources.endpoints import ModelClientResource
from resources.gpu_jobs import op_tags
from resources.project import ProjectResource
from starling_assets.agents.tasks import Task
from starling_assets.artifacts.journal import Journal
from starling_assets.artifacts.locks import partition_lock
from starling_assets.extraction.assemble import assemble
from starling_assets.extraction.coverage import paper_coverage
from starling_assets.extraction.extract import extract_shard, shard_windows
from starling_assets.extraction.judging import judge_batches, judge_shard, verdicts
from starling_assets.extraction.tables import AXES, COVERAGE, RECORDS, REJECTED, VERDICTS
from starling_assets.inference.calls import Role
from starling_assets.partitions import task_and_shard, task_shards
from starling_assets.settings import Settings, load_settings

from .literature import papers
from .metadata import counts_table, sample_table, value_counts
from .model_work import accounted, progress_of, tally_metadata, usage_metadata
from .planning import frozen_schema, read_frozen_task
from .retrieval import subcorpus
from .tagging import ontology_links, tag_shards

# The shape of a GPU step is part of the definition, so it is read when the code location loads.
_SETTINGS = load_settings()
_CELL = dg.BackfillPolicy.multi_run(max_partitions_per_run=1)


@dg.asset(
    group_name="extraction",
    partitions_def=task_shards,
    backfill_policy=_CELL,
    deps=[subcorpus, frozen_schema, papers, tag_shards, ontology_links],
    pool="llm",
    kinds={"openai"},
    op_tags=op_tags(Role.EXTRACTOR, _SETTINGS),
    check_specs=[dg.AssetCheckSpec("raw_extractions_accounted", asset="raw_extractions")],
)
def raw_extractions(
    context: dg.AssetExecutionContext, project: ProjectResource, models: ModelClientResource
) -> dg.MaterializeResult:
    """Grounded records of the shard's windows. Every window ends ok, empty or failed; only new windows are paid for."""
    task_name, shard = task_and_shard(context)
    store, settings = project.store, project.settings
    task, _ = read_frozen_task(store, task_name)
    blocks, paper_frame = store.read("papers", shard, table="blocks"), store.read("papers", shard)
    chosen = store.read("subcorpus", task_name, shard)
    folder = store.folder("raw_extractions", task_name, shard)
    with partition_lock(folder, f"extraction of {task_name} on {shard}"):
        journal, client = Journal(folder / "journal"), models.client(_budget(task, settings))
        tally = extract_shard(task, chosen, blocks, paper_frame, client, journal, settings, progress_of("windows"))
        windows = shard_windows(task, chosen, blocks, paper_frame, client.model_name(Role.EXTRACTOR), settings)
        outcomes = journal.outcomes()
        made = assemble(
            task,
            windows,
            outcomes,
            paper_frame,
            store.read("tag_shards", shard),
            store.read("tag_shards", shard, table="mentions"),
            store.read("ontology_links", shard),
            settings,
        )
        per_paper = paper_coverage(windows, outcomes)
        store.write(made.records, "raw_extractions", task_name, shard, schema=RECORDS)
        store.write(made.rejected, "raw_extractions", task_name, shard, table="rejected", schema=REJECTED)
        store.write(per_paper, "raw_extractions", task_name, shard, table="coverage", schema=COVERAGE)
    return dg.MaterializeResult(
        metadata={
            **tally_metadata(tally),
            "records": made.records.height,
            "rejected_by_reason": counts_table(value_counts(made.rejected, "reason"), "reason"),
            **usage_metadata(journal),
            "sample": sample_table(made.records, ["entity", "label", "value_text", "smiles", "pmid"]),
        },
        check_results=[accounted("raw_extractions_accounted", tally)],
    )


@dg.asset(
    group_name="extraction",
    partitions_def=task_shards,
    backfill_policy=_CELL,
    deps=[raw_extractions],
    pool="llm",
    kinds={"openai"},
    op_tags=op_tags(Role.JUDGE, _SETTINGS),
    check_specs=[dg.AssetCheckSpec("judgments_accounted", asset="judgments")],
)
def judgments(
    context: dg.AssetExecutionContext, project: ProjectResource, models: ModelClientResource
) -> dg.MaterializeResult:
    """Verdicts on five axes for every record, with reasons; a record is kept only when all five pass."""
    task_name, shard = task_and_shard(context)
    store, settings = project.store, project.settings
    task, _ = read_frozen_task(store, task_name)
    records = store.read("raw_extractions", task_name, shard)
    blocks, paper_frame = store.read("papers", shard, table="blocks"), store.read("papers", shard)
    folder = store.folder("judgments", task_name, shard)
    with partition_lock(folder, f"judging of {task_name} on {shard}"):
        journal, client = Journal(folder / "journal"), models.client(_budget(task, settings))
        tally = judge_shard(task, records, blocks, paper_frame, client, journal, settings, progress_of("judgments"))
        batches = judge_batches(
            task, records, blocks, paper_frame, client.model_name(Role.JUDGE), settings.extraction.judge_batch
        )
        frame = verdicts(records, journal.outcomes(), batches)
        store.write(frame, "judgments", task_name, shard, schema=VERDICTS)
    judged = frame.filter(pl.col("status") == "ok")
    return dg.MaterializeResult(
        metadata={
            **tally_metadata(tally),
            "judged": judged.height,
            "kept": int(judged["kept"].sum()),
            "failed_by_axis": counts_table({axis: int((~judged[axis]).sum()) for axis in AXES}, "axis", "records"),
            **usage_metadata(journal),
        },
        check_results=[accounted("judgments_accounted", tally)],
    )


def _budget(task: Task, settings: Settings) -> float | None:
    """The smaller of the task's and the project's bound on cost."""
    bounds = [bound for bound in (task.budget.max_cost, settings.extraction.max_cost) if bound is not None]
    return min(bounds, default=None)
