"""Table schemas of a task's dataset."""

from __future__ import annotations

import polars as pl

from starling_assets.extraction.tables import AXES, RECORDS

#: One row per judged record of all shards, kept or not. The dataset is the rows with `kept`.
JUDGED: dict[str, pl.DataType | type[pl.DataType]] = {
    **RECORDS,
    "title": pl.String,
    "doi": pl.String,
    "shard": pl.String,
    **dict.fromkeys(AXES, pl.Boolean),
    "reasons": pl.String,
    "kept": pl.Boolean,
    "judge_model": pl.String,
    "judge_prompt": pl.String,
    "status": pl.String,
    "failure": pl.String,
}
