"""Where a paper is used: what each task read of its stored versions, and what it kept."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from starling_assets.artifacts.store import Store

_PLACE = ["shard", "paper_id"]


@dataclass(frozen=True, slots=True)
class PaperUse:
    """One task over one stored version. ``windows`` were planned of it; ``records`` were read from them.

    ``judged`` and ``kept`` count rows of the task's dataset as it was last made: none for a version that does not
    count, also where records were read from it before a later shard replaced it.
    """

    task: str
    shard: str
    windows: int
    windows_read: int
    windows_failed: int
    records: int
    judged: int
    kept: int


def paper_use(store: Store, versions: Collection[tuple[str, str]]) -> list[PaperUse]:
    """Use of the ``versions``, pairs of shard and paper_id, sorted by task and shard; without versions nobody read."""
    wanted = pl.DataFrame(sorted(versions), schema=dict.fromkeys(_PLACE, pl.String), orient="row")
    shards = set(wanted["shard"])
    datasets: dict[str, tuple[pl.DataFrame, pl.DataFrame]] = {}
    found = []
    for task, shard in store.partitions("raw_extractions", table="coverage"):
        if shard not in shards:
            continue
        here = wanted.filter(pl.col("shard") == shard)
        coverage = store.read("raw_extractions", task, shard, table="coverage")
        covered = coverage.join(here, on="paper_id", how="semi")
        if covered.is_empty():
            continue
        if task not in datasets:
            datasets[task] = (_rows(store, task, "judged", wanted), _rows(store, task, "data", wanted))
        judged, kept = (frame.filter(pl.col("shard") == shard).height for frame in datasets[task])
        records = store.read("raw_extractions", task, shard, columns=["paper_id"])
        found.append(
            PaperUse(
                task,
                shard,
                windows=int(covered["windows"].sum()),
                windows_read=int(covered["ok"].sum()) + int(covered["empty"].sum()),
                windows_failed=int(covered["failed"].sum()),
                records=records.join(here, on="paper_id", how="semi").height,
                judged=judged,
                kept=kept,
            )
        )
    return found


def _rows(store: Store, task: str, table: str, wanted: pl.DataFrame) -> pl.DataFrame:
    if not store.exists("judged_dataset", task, table=table):
        return wanted.clear()
    return store.read("judged_dataset", task, table=table, columns=_PLACE).join(wanted, on=_PLACE, how="semi")
