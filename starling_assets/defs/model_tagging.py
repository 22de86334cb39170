"""Tagging a shard by a language model: journal, lock, budget, and what the run tells. Used by ``tag_shards``."""

import dagster as dg
import polars as pl

from resources.endpoints import ModelClientResource
from resources.project import ProjectResource
from starling_assets.artifacts.files import StoreError
from starling_assets.artifacts.journal import Journal
from starling_assets.artifacts.locks import partition_lock
from starling_assets.artifacts.store import Store
from starling_assets.tagging.collecting import Tagged
from starling_assets.tagging.engines import build_tagger, model_role
from starling_assets.tagging.tables import MENTIONS, TAGS

from .metadata import counts_table, sample_table, value_counts
from .model_work import accounted, progress_of, tally_metadata, usage_metadata


def names_in_use(project: ProjectResource) -> pl.DataFrame:
    """The lexicon that tags and links are made with: as compiled, or with the validated names (``tagging.overlay``)."""
    from starling_assets.tagging.overlay import lexicon_in_use

    return lexicon_in_use(project.store, overlay=project.settings.tagging.overlay)


def write_tags(store: Store, shard: str, tagged: Tagged) -> dict[str, dg.MetadataValue | int]:
    """Write the tag tables of ``shard`` and return what a person wants to see of them."""
    store.write(tagged.tags, "tag_shards", shard, schema=TAGS)
    store.write(tagged.mentions, "tag_shards", shard, table="mentions", schema=MENTIONS)
    return {
        "entities": tagged.tags.height,
        "mentions": tagged.mentions.height,
        "by_type": counts_table(value_counts(tagged.mentions, "entity_type"), "entity type", "mentions"),
        "sample": sample_table(tagged.tags, ["canonical_name", "entity_type", "surface_forms", "paragraphs"]),
    }


def tag_by_model(
    project: ProjectResource,
    models: ModelClientResource,
    shard: str,
    names: pl.DataFrame,
    blocks: pl.DataFrame,
    check: str | None,
) -> dg.MaterializeResult:
    """Tags of ``shard`` by teacher or student. Every pass ends ok, empty or failed; only missing ones are paid for."""
    from starling_assets.tagging.llm.tagger import PASSAGES, REJECTED, ModelTagged, ModelWork

    store, settings = project.store, project.settings
    role = model_role(settings)
    if role is None:
        raise StoreError(f"the engine {settings.tagging.engine!r} asks no model")
    folder = store.folder("tag_shards", shard)
    with partition_lock(folder, f"tagging of {shard}"):
        journal, client = Journal(folder / "journal"), models.client(settings.tagging.max_cost)
        work = ModelWork(client, journal, client.concurrency(role), progress_of("passes"))
        tagged = build_tagger(settings, names, work).tag(blocks)
        if not isinstance(tagged, ModelTagged):
            raise TypeError(f"the engine {settings.tagging.engine!r} gave no account of its passes")
        shown = write_tags(store, shard, tagged)
        store.write(tagged.rejected, "tag_shards", shard, table="rejected", schema=REJECTED)
        store.write(tagged.passages, "tag_shards", shard, table="passages", schema=PASSAGES)
    return dg.MaterializeResult(
        metadata={
            **shown,
            **tally_metadata(tagged.tally),
            "rejected_by_reason": counts_table(value_counts(tagged.rejected, "reason"), "reason"),
            **usage_metadata(journal),
        },
        check_results=[] if check is None else [accounted(check, tagged.tally)],
    )
