"""Assets of the entity layer: tags, their links to concepts, bitmaps, and the loaded indexes."""

from contextlib import closing

import dagster as dg
import numpy as np
import polars as pl

from resources.embedder import EmbedderResource
from resources.endpoints import ModelClientResource
from resources.entity_index import EntityIndexResource
from resources.gpu_jobs import op_tags
from resources.project import ProjectResource
from resources.structures.resource import StructuresResource
from resources.vector_index import VectorIndexResource
from starling_assets.ontology.linking import link_entities
from starling_assets.ontology.tables import LINKS
from starling_assets.partitions import shards
from starling_assets.retrieval.filterspec import Scope
from starling_assets.retrieval.postings import build_bitmaps, build_postings, unit_counts
from starling_assets.retrieval.tables import BITMAPS, POSTINGS
from starling_assets.settings import load_settings
from starling_assets.tagging.engines import build_tagger, model_role

from .literature import chunk_embeddings, chunks, papers
from .metadata import counts_table, sample_table, value_counts
from .model_tagging import names_in_use, tag_by_model, write_tags
from .ontology import lexicon

_SHARD = dg.BackfillPolicy.multi_run(max_partitions_per_run=1)
# Whether tagging asks a model is part of the definition (pool, shape of the step), so it is read when this loads.
_SETTINGS = load_settings()
_ROLE = model_role(_SETTINGS)
_ACCOUNTED = "tag_shards_accounted"


@dg.asset(
    group_name="tagging",
    partitions_def=shards,
    backfill_policy=_SHARD,
    deps=[papers, lexicon],
    pool="tagger" if _ROLE is None else "llm",
    kinds={"polars"} if _ROLE is None else {"openai"},
    op_tags=None if _ROLE is None else op_tags(_ROLE, _SETTINGS),
    check_specs=[] if _ROLE is None else [dg.AssetCheckSpec(_ACCOUNTED, asset="tag_shards")],
)
def tag_shards(
    context: dg.AssetExecutionContext, project: ProjectResource, models: ModelClientResource
) -> dg.MaterializeResult:
    """Entity tags of the shard with exact offsets: canonical name, type, surface forms, paragraphs."""
    shard, store = context.partition_key, project.store
    names, blocks = names_in_use(project), store.read("papers", shard, table="blocks")
    if model_role(project.settings) is not None:
        # A settings file that was edited after this loaded finds no check declared.
        return tag_by_model(project, models, shard, names, blocks, None if _ROLE is None else _ACCOUNTED)
    tagged = build_tagger(project.settings, names).tag(blocks)
    return dg.MaterializeResult(metadata=write_tags(store, shard, tagged))


@dg.asset(
    group_name="tagging",
    partitions_def=shards,
    backfill_policy=_SHARD,
    deps=[tag_shards, lexicon],
    pool="cpu",
    kinds={"rdkit"},
)
def ontology_links(
    context: dg.AssetExecutionContext, project: ProjectResource, structures: StructuresResource
) -> dg.MaterializeResult:
    """The concept of each entity with method, score and candidates; SMILES and InChIKey of molecules."""
    shard, store = context.partition_key, project.store
    names, concepts = names_in_use(project), store.read("lexicon", table="concepts")
    with closing(structures.resolver(names, concepts)) as resolver:
        links = link_entities(store.read("tag_shards", shard), names, concepts, resolver)
    store.write(links, "ontology_links", shard, schema=LINKS)
    linked = links.filter(pl.col("concept_id").is_not_null())
    return dg.MaterializeResult(
        metadata={
            "entities": links.height,
            "linked": linked.height,
            "with_structure": int(links["inchikey"].is_not_null().sum()),
            "by_method": counts_table(value_counts(links, "method"), "method"),
            "sample": sample_table(linked, ["canonical_name", "entity_type", "concept_id", "method", "inchikey"]),
        }
    )


@dg.asset(
    group_name="index",
    partitions_def=shards,
    backfill_policy=_SHARD,
    deps=[tag_shards, ontology_links, chunks, papers],
    pool="cpu",
    kinds={"polars"},
)
def entity_bitmaps(context: dg.AssetExecutionContext, project: ProjectResource) -> dg.MaterializeResult:
    """Roaring bitmaps per concept and type at paragraph, chunk and paper scope."""
    shard, store = context.partition_key, project.store
    postings = build_postings(
        store.read("tag_shards", shard, table="mentions"),
        store.read("ontology_links", shard),
        store.read("chunks", shard),
    )
    bitmaps = build_bitmaps(postings)
    store.write(postings, "entity_bitmaps", shard, table="postings", schema=POSTINGS)
    store.write(bitmaps, "entity_bitmaps", shard, schema=BITMAPS)
    types = bitmaps.filter(pl.col("posting_id").str.starts_with("type:"), pl.col("scope") == "paragraph")
    return dg.MaterializeResult(
        metadata={
            "postings": postings.height,
            "bitmaps": bitmaps.height,
            "bytes": int(bitmaps["bitmap"].bin.size().sum()),
            "paragraphs_by_type": counts_table(
                dict(zip(types["posting_id"].to_list(), types["units"].to_list(), strict=True)), "type", "paragraphs"
            ),
        }
    )


@dg.asset(
    group_name="index",
    partitions_def=shards,
    backfill_policy=_SHARD,
    deps=[entity_bitmaps],
    pool="index",
    kinds={"duckdb"},
)
def entity_index(
    context: dg.AssetExecutionContext, project: ProjectResource, entities: EntityIndexResource
) -> dg.MaterializeResult:
    """The shard's postings loaded into the entity index (replacing an earlier load)."""
    shard, store = context.partition_key, project.store
    units = unit_counts(
        store.read("papers", shard, table="blocks"), store.read("chunks", shard), store.read("papers", shard)
    )
    index = entities.index()
    index.load(shard, store.read("entity_bitmaps", shard, table="postings"), units)
    return dg.MaterializeResult(
        metadata={
            "shards_loaded": len(index.shards()),
            "units": counts_table({scope.value: count for scope, count in units.items()}, "scope", "units"),
            "top_entities": counts_table(dict(index.top_entities(Scope.PAPER, 20)), "posting", "papers"),
        }
    )


@dg.asset(
    group_name="index",
    partitions_def=shards,
    backfill_policy=_SHARD,
    deps=[chunk_embeddings],
    pool="index",
    kinds={"faiss"},
)
def vector_index(
    context: dg.AssetExecutionContext,
    project: ProjectResource,
    vectors: VectorIndexResource,
    embedder: EmbedderResource,
) -> dg.MaterializeResult:
    """The shard's chunk vectors loaded into the vector index (replacing an earlier load)."""
    shard = context.partition_key
    table = project.store.read("chunk_embeddings", shard)
    model = embedder.embedder()
    matrix = (
        np.asarray(table["vector"].to_list(), dtype=np.float32)
        if table.height
        else np.empty((0, model.dimension), np.float32)
    )
    index = vectors.index()
    index.load(shard, model.name, table["ordinal"].to_numpy().astype(np.uint32), matrix)
    return dg.MaterializeResult(metadata={"vectors": table.height, "shards_loaded": len(index.shards())})
