"""The main job over the bundled papers: true evidence, all units accounted for, a second run for nothing."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import polars as pl
import pytest

from starling_assets.artifacts.journal import Journal
from starling_assets.extraction.tables import AXES
from starling_assets.inference.ledger import read_ledger
from tests.scripted.gold import load_gold, squeeze

from .command import Project

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def rows(project: Project) -> list[dict[str, object]]:
    return [json.loads(line) for line in project.run("records", "bbb", "--json").stdout.splitlines()]


def blocks(project: Project, shard: str = "examples") -> dict[tuple[str, str], str]:
    frame = pl.read_parquet(project.home / "store" / "papers" / shard / "blocks.parquet")
    return {(p, k): t for p, k, t in frame.select("paper_id", "block_key", "text").iter_rows()}


def test_the_demo_prints_records_rejections_costs_and_paths(finished: Project) -> None:
    printed = (finished.root / "demo.log").read_text()
    assert "records kept" in printed
    assert "SMILES" in printed
    for axis in AXES:
        assert axis in printed
    for name in ("dataset.parquet", "dataset.csv", "datacard.md"):
        assert str(finished.home / "datasets" / "bbb" / name) in printed
        assert (finished.home / "datasets" / "bbb" / name).stat().st_size > 0
    assert "starling up" in printed


def test_every_sure_gold_record_of_the_bundled_papers_is_kept_once(finished: Project) -> None:
    papers = set(pl.read_parquet(finished.home / "store" / "papers" / "examples" / "data.parquet")["paper_id"])
    quotes = [squeeze(row["evidence"][0]["quote"]) for row in rows(finished)]  # type: ignore[index]
    wanted = [gold for gold in load_gold().of("bbb") if gold.paper_id in papers and gold.sure]
    found = [gold for gold in wanted if any(gold.squeezed in quote or quote in gold.squeezed for quote in quotes)]
    assert len(wanted) >= 20
    assert len(found) / len(wanted) >= 0.9, sorted({g.record_id for g in wanted} - {g.record_id for g in found})


def test_records_follow_the_published_schema(finished: Project, repository: Path) -> None:
    schema = json.loads((repository / "docs" / "record.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    found = rows(finished)
    assert found
    for row in found:
        validator.validate(row)


def test_every_quote_is_the_stored_text(finished: Project) -> None:
    texts = blocks(finished)
    for row in rows(finished):
        for evidence in row["evidence"]:  # type: ignore[attr-defined]
            text = texts[evidence["paper_id"], evidence["block_key"]]
            assert text[evidence["start"] : evidence["end"]] == evidence["quote"]


def test_molecules_have_structures(finished: Project) -> None:
    found = rows(finished)
    with_structure = [row for row in found if row["smiles"] and row["inchikey"]]
    assert len(with_structure) >= len(found) // 3


def test_no_unit_is_unaccounted(finished: Project) -> None:
    state = json.loads(finished.run("status", "--json").stdout)
    assert state["missing"] == []
    assert {unit["asset"] for unit in state["units"]} == {"raw_extractions", "judgments"}
    for unit in state["units"]:
        tally = unit["tally"]
        assert tally["planned"] == tally["ok"] + tally["empty"] + tally["failed"]
        assert tally["failed"] == tally["pending"] == 0


def test_a_second_demo_pays_for_nothing_and_changes_no_byte(finished: Project) -> None:
    dataset = finished.home / "datasets" / "bbb"
    calls = read_ledger(finished.home / "ledger").height
    before = {path.name: path.read_bytes() for path in dataset.iterdir()}
    finished.run("demo")
    assert read_ledger(finished.home / "ledger").height == calls
    assert {path.name: path.read_bytes() for path in dataset.iterdir()} == before


def test_the_journal_and_the_ledger_agree(finished: Project) -> None:
    ledger = read_ledger(finished.home / "ledger").filter(pl.col("outcome") == "ok")
    for asset, purpose in (("raw_extractions", "bbb/extract"), ("judgments", "bbb/judge")):
        outcomes = Journal(finished.home / "store" / asset / "bbb" / "examples" / "journal").outcomes()
        paid = ledger.filter(pl.col("purpose") == purpose)["unit"].to_list()
        assert len(paid) == len(set(paid))
        assert set(paid) == set(outcomes)


def test_search_lets_only_passages_with_the_entities_through(finished: Project) -> None:
    command = ("search", "crosses the blood-brain barrier", "--filter", '(SmallMolecule) AND ("blood-brain barrier")')
    hits = json.loads(finished.run(*command, "--json").stdout)
    assert hits
    assert all("barrier" in hit["text"].lower() or "bbb" in hit["text"].lower() for hit in hits)
    wrong = finished.run("search", "x", "--filter", "(NoSuchThingAtAll)", check=False)
    assert wrong.returncode != 0
    assert "NoSuchThingAtAll" in wrong.stderr
    assert "Traceback" not in wrong.stderr


def test_the_marts_hold_what_was_kept(finished: Project) -> None:
    import duckdb

    with duckdb.connect(str(finished.home / "marts.duckdb"), read_only=True) as connection:
        (kept,) = connection.execute("select count(*) from kept_records where task = 'bbb'").fetchone()
    assert kept == len(rows(finished))


def test_runs_are_in_the_instance_and_none_is_left_open(finished: Project) -> None:
    import dagster as dg

    with dg.DagsterInstance.from_ref(
        dg.DagsterInstance.from_config(str(finished.home / "dagster")).get_ref()
    ) as instance:
        runs = instance.get_runs()
    assert {run.job_name for run in runs} >= {"corpus", "planning", "extraction", "dataset", "marts"}
    assert {run.status for run in runs} == {dg.DagsterRunStatus.SUCCESS}


def test_a_plan_prices_what_is_missing_and_pays_for_nothing(finished: Project) -> None:
    calls = read_ledger(finished.home / "ledger").height
    assert json.loads(finished.run("plan", "bbb", "--json").stdout)["calls"] == 0
    oral = json.loads(finished.run("plan", "oral", "--json").stdout)
    assert oral["calls"] > 0
    assert oral["prompt_tokens"] > oral["calls"] * 100
    assert read_ledger(finished.home / "ledger").height == calls
