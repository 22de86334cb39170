"""Table schemas of a task's dataset."""

from __future__ import annotations

import polars as pl

from starling_assets.extraction.tables import AXES, RECORDS

#: One row per judged record of all shards, kept or not. The dataset is the kept rows without `same_as`.
JUDGED: dict[str, pl.DataType | type[pl.DataType]] = {
    **RECORDS,
    "title": pl.String,
    "doi": pl.String,
    "shard": pl.String,
    "same_as": pl.String,  # record_id of the kept record of this paper that states the same fact and holds this evidence
    **dict.fromkeys(AXES, pl.Boolean),
    "reasons": pl.String,
    "kept": pl.Boolean,
    "judge_model": pl.String,
    "judge_prompt": pl.String,
    "status": pl.String,
    "failure": pl.String,
}
