"""Mentions and links to postings: which units of a shard hold which entity. Vectorised; one pass per scope."""

from __future__ import annotations

import numpy as np
import polars as pl
from pyroaring import BitMap

from starling_assets.artifacts.store import conform, empty

from .filterspec import Scope
from .tables import BITMAPS, POSTINGS


def build_postings(mentions: pl.DataFrame, links: pl.DataFrame, chunks: pl.DataFrame) -> pl.DataFrame:
    """Postings of one shard at all three scopes: rows of POSTINGS, sorted, each once.

    ``mentions``: columns MENTIONS; ``links``: LINKS; ``chunks``: the embedding chunks (WINDOWS).
    A mention counts for its type, for the concept it was linked to and for concepts of other ontologies that fit as
    well (same score or better), or for ``name:<entity_key>`` when it was linked to nothing. A mention outside
    the numbered paragraphs (a heading) counts for its paper only.
    """
    ids = _posting_ids(mentions, links)
    held = mentions.select("entity_key", "paper_ordinal", "para_ordinal").unique().join(ids, on="entity_key")
    paragraphs = held.filter(pl.col("para_ordinal").is_not_null())
    in_chunks = paragraphs.join(chunk_members(chunks), on="para_ordinal")
    parts = [
        _scope_rows(Scope.PARAGRAPH, paragraphs.select("posting_id", "entity_type", ordinal="para_ordinal")),
        _scope_rows(Scope.CHUNK, in_chunks.select("posting_id", "entity_type", "ordinal")),
        _scope_rows(Scope.PAPER, held.select("posting_id", "entity_type", ordinal="paper_ordinal")),
    ]
    return conform(pl.concat(parts), POSTINGS, where="postings").sort("scope", "posting_id", "ordinal")


def unit_counts(blocks: pl.DataFrame, chunks: pl.DataFrame, papers: pl.DataFrame) -> dict[Scope, int]:
    """Number of units of a shard per scope: paragraphs of BLOCKS, embedding chunks, PAPERS."""
    last = blocks["para_ordinal"].max()
    return {
        Scope.PARAGRAPH: 0 if last is None else int(str(last)) + 1,
        Scope.CHUNK: chunks.height,
        Scope.PAPER: papers.height,
    }


def build_bitmaps(postings: pl.DataFrame) -> pl.DataFrame:
    """One roaring bitmap per scope and posting id (BITMAPS), sorted. Equal postings give equal bytes (F14)."""
    rows = []
    for scope, posting_id, entity_type, ordinals in grouped_ordinals(postings):
        bitmap = BitMap(ordinals)
        bitmap.run_optimize()
        rows.append((scope, posting_id, entity_type, len(bitmap), bitmap.serialize()))
    return pl.DataFrame(rows, schema=BITMAPS, orient="row") if rows else empty(BITMAPS)


def grouped_ordinals(postings: pl.DataFrame) -> list[tuple[str, str, str | None, np.ndarray]]:
    """(scope, posting id, entity type, sorted distinct ordinals uint32) per scope and posting id, sorted."""
    groups: list[tuple[str, str, str | None, np.ndarray]] = []
    for scope in sorted(postings["scope"].unique().to_list()):
        rows = postings.filter(pl.col("scope") == scope)
        heads = rows.group_by("posting_id").agg(pl.col("entity_type").min()).sort("posting_id")
        # Numbers sort many times faster than strings: id and ordinal become one key.
        codes = rows["posting_id"].cast(pl.Enum(heads["posting_id"])).to_physical().to_numpy()
        keys = (codes.astype(np.uint64) << np.uint64(32)) | rows["ordinal"].to_numpy().astype(np.uint64)
        keys.sort()
        keys = keys[np.concatenate(([True], keys[1:] != keys[:-1]))]
        starts = np.searchsorted(keys, np.arange(1, heads.height, dtype=np.uint64) << np.uint64(32))
        slices = np.split(keys.astype(np.uint32), starts)
        groups.extend((scope, *head, ordinals) for head, ordinals in zip(heads.rows(), slices, strict=True))
    return groups


def _posting_ids(mentions: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    """(entity_key, posting_id, entity_type) for every entity mentioned."""
    entities = mentions.select("entity_key", "entity_type").unique()
    linked = links.filter(pl.col("concept_id").is_not_null()).select(
        "entity_key", "concept_id", "score", candidate="candidates"
    )
    candidate = pl.col("candidate").struct
    equals = (
        linked.explode("candidate", empty_as_null=False, keep_nulls=False)
        .filter(candidate.field("score") >= pl.col("score"))
        .select("entity_key", candidate.field("concept_id").alias("posting_id"))
    )
    concepts = pl.concat([linked.select("entity_key", posting_id="concept_id"), equals]).unique()
    known = entities.join(concepts, on="entity_key")
    unknown = entities.join(concepts, on="entity_key", how="anti")
    return pl.concat(
        [
            entities.select(
                "entity_key",
                posting_id=pl.format("type:{}", "entity_type"),
                entity_type=pl.lit(None, dtype=pl.String),
            ),
            known.select("entity_key", "posting_id", "entity_type"),
            unknown.select("entity_key", pl.format("name:{}", "entity_key").alias("posting_id"), "entity_type"),
        ]
    )


def chunk_members(chunks: pl.DataFrame) -> pl.DataFrame:
    """(chunk ordinal, para_ordinal) for every paragraph of every chunk."""
    last = pl.col("first_para_ordinal") + pl.col("n")
    ranges = chunks.select("ordinal", para_ordinal=pl.int_ranges("first_para_ordinal", last, dtype=pl.UInt32))
    return ranges.explode("para_ordinal", empty_as_null=False, keep_nulls=False)


def _scope_rows(scope: Scope, rows: pl.DataFrame) -> pl.DataFrame:
    # An id that two types share is filed under the first of them, so that it stays one posting list.
    kept = rows.group_by("posting_id", "ordinal").agg(pl.col("entity_type").min())
    first = kept.group_by("posting_id").agg(pl.col("entity_type").min())
    joined = kept.select("posting_id", "ordinal").join(first, on="posting_id")
    return joined.select(pl.lit(str(scope)).alias("scope"), "posting_id", "entity_type", "ordinal")
