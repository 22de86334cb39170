"""Papers in the order in which they are paid for, and the windows to read of each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from pyroaring import BitMap

from starling_assets.artifacts.store import conform
from starling_assets.settings.model import RetrievalSettings

from .tables import RETRIEVAL_SET, SUBCORPUS


def rank_papers(
    probe_hits: Mapping[str, BitMap],
    chunks: pl.DataFrame,
    similarities: np.ndarray,
    ordinals: np.ndarray,
    settings: RetrievalSettings,
) -> pl.DataFrame:
    """Every paper that a probe matches, best first (RETRIEVAL_SET).

    ``probe_hits``: chunk ordinals per probe; ``chunks``: WINDOWS; ``similarities`` (q, n): cosines of all
    probes' queries with the chunks at ``ordinals`` (n,), NaN where a chunk has no vector.
    Score = weighted sum of the share of probes that match, the mean and the maximum similarity over the matching
    chunks and all queries. Papers whose matching chunks have no vector come last (F18); ties go by hit share, then
    paper ordinal.
    """
    weights = settings.weight_hits, settings.weight_mean, settings.weight_max
    hits = hit_table(probe_hits)
    scored = _similarity_table(similarities, ordinals)
    matched = hits.group_by("chunk").agg(probe="probe").join(scored, on="chunk", how="left")
    owners = chunks.select("paper_ordinal", "paper_id", chunk="ordinal")
    measured = pl.col("queries") > 0
    papers = (
        matched.join(owners, on="chunk")
        .sort("chunk")
        .group_by("paper_ordinal", "paper_id")
        .agg(
            probes=pl.col("probe").explode(empty_as_null=False).unique().sort(),
            chunks=pl.len(),
            queries=pl.col("queries").sum(),
            # Summed in chunk order: a sum split over threads may differ in its last bit between two runs.
            total=pl.col("total").implode().list.sum(),
            max_similarity=pl.col("best").max(),
        )
        .with_columns(
            hit_share=pl.col("probes").list.len() / max(len(probe_hits), 1),
            mean_similarity=pl.when(measured).then(pl.col("total") / pl.col("queries")),
            max_similarity=pl.when(measured).then("max_similarity"),
        )
        .with_columns(
            score=weights[0] * pl.col("hit_share")
            + weights[1] * pl.col("mean_similarity").fill_null(0.0)
            + weights[2] * pl.col("max_similarity").fill_null(0.0)
        )
        .sort(
            [measured, "score", "hit_share", "paper_ordinal"],
            descending=[True, True, True, False],
        )
        .with_row_index("rank", offset=1)
    )
    return conform(papers, RETRIEVAL_SET, where="retrieval_set")


def hit_table(probe_hits: Mapping[str, BitMap]) -> pl.DataFrame:
    """(probe, chunk) per match, sorted."""
    parts = [
        pl.DataFrame({"chunk": np.asarray(units.to_array(), dtype=np.uint32)}).select(probe=pl.lit(name), chunk="chunk")
        for name, units in sorted(probe_hits.items())
    ]
    return pl.concat(parts) if parts else pl.DataFrame(schema={"probe": pl.String, "chunk": pl.UInt32})


def best_similarity(similarities: np.ndarray, ordinals: np.ndarray) -> pl.DataFrame:
    """(chunk, similarity): the best cosine of each chunk over all queries, null without a vector."""
    return _similarity_table(similarities, ordinals).select("chunk", similarity="best")


def subcorpus(
    retrieval_set: pl.DataFrame,
    hits: pl.DataFrame,
    similarity: pl.DataFrame,
    chunks: pl.DataFrame,
    windows: pl.DataFrame,
    max_windows: int | None = None,
) -> pl.DataFrame:
    """Extraction windows that overlap a matching chunk, in order of payment (SUBCORPUS).

    ``hits``: (probe, chunk); ``similarity``: (chunk, similarity); ``chunks`` and ``windows``: WINDOWS.
    Papers come in rank order. Inside a paper windows that cover the matches without overlap come first, each group by
    descending similarity of the best chunk it overlaps, then by place. A window that appears twice (same key) is
    read once. ``max_windows`` bounds the number: then the best window of each paper comes first, then the second of
    each, so that a small budget is spread over the papers instead of being spent on the first of them.
    """
    matched = hits.group_by("chunk").agg(probe=pl.col("probe").unique().sort()).join(similarity, on="chunk", how="left")
    spans = matched.join(
        chunks.select("paper_ordinal", "first_para", "n", chunk="ordinal"), on="chunk", how="inner"
    ).select("paper_ordinal", "probe", pl.col("similarity").fill_nan(None), first="first_para", last=_last())
    overlapping = (
        windows.join(retrieval_set.select("paper_ordinal", "rank"), on="paper_ordinal")
        .join(spans, on="paper_ordinal")
        .filter(pl.col("first_para") <= pl.col("last"), _last() >= pl.col("first"))
        .group_by("ordinal")
        .agg(
            pl.col("rank", "window_key", "paper_ordinal", "paper_id", "extraction_id", "first_para", "n").first(),
            similarity=pl.col("similarity").max(),
            probes=pl.col("probe").explode(empty_as_null=False).unique().sort(),
        )
        .sort(
            ["rank", "similarity", "first_para", "ordinal"],
            descending=[False, True, False, False],
            nulls_last=True,
        )
    )
    ordered = (
        overlapping.with_columns(second=_overlaps_earlier(overlapping))
        .sort(["rank", "second"], maintain_order=True)
        .unique("window_key", keep="first", maintain_order=True)
    )
    if max_windows is not None:
        turn = pl.int_range(pl.len()).over("paper_ordinal")
        ordered = ordered.with_columns(turn=turn).sort("turn", "rank", maintain_order=True).head(max_windows)
    chosen = (
        ordered.select(pl.exclude("turn"))
        .with_row_index("position")
        .select("position", "rank", pl.col("window_key").alias("unit"), pl.exclude("position", "rank", "window_key"))
    )
    return conform(chosen, SUBCORPUS, where="subcorpus")


def _last() -> pl.Expr:
    return pl.col("first_para") + pl.col("n") - 1


def _overlaps_earlier(windows: pl.DataFrame) -> pl.Series:
    """Whether a window shares a paragraph with one taken before it (greedy, in the order given)."""
    taken: dict[int, set[int]] = {}
    flags = []
    for paper, first, n in windows.select("paper_ordinal", "first_para", "n").iter_rows():
        members = set(range(first, first + n))
        seen = taken.setdefault(paper, set())
        overlaps = not seen.isdisjoint(members)
        if not overlaps:
            seen |= members
        flags.append(overlaps)
    return pl.Series("second", flags, dtype=pl.Boolean)


def _similarity_table(similarities: np.ndarray, ordinals: np.ndarray) -> pl.DataFrame:
    """Per chunk: number of measured queries, sum and maximum of its similarities."""
    values = np.asarray(similarities, dtype=np.float64).reshape(-1, len(ordinals))
    known = ~np.isnan(values)
    queries = known.sum(axis=0, dtype=np.uint32)
    total = np.where(known, values, 0.0).sum(axis=0)
    best = np.where(known, values, -np.inf).max(axis=0, initial=-np.inf)
    return pl.DataFrame(
        {"chunk": np.asarray(ordinals, dtype=np.uint32), "queries": queries, "total": total, "best": best}
    ).with_columns(best=pl.when(pl.col("queries") > 0).then("best"))
