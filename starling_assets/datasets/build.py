"""The dataset of a task over all shards: newest version of a paper wins, deletions and retractions apply (F26)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from starling_assets.agents.tasks import Task, schema_hash
from starling_assets.artifacts.store import conform, empty
from starling_assets.extraction.deduplication import group_facts, joined
from starling_assets.extraction.judging import rejected_by_axis
from starling_assets.literature.versions import standing

from .tables import JUDGED


@dataclass(frozen=True)
class DatasetCounts:
    """``judged`` = ``kept`` + ``merged`` + ``not_kept``; ``masked`` ones belong to papers replaced or deleted."""

    judged: int
    kept: int
    merged: int
    not_kept: int
    masked: int
    other_schema: int
    by_axis: dict[str, int]


@dataclass(frozen=True)
class Dataset:
    """``judged`` (JUDGED) holds all current records; ``kept`` each fact that passed every axis once, with all its
    evidence; ``papers`` their papers."""

    judged: pl.DataFrame
    kept: pl.DataFrame
    papers: pl.DataFrame
    counts: DatasetCounts


def current_papers(papers: pl.DataFrame) -> pl.DataFrame:
    """The papers that count, of PAPERS frames of all shards (with a column ``shard``), in the order of their closing.

    The rule is :func:`starling_assets.literature.versions.standing`: the newest version not deleted; ``retracted`` also
    when only a notice in another shard says so.
    """
    parts = papers.partition_by("shard", maintain_order=True)
    judged = standing([(str(part["shard"][0]), part) for part in parts]).filter("current")
    facts = judged.select("shard", "paper_ordinal", pl.col("retracted").alias("_retracted"))
    found = papers.join(facts, on=["shard", "paper_ordinal"], how="inner", maintain_order="left")
    return found.with_columns(pl.col("_retracted").alias("retracted")).drop("_retracted").sort("paper_id")


def build_dataset(task: Task, records: pl.DataFrame, verdicts: pl.DataFrame, papers: pl.DataFrame) -> Dataset:
    """Join the RECORDS, VERDICTS and PAPERS of all shards, each with a column ``shard``, into the task's dataset.

    ``papers`` holds every shard, also those without records of the task: they may supersede. Records of a paper version
    that is not current, and of another schema than the task's, are left out and counted, never mixed. A record without
    a verdict is not kept.
    """
    current = current_papers(papers)
    facts = current.select("paper_id", "shard", "title", "doi", pl.col("retracted").alias("_retracted"))
    valid = records.join(facts, on=["paper_id", "shard"], how="inner", maintain_order="left")
    same = valid.filter(pl.col("schema_hash") == schema_hash(task))
    answers = verdicts.drop("shard").unique("record_id", keep="last", maintain_order=True)
    answered = same.join(answers, on="record_id", how="left", maintain_order="left").with_columns(
        pl.col("retracted") | pl.col("_retracted"),
        pl.col("kept").fill_null(value=False),
        pl.when(pl.col("status").is_null()).then(pl.lit("not judged yet")).otherwise("failure").alias("failure"),
        pl.col("status").fill_null("failed"),
        pl.lit(None, pl.String).alias("same_as"),
    )
    judged = conform(answered, JUDGED, where=f"records of {task.name}").sort("paper_id", "record_id")
    judged = judged.unique("record_id", keep="first", maintain_order=True)
    judged, kept = _each_fact_once(judged)
    counts = DatasetCounts(
        judged=judged.height,
        kept=kept.height,
        merged=judged["same_as"].count(),
        not_kept=judged.filter(~pl.col("kept")).height,
        masked=records.height - valid.height,
        other_schema=valid.height - same.height,
        by_axis=rejected_by_axis([judged]),
    )
    sources = current.join(judged.select("paper_id").unique(), on="paper_id", how="semi")
    return Dataset(judged, kept, sources, counts)


def _each_fact_once(judged: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """``judged`` with ``same_as`` set, and the kept records with the evidence of those that state the same fact."""
    by_paper: dict[str, list[dict[str, Any]]] = {}
    for row in judged.filter("kept").iter_rows(named=True):
        by_paper.setdefault(row["paper_id"], []).append(row)
    groups = [group for paper in sorted(by_paper) for group in group_facts(by_paper[paper])]
    same_as = {row["record_id"]: group[0]["record_id"] for group in groups for row in group[1:]}
    marked = judged.with_columns(
        pl.col("record_id").replace_strict(same_as, default=None, return_dtype=pl.String).alias("same_as")
    )
    rows = [joined(group) for group in groups]
    return marked, pl.DataFrame(rows, schema=JUDGED) if rows else empty(JUDGED)
