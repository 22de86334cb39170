"""What a user takes away: Parquet, CSV, rejected counts and the data card. No time stamps: equal data, equal bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
import polars as pl

from starling_assets.agents.tasks import Task
from starling_assets.artifacts.files import write_atomically, write_bytes, write_text
from starling_assets.extraction.assemble import rejected_counts

from .build import Dataset
from .datacard import Vocabulary, datacard


@dataclass(frozen=True)
class Exported:
    """Paths of the exported files."""

    parquet: Path
    csv: Path
    rejected: Path
    card: Path


def export_dataset(
    task: Task,
    digest: str,
    dataset: Dataset,
    rejected: pl.DataFrame,
    costs: pl.DataFrame,
    folder: Path,
    vocabularies: Sequence[Vocabulary] = (),
) -> Exported:
    """Write the kept records and their documents into ``folder``, each file atomically.

    ``dataset.parquet`` and ``dataset.csv`` hold the kept records, ``rejected.json`` the counts of everything else,
    ``datacard.md`` where it all comes from, ``costs.csv`` what was paid: the only file that differs from run to run.
    ``digest`` is the schema's hash, ``rejected`` the REJECTED rows of all shards, ``costs`` a COSTS frame.
    """
    paths = Exported(
        folder / "dataset.parquet", folder / "dataset.csv", folder / "rejected.json", folder / "datacard.md"
    )
    refused = rejected_counts([rejected])
    write_atomically(paths.parquet, lambda handle: dataset.kept.write_parquet(handle, compression="zstd"))
    write_bytes(paths.csv, flat(dataset.kept).write_csv().encode("utf-8"))
    counts = {"judge": dataset.counts.by_axis, "extraction": refused, "masked": dataset.counts.masked}
    write_bytes(paths.rejected, orjson.dumps(counts, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n")
    write_text(paths.card, datacard(task, digest, dataset, refused, vocabularies))
    write_bytes(folder / "costs.csv", costs.write_csv().encode("utf-8"))
    return paths


def flat(judged: pl.DataFrame) -> pl.DataFrame:
    """JUDGED without nested columns: first evidence in columns of its own, all of it as JSON, a column per field."""
    first = pl.col("evidence").list.first()
    frame = judged.with_columns(
        first.struct.field("quote").alias("quote"),
        first.struct.field("para_idx").alias("quote_paragraph"),
        first.struct.field("start").alias("quote_start"),
        first.struct.field("end").alias("quote_end"),
        pl.Series("evidence", [_json(item) for item in judged["evidence"]], dtype=pl.String),
        pl.col("probes").list.join("|"),
    )
    names: list[str] = []
    parsed = [orjson.loads(text or "{}") for text in judged["fields"]]
    for fields in parsed:
        names += [name for name in fields if name not in names]
    columns = [pl.Series(f"field_{name}", [_cell(fields.get(name)) for fields in parsed], pl.String) for name in names]
    return frame.with_columns(columns)


def _json(evidence: object) -> str:
    rows = evidence.to_list() if isinstance(evidence, pl.Series) else evidence
    return orjson.dumps(rows).decode()


def _cell(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value).decode()
