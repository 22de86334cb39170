"""A small store of judged datasets, and the real dbt on it, offline, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from starling_assets.artifacts.store import Store, empty
from starling_assets.extraction.tables import AXES, RECORDS

JUDGED: dict[str, Any] = {**RECORDS, **dict.fromkeys(AXES, pl.Boolean), "kept": pl.Boolean}
COSTS: dict[str, Any] = {
    "task": pl.String,
    "stage": pl.String,
    "calls": pl.Int64,
    "prompt_tokens": pl.Int64,
    "completion_tokens": pl.Int64,
    "cost": pl.Float64,
    "seconds": pl.Float64,
}


def record(record_id: str, *, kept: bool = True, **changes: Any) -> dict[str, Any]:
    """A judged record with every column; the first axis fails when it is not kept."""
    row: dict[str, Any] = dict.fromkeys(JUDGED)
    row |= {
        "record_id": record_id,
        "task": "bbb",
        "paper_id": "pmid:1",
        "pmid": "1",
        "evidence": [
            {"paper_id": "pmid:1", "block_key": "k", "para_idx": 0, "start": 0, "end": 2, "quote": "it"},
        ],
        "alignment": "exact",
        "entity": "Caffeine",
        "entity_type": "SmallMolecule",
        "concept_id": "CHEBI:27732",
        "concept_name": "caffeine",
        "smiles": "Cn1c(=O)c2c(ncn2C)n(C)c1=O",
        "label": "BBB+",
        "fields": "{}",
        "probes": ["p1"],
        "retracted": False,
        **dict.fromkeys(AXES, True),
        "kept": kept,
    }
    if not kept:
        row[AXES[0]] = False
    return row | changes


def write_task(store: Store, task: str, rows: list[dict[str, Any]], costs: list[dict[str, Any]]) -> None:
    """The three tables that marts read, as the asset `judged_dataset` writes them."""
    judged = pl.DataFrame(rows, schema=JUDGED) if rows else empty(JUDGED)
    store.write(judged, "judged_dataset", task, table="judged", schema=JUDGED)
    store.write(judged.filter(pl.col("kept")), "judged_dataset", task, schema=RECORDS)
    store.write(pl.DataFrame(costs, schema=COSTS), "judged_dataset", task, table="costs", schema=COSTS)


def stage(task: str, name: str, calls: int, cost: float) -> dict[str, Any]:
    """One row of the cost table."""
    return {
        "task": task,
        "stage": name,
        "calls": calls,
        "prompt_tokens": 100 * calls,
        "completion_tokens": 10 * calls,
        "cost": cost,
        "seconds": 2.0 * calls,
    }


BBB = [
    record("r1", fields=json.dumps({"route": "iv", "species": "rat", "note": ""})),
    record("r2", paper_id="pmid:2", pmid="2", fields=json.dumps({"route": None, "models": []})),
    record("r3", paper_id="pmid:2", pmid="2", label="BBB-", value=1.5, value_text="1.5", qualifier="=", retracted=True),
    record("r4", entity="Compound 6f", concept_id=None, concept_name=None, smiles=None, entity_type=None, label=None),
    record("r5", kept=False, entity="Dopamine"),
]


@dataclass(frozen=True)
class Dbt:
    """The project's dbt folder, run on one store. Marts lie in `database`, artifacts of dbt in `scratch`."""

    project: Path
    store: Path
    database: Path
    scratch: Path

    @property
    def environment(self) -> dict[str, str]:
        """What a run needs; the proxies make sure that a call home fails."""
        return {
            **os.environ,
            "STARLING_STORE": str(self.store),
            "STARLING_DBT_DATABASE": str(self.database),
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
            "HTTP_PROXY": "http://127.0.0.1:9",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1",
        }

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run dbt and hand back its result."""
        command = [
            str(Path(sys.executable).with_name("dbt")),
            "--no-version-check",
            *arguments,
            *("--project-dir", str(self.project), "--profiles-dir", str(self.project)),
            *("--target-path", str(self.scratch / "target"), "--log-path", str(self.scratch / "logs")),
        ]
        return subprocess.run(
            command, env=self.environment, cwd=self.scratch, capture_output=True, text=True, timeout=150, check=False
        )

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Rows of a query on the marts."""
        with duckdb.connect(str(self.database), read_only=True) as connection:
            return connection.execute(query).fetchall()


def dbt_on(repository: Path, folder: Path) -> Dbt:
    """dbt with its store, database and scratch below `folder`."""
    scratch = folder / "scratch"
    scratch.mkdir(parents=True)
    return Dbt(repository / "dbt", folder / "store", folder / "marts.duckdb", scratch)


@pytest.fixture(scope="session")
def built(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Dbt:
    """Marts built on one task with records and one without."""
    # A quote in the path must not end the SQL text it is put into.
    dbt = dbt_on(repository, tmp_path_factory.mktemp("it's a store"))
    store = Store(dbt.store)
    write_task(store, "bbb", BBB, [stage("bbb", "extract", 10, 0.5), stage("bbb", "judge", 4, 0.1)])
    write_task(store, "oral", [], [stage("oral", "extract", 3, 0.03)])
    result = dbt.run("build")
    assert result.returncode == 0, result.stdout + result.stderr
    return dbt
