"""What a task cost, per stage, from the ledger of model calls."""

from __future__ import annotations

import polars as pl

#: One row per task and stage. `cost` is in US dollars, `seconds` model time summed over calls.
COSTS: dict[str, pl.DataType | type[pl.DataType]] = {
    "task": pl.String,
    "stage": pl.String,
    "calls": pl.Int64,
    "prompt_tokens": pl.Int64,
    "completion_tokens": pl.Int64,
    "cached_tokens": pl.Int64,
    "cost": pl.Float64,
    "seconds": pl.Float64,
}


def stage_costs(task: str, ledger: pl.DataFrame) -> pl.DataFrame:
    """COSTS frame of ``task``, by stage: the purposes ``<task>/<stage>`` of a ledger frame, failed calls included."""
    rows = (
        ledger.filter(pl.col("purpose").str.starts_with(f"{task}/"))
        .with_columns(pl.col("purpose").str.strip_prefix(f"{task}/").alias("stage"))
        .group_by("stage")
        .agg(
            pl.len().cast(pl.Int64).alias("calls"),
            pl.col("prompt_tokens", "completion_tokens", "cached_tokens").sum(),
            pl.col("cost").sum(),
            pl.col("latency_seconds").sum().alias("seconds"),
        )
        .with_columns(pl.lit(task).alias("task"))
        .sort("stage")
    )
    return rows.select(pl.col(name).cast(dtype) for name, dtype in COSTS.items())
