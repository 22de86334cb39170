from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import jsonschema
import polars as pl
import pytest

from starling_assets.agents.tasks import load_task, schema_hash, task_names
from starling_assets.artifacts.files import StoreError
from starling_assets.artifacts.store import conform
from starling_assets.datasets.build import Dataset, build_dataset
from starling_assets.datasets.costs import COSTS, stage_costs
from starling_assets.datasets.datacard import Vocabulary, datacard
from starling_assets.datasets.export import export_dataset, flat
from starling_assets.datasets.record_schema import record_json_schema, record_rows, record_schema_text
from starling_assets.extraction.tables import REJECTED
from starling_assets.inference.ledger import SCHEMA

from .made import TASK, papers, record, records, verdicts


def dataset() -> Dataset:
    rows = records(
        record("a", value=1.5, value_text="1.5 µM", fields='{"species":"rat","tissues":["brain","liver"]}'),
        record("b", paper=2, label="inactive", quote='said "no", twice\nover'),
        record("c", paper=2, label="active"),
    )
    return build_dataset(TASK, rows, verdicts(rows, failing=("c",)), papers(2, licence="CC-BY-NC", journal="J | Ex"))


REFUSED = conform(
    pl.DataFrame([{**dict.fromkeys(REJECTED, "x"), "reason": "ungrounded"}] * 2, schema=REJECTED), REJECTED
)


def ledger(*rows: dict[str, object]) -> pl.DataFrame:
    base = {**dict.fromkeys(SCHEMA), "outcome": "ok", "prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 4}
    return pl.DataFrame([{**base, "latency_seconds": 1.5, "cost": 0.25, **row} for row in rows], schema=SCHEMA)


def exported(folder: Path, seconds: float = 1.0) -> object:
    costs = stage_costs("kinase", ledger({"purpose": "kinase/extract", "latency_seconds": seconds}))
    return export_dataset(TASK, "digest", dataset(), REFUSED, costs, folder)


def test_the_files_hold_the_kept_records(tmp_path: Path) -> None:
    exported(tmp_path)
    assert pl.read_parquet(tmp_path / "dataset.parquet")["record_id"].to_list() == ["a", "b"]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "dataset.csv").read_text("utf-8"))))
    assert [row["record_id"] for row in rows] == ["a", "b"]
    assert rows[1]["quote"] == 'said "no", twice\nover'
    assert rows[0]["field_species"] == "rat"
    assert json.loads(rows[0]["field_tissues"]) == ["brain", "liver"]
    assert json.loads(rows[1]["evidence"])[0]["block_key"] == "b"
    counts = json.loads((tmp_path / "rejected.json").read_text())
    assert counts["judge"]["accuracy"] == 1
    assert counts["extraction"] == {"ungrounded": 2}


def test_equal_data_gives_equal_bytes_whatever_it_cost(tmp_path: Path) -> None:
    exported(tmp_path / "one", 1.0)
    exported(tmp_path / "two", 99.0)
    for name in ("dataset.parquet", "dataset.csv", "datacard.md", "rejected.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert (tmp_path / "one" / "costs.csv").read_bytes() != (tmp_path / "two" / "costs.csv").read_bytes()


def test_an_export_that_cannot_be_written_says_where(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write"):
        exported(tmp_path / "file" / "folder")


def test_an_empty_dataset_is_exported_with_its_columns(tmp_path: Path) -> None:
    rows = records()
    made = build_dataset(TASK, rows, verdicts(rows), papers(0))
    export_dataset(TASK, "digest", made, REFUSED.clear(), stage_costs("kinase", ledger()), tmp_path)
    assert (tmp_path / "dataset.csv").read_text().startswith("record_id,task,paper_id")
    assert "None." in (tmp_path / "datacard.md").read_text()


def test_the_data_card_tells_counts_licences_sources_models_and_limits() -> None:
    card = datacard(TASK, "digest", dataset(), {"ungrounded": 2}, [Vocabulary("ChEBI", "250", "CC BY 4.0", "EMBL-EBI")])
    for words in (
        "# Dataset `kinase`",
        "| kept records | 2 |",
        "| accuracy | 1 |",
        "| ungrounded | 2 |",
        "| CC-BY-NC | 2 |",
        "Paper 1. J \\| Ex pmid:1. Licence: CC-BY-NC.",
        "| extractor | m | extract@1 | 3 |",
        "| judge | j | judge@1 | 3 |",
        "Schema `digest`",
        "| ChEBI | 250 | CC BY 4.0 | EMBL-EBI |",
        "no person has checked them",
    ):
        assert words in card


def test_costs_are_summed_per_stage_and_other_tasks_are_left_out() -> None:
    frame = stage_costs(
        "bbb",
        ledger(
            {"purpose": "bbb/extract"},
            {"purpose": "bbb/extract", "outcome": "truncated"},
            {"purpose": "bbb/judge"},
            {"purpose": "bbbx/extract"},
        ),
    )
    assert frame.schema == pl.Schema(COSTS)
    assert frame.select("stage", "calls", "prompt_tokens", "cost").rows() == [
        ("extract", 2, 20, 0.5),
        ("judge", 1, 10, 0.25),
    ]
    assert stage_costs("oral", ledger()).schema == pl.Schema(COSTS)


def test_rows_follow_the_schema_and_broken_ones_do_not() -> None:
    validator = jsonschema.Draft202012Validator(record_json_schema())
    made = [json.loads(json.dumps(row)) for row in record_rows(dataset().judged)]
    assert len(made) == 3
    for row in made:
        validator.validate(row)
    assert {row["verdict"]["reasons"].get("accuracy") for row in made} == {None, "made up"}
    for change in ({"evidence": []}, {"record_id": None}, {"value": "1.5"}, {"colour": "red"}, {"verdict": {}}):
        assert not validator.is_valid(made[0] | change)


def test_the_published_schema_is_the_one_in_the_code(repository: Path) -> None:
    text = (repository / "docs" / "record.schema.json").read_text()
    assert text == record_schema_text(), (
        "run: python -m starling_assets.datasets.record_schema > docs/record.schema.json"
    )
    jsonschema.Draft202012Validator.check_schema(json.loads(text))


def test_flat_tables_have_no_nested_column() -> None:
    assert not any(dtype.is_nested() for dtype in flat(dataset().judged).dtypes)


@pytest.mark.parametrize("name", task_names())
def test_every_packaged_task_has_a_data_card(name: str) -> None:
    task = load_task(name)
    rows = records()
    card = datacard(task, schema_hash(task), build_dataset(task, rows, verdicts(rows), papers(0)), {})
    assert task.sentence in card
    assert task.probes[0].name in card
