"""Assets of the literature stage: source files of a shard to citations, papers, chunks and their vectors."""

import dagster as dg
import polars as pl

from resources.embedder import EmbedderResource
from resources.project import ProjectResource
from resources.vector_index import VectorIndexResource
from starling_assets.artifacts.progress import report
from starling_assets.artifacts.store import Store
from starling_assets.literature import tables
from starling_assets.literature.chunk_text import window_texts
from starling_assets.literature.citations import read_citations
from starling_assets.literature.ocr.reading import readings_of
from starling_assets.literature.papers import read_papers
from starling_assets.literature.windows import cut_windows
from starling_assets.partitions import shards
from starling_assets.retrieval.tables import EMBEDDINGS

from .metadata import counts_table, sample_table, value_counts
from .ocr import ocr_markdown

_SHARD = dg.BackfillPolicy.multi_run(max_partitions_per_run=1)
_EMBED_BATCH = 64


@dg.asset(group_name="literature", partitions_def=shards, backfill_policy=_SHARD, pool="cpu", kinds={"polars"})
def citations(context: dg.AssetExecutionContext, project: ProjectResource) -> dg.MaterializeResult:
    """PubMed citations of the shard: ids, title, abstract, dates with their precision, retractions, deletions."""
    shard = context.partition_key
    result = read_citations(project.shards.sources(shard), project.settings.literature)
    project.store.write(result.files, "citations", shard, table="files", schema=tables.FILES)
    project.store.write(result.citations, "citations", shard, schema=tables.CITATIONS)
    frame = result.citations
    return dg.MaterializeResult(
        metadata={
            "citations": frame.height,
            "deleted": int(frame["deleted"].sum()),
            "retracted": int(frame["retracted"].sum()),
            "sample": sample_table(frame, ["paper_id", "title", "journal", "public_text"]),
        }
    )


@dg.asset(
    group_name="literature",
    partitions_def=shards,
    backfill_policy=_SHARD,
    deps=[citations, ocr_markdown],
    pool="cpu",
    kinds={"polars"},
)
def papers(context: dg.AssetExecutionContext, project: ProjectResource) -> dg.MaterializeResult:
    """Papers of the shard as blocks: JATS, the text layer of PDFs and their pages read by OCR, title and abstract."""
    shard, store = context.partition_key, project.store
    result = read_papers(
        project.shards.sources(shard),
        store.read("citations", shard),
        project.settings.literature,
        on_progress=lambda done, total: report("papers", done, total),
        ocr=readings_of(store.read("ocr_markdown", shard), store.read("ocr_markdown", shard, table="engine")),
    )
    files = merge_file_reports(store.read("citations", shard, table="files"), result.files)
    store.write(files, "papers", shard, table="files", schema=tables.FILES)
    store.write(result.papers, "papers", shard, schema=tables.PAPERS)
    store.write(result.blocks, "papers", shard, table="blocks", schema=tables.BLOCKS)
    aside = files.filter(pl.col("status") == "set_aside")
    return dg.MaterializeResult(
        metadata={
            "papers": result.papers.height,
            "blocks": result.blocks.height,
            "paragraphs": int(result.papers["paragraphs"].sum()),
            "set_aside": aside.height,
            "by_source": counts_table(value_counts(result.papers, "source_kind"), "source"),
            "by_licence": counts_table(value_counts(result.papers, "licence"), "licence"),
            "sample": sample_table(result.papers, ["paper_id", "title", "source_kind", "licence", "paragraphs"]),
            "files_set_aside": sample_table(aside, ["file", "kind", "reason"], rows=50),
        }
    )


@dg.asset(
    group_name="literature",
    partitions_def=shards,
    backfill_policy=_SHARD,
    deps=[papers],
    pool="cpu",
    kinds={"polars"},
)
def chunks(context: dg.AssetExecutionContext, project: ProjectResource) -> dg.MaterializeResult:
    """Overlapping runs of paragraphs: the unit of embedding and of most filters."""
    shard, store, limits = context.partition_key, project.store, project.settings.literature
    blocks = store.read("papers", shard, table="blocks")
    frame = cut_windows(blocks, limits.chunk_paragraphs, limits.chunk_stride)
    store.write(frame, "chunks", shard, schema=tables.WINDOWS)
    return dg.MaterializeResult(
        metadata={
            "chunks": frame.height,
            "by_section": counts_table(value_counts(frame, "section_kind"), "section"),
        }
    )


@dg.asset(
    group_name="literature",
    partitions_def=shards,
    backfill_policy=_SHARD,
    deps=[papers, chunks],
    pool="embedder",
    kinds={"onnx"},
)
def chunk_embeddings(
    context: dg.AssetExecutionContext,
    project: ProjectResource,
    embedder: EmbedderResource,
    vectors: VectorIndexResource,
) -> dg.MaterializeResult:
    """Unit vectors of the shard's chunks. A chunk whose paragraphs did not change keeps its vector."""
    shard, store = context.partition_key, project.store
    frame = store.read("chunks", shard)
    model = embedder.embedder()
    # A store that is down or holds another dimension is found out before anything is embedded (F16).
    vectors.index().check(model.name, model.dimension)
    known = _earlier_vectors(store, shard, model.name)
    keys = frame["window_key"].to_list()
    todo = [row for row, key in enumerate(keys) if key not in known]
    texts = window_texts(store.read("papers", shard, table="blocks"), frame[todo])
    for start in range(0, len(todo), _EMBED_BATCH):
        batch = model.embed(texts[start : start + _EMBED_BATCH]).tolist()
        known.update(zip((keys[row] for row in todo[start : start + _EMBED_BATCH]), batch, strict=True))
        report("embeddings", min(start + _EMBED_BATCH, len(todo)), len(todo))
    found = pl.Series("vector", [known[key] for key in keys], dtype=pl.List(pl.Float32))
    store.write(frame.select("ordinal", "window_key").with_columns(found), "chunk_embeddings", shard, schema=EMBEDDINGS)
    store.write(pl.DataFrame({"model": [model.name]}), "chunk_embeddings", shard, table="model")
    return dg.MaterializeResult(
        metadata={
            "vectors": frame.height,
            "embedded_now": len(todo),
            "dimension": model.dimension,
            "model": model.name,
        }
    )


def _earlier_vectors(store: Store, shard: str, model: str) -> dict[str, list[float]]:
    """Vectors of an earlier run of the same model, by window key."""
    if not store.exists("chunk_embeddings", shard, table="model"):
        return {}
    if store.read("chunk_embeddings", shard, table="model")["model"].to_list() != [model]:
        return {}
    earlier = store.read("chunk_embeddings", shard)
    return dict(zip(earlier["window_key"].to_list(), earlier["vector"].to_list(), strict=True))


def merge_file_reports(citations_files: pl.DataFrame, papers_files: pl.DataFrame) -> pl.DataFrame:
    """One row per file: each file is read by exactly one of the two readers, or by none and set aside."""
    taken = citations_files.filter(pl.col("kind") == "pubmed")
    rest = papers_files.filter(~pl.col("file").is_in(taken["file"].implode()))
    return pl.concat([taken, rest]).sort("file")
