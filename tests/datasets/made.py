"""Records, verdicts and papers for tests of datasets: made up, through the real assembly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from starling_assets.agents.tasks import Task, schema_hash
from starling_assets.artifacts.store import conform
from starling_assets.extraction.tables import AXES, RECORDS, VERDICTS
from tests.extraction.world import papers_of, small_task

TASK: Task = small_task(folder=Path("kinase"))


def record(name: str, paper: int = 1, **changes: Any) -> dict[str, Any]:
    quote = changes.pop("quote", f"{name} was active")
    base = {
        **dict.fromkeys(RECORDS),
        "record_id": name,
        "task": "kinase",
        "paper_id": f"pmid:{paper}",
        "pmid": str(paper),
        "unit": "u",
        "evidence": [
            {
                "paper_id": f"pmid:{paper}",
                "block_key": name,
                "para_idx": 1,
                "start": 0,
                "end": len(quote),
                "quote": quote,
            }
        ],
        "alignment": "exact",
        "entity": "aspirin",
        "concept_id": "CHEBI:15365",
        "label": "active",
        "fields": '{"species":null}',
        "probes": ["p"],
        "prompt": "extract@1",
        "model": "m",
        "schema_hash": schema_hash(TASK),
        "licence": "CC-BY",
        "retracted": False,
    }
    return base | changes


def records(*rows: dict[str, Any], shard: str = "s1") -> pl.DataFrame:
    return conform(pl.DataFrame(list(rows), schema=RECORDS), RECORDS).with_columns(shard=pl.lit(shard))


def verdicts(frame: pl.DataFrame, failing: tuple[str, ...] = ()) -> pl.DataFrame:
    """All pass but ``failing``, which fail on accuracy."""
    rows = [
        {
            "record_id": name,
            **dict.fromkeys(AXES, True),
            "accuracy": name not in failing,
            "reasons": '{"accuracy":"made up"}' if name in failing else "{}",
            "kept": name not in failing,
            "judge_model": "j",
            "judge_prompt": "judge@1",
            "status": "ok",
            "failure": None,
        }
        for name in frame["record_id"]
    ]
    made = pl.DataFrame(rows, schema=VERDICTS)
    return made.with_columns(shard=frame["shard"])


def papers(count: int, shard: str = "s1", **changes: Any) -> pl.DataFrame:
    return papers_of(count, **changes).with_columns(shard=pl.lit(shard))
