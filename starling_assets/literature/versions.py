"""Which stored version of a paper counts, over all shards: closed shards stay as they are, later ones mask them.

The newest version wins; of the same version a full text before an abstract, then the later shard. A deletion masks
everything stored before it. A retraction is a flag on every version, also when the notice lies in another shard.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

#: One row per stored paper version of all shards.
STANDING: dict[str, pl.DataType | type[pl.DataType]] = {
    "shard": pl.String,
    "paper_ordinal": pl.UInt32,
    "paper_id": pl.String,
    "canonical_id": pl.String,  # the id of the paper all versions share
    "current": pl.Boolean,
    "reason": pl.String,  # why it is masked: deleted | tombstone | newer version | better source; null when current
    "superseded_by": pl.String,  # shard of the version that counts; null when none does
    "retracted": pl.Boolean,
}
_COLUMNS = [
    "paper_ordinal",
    "paper_id",
    "pmid",
    "pmcid",
    "doi",
    "version",
    "source_kind",
    "retracted",
    "retracts",
    "deleted",
]
_KIND = {"jats": 2, "pdf": 1, "abstract": 0}


def standing(shards: Iterable[tuple[str, pl.DataFrame]]) -> pl.DataFrame:
    """STANDING of all papers of ``shards``: pairs of shard key and PAPERS, in the order in which they were closed.

    Sorted by that order and ordinal. Deterministic; does not read blocks.
    """
    frames = [
        papers.select(_COLUMNS).with_columns(pl.lit(key).alias("shard"), pl.lit(order, pl.UInt32).alias("_order"))
        for order, (key, papers) in enumerate(shards)
    ]
    if not frames:
        return pl.DataFrame(schema=STANDING)
    rows = _with_canonical_id(pl.concat(frames))
    rows = _with_flags(rows)
    winners = (
        rows.filter(~pl.col("_masked"))
        .sort("version", "_kind", "_order", "paper_ordinal", descending=[True, True, True, False])
        .unique("canonical_id", keep="first", maintain_order=True)
        .select(
            "canonical_id",
            pl.col("shard").alias("_shard"),
            pl.col("paper_ordinal").alias("_ordinal"),
            pl.col("version").alias("_newest"),
        )
    )
    rows = rows.join(winners, on="canonical_id", how="left", maintain_order="left")
    current = (pl.col("shard") == pl.col("_shard")) & (pl.col("paper_ordinal") == pl.col("_ordinal"))
    reason = (
        pl.when(pl.col("deleted"))
        .then(pl.lit("tombstone"))
        .when(pl.col("_masked"))
        .then(pl.lit("deleted"))
        .when(current)
        .then(None)
        .when(pl.col("version") < pl.col("_newest"))
        .then(pl.lit("newer version"))
        .otherwise(pl.lit("better source"))
    )
    return (
        rows.with_columns(
            current.fill_null(False).alias("current"), reason.alias("reason"), pl.col("_shard").alias("superseded_by")
        )
        .with_columns(pl.when("current").then(None).otherwise("superseded_by").alias("superseded_by"))
        .sort("_order", "paper_ordinal")
        .select(pl.col(name).cast(dtype) for name, dtype in STANDING.items())
    )


def _with_canonical_id(rows: pl.DataFrame) -> pl.DataFrame:
    """A paper first stored under its DOI or PMCID is the one that later comes with a PMID."""
    rows = rows.with_columns(pl.col("doi").str.to_lowercase().alias("_doi"))
    known = rows.filter(pl.col("pmid").is_not_null())
    for key in ("pmcid", "_doi"):
        alias = (
            known.filter(pl.col(key).is_not_null())
            .sort("_order", "paper_ordinal")
            .unique(key, keep="first", maintain_order=True)
            .select(key, pl.col("paper_id").alias(f"_by_{key}"))
        )
        rows = rows.join(alias, on=key, how="left", maintain_order="left")
    own = pl.when(pl.col("pmid").is_not_null()).then(pl.col("paper_id"))
    by_doi = pl.when(pl.col("_doi").is_not_null()).then(pl.lit("doi:") + pl.col("_doi"))
    return rows.with_columns(
        pl.coalesce(own, "_by_pmcid", "_by__doi", pl.when(pl.col("pmcid").is_null()).then(by_doi), "paper_id").alias(
            "canonical_id"
        )
    )


def _with_flags(rows: pl.DataFrame) -> pl.DataFrame:
    targets = rows.select(pl.col("retracts").explode().drop_nulls().unique()).to_series()
    last_deletion = pl.when("deleted").then("_order").max().over("canonical_id")
    return rows.with_columns(
        (pl.col("deleted") | (pl.col("_order") <= last_deletion)).fill_null(False).alias("_masked"),
        pl.col("source_kind").replace_strict(_KIND, default=0, return_dtype=pl.Int8).alias("_kind"),
        (pl.col("retracted").any().over("canonical_id") | pl.col("pmid").is_in(targets.implode()))
        .fill_null(False)
        .alias("retracted"),
    )
