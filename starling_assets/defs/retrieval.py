"""Assets of retrieval: the papers any probe matches, ranked, and the windows to read, in order of payment."""

import dagster as dg
import numpy as np

from resources.embedder import EmbedderResource
from resources.entity_index import EntityIndexResource
from resources.project import ProjectResource
from resources.vector_index import VectorIndexResource
from starling_assets.literature.windows import cut_windows
from starling_assets.partitions import task_and_shard, task_shards
from starling_assets.retrieval.masks import current_papers
from starling_assets.retrieval.probes import run_probe
from starling_assets.retrieval.ranking import best_similarity, hit_table, rank_papers
from starling_assets.retrieval.ranking import subcorpus as rank_windows
from starling_assets.retrieval.tables import RETRIEVAL_SET, SUBCORPUS

from .literature import chunks, papers
from .metadata import counts_table, sample_table
from .planning import probe_set, read_probes
from .tagging import entity_index, vector_index

_CELL = dg.BackfillPolicy.multi_run(max_partitions_per_run=1)


@dg.asset(
    group_name="retrieval",
    partitions_def=task_shards,
    backfill_policy=_CELL,
    deps=[probe_set, entity_index, vector_index, chunks],
    pool="index",
    kinds={"faiss"},
)
def retrieval_set(
    context: dg.AssetExecutionContext,
    project: ProjectResource,
    entities: EntityIndexResource,
    vectors: VectorIndexResource,
    embedder: EmbedderResource,
) -> dg.MaterializeResult:
    """Papers of the shard that any probe matches: probe hits, mean and maximum similarity, rank."""
    task, shard = task_and_shard(context)
    store, probes = project.store, read_probes(project.store, task)
    chunk_frame, index = store.read("chunks", shard), entities.index()
    # Papers that a later shard replaced or deleted are not read again.
    counted = current_papers(project.standing(), shard)
    hits = {probe.name: run_probe(probe, index, shard, chunk_frame, counted) for probe in probes}
    ordinals = chunk_frame["ordinal"].to_numpy().astype(np.uint32)
    model = embedder.embedder()
    queries = model.embed([probe.semantic_query for probe in probes])
    similarities = vectors.index(model.name).score(shard, queries, ordinals)
    frame = rank_papers(hits, chunk_frame, similarities, ordinals, project.settings.retrieval)
    store.write(frame, "retrieval_set", task, shard, schema=RETRIEVAL_SET)
    matched = hit_table(hits)
    store.write(matched, "retrieval_set", task, shard, table="hits")
    store.write(best_similarity(similarities, ordinals), "retrieval_set", task, shard, table="similarity")
    return dg.MaterializeResult(
        metadata={
            "papers": frame.height,
            "papers_in_shard": chunk_frame["paper_ordinal"].n_unique(),
            "chunks": matched["chunk"].n_unique(),
            "chunks_by_probe": counts_table({name: len(bitmap) for name, bitmap in hits.items()}, "probe", "chunks"),
            "top_papers": sample_table(frame, ["rank", "paper_id", "score", "max_similarity", "probes"], rows=20),
        }
    )


@dg.asset(
    group_name="retrieval",
    partitions_def=task_shards,
    backfill_policy=_CELL,
    deps=[retrieval_set, papers],
    pool="cpu",
    kinds={"polars"},
)
def subcorpus(context: dg.AssetExecutionContext, project: ProjectResource) -> dg.MaterializeResult:
    """The windows to extract from, best papers first; a bound is spread over the papers, best windows first."""
    task, shard = task_and_shard(context)
    store, extraction = project.store, project.settings.extraction
    windows = cut_windows(
        store.read("papers", shard, table="blocks"), extraction.window_paragraphs, extraction.window_paragraphs
    )
    frame = rank_windows(
        store.read("retrieval_set", task, shard),
        store.read("retrieval_set", task, shard, table="hits"),
        store.read("retrieval_set", task, shard, table="similarity"),
        store.read("chunks", shard),
        windows,
        extraction.max_windows,
    )
    store.write(frame, "subcorpus", task, shard, schema=SUBCORPUS)
    return dg.MaterializeResult(
        metadata={
            "windows": frame.height,
            "windows_in_shard": windows.height,
            "papers": frame["paper_id"].n_unique(),
            "first": sample_table(frame, ["position", "paper_id", "first_para", "n", "similarity"], rows=20),
        }
    )
