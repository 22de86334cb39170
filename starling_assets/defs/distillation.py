"""Assets that make a student out of a teacher: validated names, and the training set. Started by a person only."""

import dagster as dg
import polars as pl

from resources.embedder import EmbedderResource
from resources.endpoints import ModelClientResource
from resources.gpu_jobs import op_tags
from resources.project import ProjectResource
from starling_assets.artifacts.journal import Journal
from starling_assets.artifacts.locks import partition_lock
from starling_assets.inference.calls import Role
from starling_assets.ontology.tables import LEXICON
from starling_assets.partitions import entity_types
from starling_assets.settings import load_settings
from starling_assets.tagging.entity_types import EntityType

from .literature import papers
from .metadata import counts_table, sample_table, value_counts
from .model_work import accounted, progress_of, tally_metadata, usage_metadata
from .ontology import lexicon
from .tagging import tag_shards

_SETTINGS = load_settings()
_ALL_SHARDS = dg.AllPartitionMapping()
_ACCOUNTED = "vocabulary_validation_accounted"


@dg.asset(
    group_name="distillation",
    partitions_def=entity_types,
    backfill_policy=dg.BackfillPolicy.multi_run(max_partitions_per_run=1),
    deps=[dg.AssetDep(tag_shards, partition_mapping=_ALL_SHARDS), lexicon],
    pool="llm",
    kinds={"openai"},
    op_tags=op_tags(Role.VALIDATOR, _SETTINGS),
    check_specs=[dg.AssetCheckSpec(_ACCOUNTED, asset="vocabulary_validation")],
)
def vocabulary_validation(
    context: dg.AssetExecutionContext, project: ProjectResource, models: ModelClientResource, embedder: EmbedderResource
) -> dg.MaterializeResult:
    """Which ontology entry each frequent entity of a type is, by a strong model, and the overlay of names it gives."""
    from starling_assets.tagging.distilling import questions
    from starling_assets.tagging.overlay import build_overlay
    from starling_assets.tagging.validation import DECISIONS, decision_rows, plan_batches, validate

    kind, store, settings = EntityType(context.partition_key), project.store, project.settings.tagging
    folder = store.folder("vocabulary_validation", kind.value)
    with partition_lock(folder, f"validation of {kind.value}"):
        journal, client = Journal(folder / "journal"), models.client(settings.max_cost)
        asked = questions(store, project.shards.in_order(), kind, settings, embedder.embedder().embed)
        batches = plan_batches(kind, asked, client.model_name(Role.VALIDATOR), settings.validation_batch)
        tally = validate(batches, client, journal, client.concurrency(Role.VALIDATOR), progress_of("batches"))
        decisions = decision_rows(kind, asked, batches, journal.outcomes())
        overlay = build_overlay(decisions, store.read("lexicon"))
        about = pl.DataFrame({"version": [overlay.version]})
        store.write(decisions, "vocabulary_validation", kind.value, schema=DECISIONS)
        store.write(overlay.rows, "vocabulary_validation", kind.value, table="overlay", schema=LEXICON)
        store.write(about, "vocabulary_validation", kind.value, table="about")
    return dg.MaterializeResult(
        metadata={
            "entities": decisions.height,
            "by_status": counts_table(value_counts(decisions, "status"), "status", "entities"),
            "new_names": overlay.rows.height,
            **tally_metadata(tally),
            **usage_metadata(journal),
            "sample": sample_table(decisions, ["canonical_name", "papers", "status", "concept_name", "why"]),
        },
        data_version=dg.DataVersion(overlay.version),
        check_results=[accounted(_ACCOUNTED, tally)],
    )


@dg.asset(
    group_name="distillation",
    deps=[
        dg.AssetDep(tag_shards, partition_mapping=_ALL_SHARDS),
        dg.AssetDep(papers, partition_mapping=_ALL_SHARDS),
        vocabulary_validation,
        lexicon,
    ],
    pool="cpu",
    kinds={"json"},
)
def tagging_training_set(project: ProjectResource) -> dg.MaterializeResult:
    """Chats that teach the student: windows tagged by the teacher for all types, with validated names, and a card."""
    from starling_assets.tagging.distilling import CARD, EXAMPLES, write_training_set

    folder = project.store.folder("tagging_training_set")
    counts, card = write_training_set(
        project.store, project.shards.in_order(), folder, project.settings.tagging.training_papers
    )
    return dg.MaterializeResult(
        metadata={
            "examples": sum(counts.examples.values()),
            "by_split": counts_table(counts.examples, "split", "examples"),
            "by_type": counts_table(counts.types, "entity type", "entities"),
            "left_out": counts_table(counts.left_out, "reason", "passages"),
            "file": dg.MetadataValue.path(folder / EXAMPLES),
            "card_file": dg.MetadataValue.path(folder / CARD),
            "card": dg.MetadataValue.md(card),
        }
    )
