from __future__ import annotations

import random
from typing import Any

import orjson
import polars as pl
import pytest

from starling_assets.agents.tasks import Task, schema_hash
from starling_assets.artifacts.journal import Outcome
from starling_assets.artifacts.store import empty
from starling_assets.extraction.assemble import Assembled, assemble, evidence_holds, rejected_counts
from starling_assets.extraction.coverage import paper_coverage
from starling_assets.extraction.tables import COVERAGE, RECORDS, REJECTED
from starling_assets.extraction.windows import Window, plan_windows
from starling_assets.settings import Settings

from .world import blocks_of, papers_of, reply, small_task, subcorpus_of, tagged

TEXTS = [
    [
        "Caffeine was active (IC50 < 5 µM) in rats.",
        "Zeta was active at 2 mg.",
        "We show that caffeine was active (IC50 < 5 µM) in rats.",
    ],
    ["Zeta was inactive."],
]
NAMES = {
    "Caffeine": {"key": "caffeine", "concept": "CHEBI:27732", "smiles": "Cn1c(=O)c2c(ncn2C)n(C)c1=O"},
    "caffeine": {"key": "caffeine", "concept": "CHEBI:27732", "smiles": "Cn1c(=O)c2c(ncn2C)n(C)c1=O"},
}
BLOCKS = blocks_of(TEXTS)
PAPERS = papers_of(2)


def windows(n: int = 1) -> list[Window]:
    return plan_windows(subcorpus_of(BLOCKS, n), BLOCKS, PAPERS, prompt="p", schema="s", model="m", max_tokens=900)


def outcome(unit: str, *records: dict[str, Any], status: str = "ok") -> Outcome:
    payload = {"records": list(records), "model": "m", "prompt": "extract@1"}
    return Outcome.model_validate({"unit": unit, "status": status, "payload": payload, "reason": None})


def made(
    planned: list[Window],
    outcomes: list[Outcome],
    task: Task | None = None,
    names: dict[str, dict[str, Any]] | None = None,
) -> Assembled:
    tags, mentions, links = tagged(BLOCKS, NAMES if names is None else names)
    found = {item.unit: item for item in outcomes}
    return assemble(task or small_task(), planned, found, PAPERS, tags, mentions, links, Settings())


CAFFEINE = reply(quote="Caffeine was active (IC50 < 5 µM)", entity="Caffeine", value_text="< 5", unit="µM")


def test_a_record_has_identity_numbers_and_provenance() -> None:
    planned = windows()
    result = made(planned, [outcome(planned[0].unit, CAFFEINE | {"species": "rat"})])
    (row,) = result.records.to_dicts()
    assert result.records.schema == pl.Schema(RECORDS)
    assert (row["concept_id"], row["entity_type"], row["entity"]) == ("CHEBI:27732", "SmallMolecule", "Caffeine")
    assert (row["value"], row["value_high"], row["qualifier"], row["unit_text"]) == (None, 5.0, "<", "µM")
    assert (row["normalised_value"], row["normalised_high"]) == (None, 5e-6)
    assert (row["normalised_unit"], row["normalised_qualifier"], row["unit_flag"]) == ("mol/L", "<", None)
    assert orjson.loads(row["fields"])["species"] == "rat"
    assert (row["pmid"], row["licence"], row["retracted"], row["probes"]) == ("1", "CC-BY", False, ["p"])
    assert (row["prompt"], row["model"], row["schema_hash"]) == ("extract@1", "m", schema_hash(small_task()))
    assert evidence_holds(result.records, BLOCKS) == []


def test_a_mass_becomes_an_amount_through_the_structure_of_the_linked_entity() -> None:
    record = small_task().record
    task = small_task(
        record=record.model_copy(update={"value": record.value.model_copy(update={"target_unit": "mmol"})})
    )
    planned = windows()
    item = reply(quote="Zeta was active at 2 mg", entity="Zeta", value_text="2 mg")
    without = made(planned, [outcome(planned[1].unit, item)], task).records.row(0, named=True)
    assert without["normalised_value"] is None
    assert "no structure is known" in without["unit_flag"]
    names = {"Zeta": {"concept": "CHEBI:1", "smiles": "O"}}
    with_structure = made(planned, [outcome(planned[1].unit, item)], task, names).records.row(0, named=True)
    assert with_structure["normalised_value"] == pytest.approx(2 / 18.015)


def test_objects_are_records_merged_or_rejected_and_windows_without_answer_are_unfinished() -> None:
    planned = windows(3)
    outcomes = [
        outcome(
            planned[0].unit,
            CAFFEINE,
            CAFFEINE,
            CAFFEINE | {"entity": "Nobody"},
            CAFFEINE | {"quote": "made up words here"},
            CAFFEINE | {"value_text": "99"},
        )
    ]
    result = made(planned, outcomes)
    counts = result.counts
    assert (counts.objects, counts.records, counts.merged, counts.unfinished) == (5, 1, 1, 1)
    assert counts.rejected == {"entity_not_in_window": 1, "ungrounded": 1, "value_not_in_quote": 1}
    assert counts.objects == counts.records + counts.merged + sum(counts.rejected.values())
    assert result.rejected.schema == pl.Schema(REJECTED)
    assert rejected_counts([result.rejected, result.rejected]) == {key: 2 * n for key, n in counts.rejected.items()}
    assert orjson.loads(result.rejected["object"][0])["entity"] == "Nobody"


def test_the_same_words_in_abstract_and_body_are_one_record_with_two_places() -> None:
    planned = windows()
    again = CAFFEINE | {"quote": "caffeine was active (IC50 < 5 µM)", "entity": "caffeine"}
    result = made(planned, [outcome(planned[0].unit, CAFFEINE), outcome(planned[2].unit, again)])
    (row,) = result.records.to_dicts()
    assert [item["para_idx"] for item in row["evidence"]] == [0, 2]
    assert evidence_holds(result.records, BLOCKS) == []


def test_other_words_or_contradicting_fields_stay_records_of_their_own_before_judging() -> None:
    planned = windows()
    longer = CAFFEINE | {"quote": "We show that caffeine was active", "entity": "caffeine", "value_text": None}
    other = CAFFEINE | {"species": "mouse"}
    result = made(
        planned, [outcome(planned[0].unit, CAFFEINE | {"species": "rat"}, other), outcome(planned[2].unit, longer)]
    )
    assert result.records.height == 3
    assert result.records["record_id"].n_unique() == 3


def test_the_answer_does_not_depend_on_the_order_of_windows_or_objects() -> None:
    planned = windows()
    items = [CAFFEINE, CAFFEINE | {"species": "rat"}, CAFFEINE | {"entity": "nobody"}]
    first = made(planned, [outcome(planned[0].unit, *items)])
    for seed in range(5):
        shuffled, mixed = list(planned), list(items)
        random.Random(seed).shuffle(shuffled)
        random.Random(seed).shuffle(mixed)
        second = made(shuffled, [outcome(planned[0].unit, *mixed)])
        assert second.records.equals(first.records)
        assert second.counts == first.counts


def test_nothing_in_nothing_out() -> None:
    result = made([], [])
    assert result.records.equals(empty(RECORDS))
    assert result.counts.objects == 0


def test_altered_evidence_is_noticed() -> None:
    planned = windows()
    records = made(planned, [outcome(planned[0].unit, CAFFEINE)]).records
    changed = BLOCKS.with_columns(pl.col("text").str.replace("Caffeine", "Kaffeine"))
    assert evidence_holds(records, changed) == records["record_id"].to_list()
    assert evidence_holds(records, BLOCKS.clear()) == records["record_id"].to_list()


def test_coverage_tells_complete_partial_failed_and_pending_papers() -> None:
    planned = windows()
    failed = Outcome(unit=planned[1].unit, status="failed", reason="truncated")
    outcomes = {item.unit: item for item in (outcome(planned[0].unit, CAFFEINE), failed)}
    frame = paper_coverage(planned, outcomes)
    assert frame.schema == pl.Schema(COVERAGE)
    assert frame["status"].to_list() == ["pending", "pending"]
    outcomes |= {unit.unit: outcome(unit.unit, status="empty") for unit in planned[2:]}
    frame = paper_coverage(planned, outcomes)
    assert frame["status"].to_list() == ["partial", "complete"]
    assert frame["reasons"].to_list() == [["truncated"], []]
    assert frame.select(pl.sum_horizontal("ok", "empty", "failed", "pending") == pl.col("windows")).to_series().all()
    assert paper_coverage([], {}).is_empty()


def test_a_value_is_given_in_further_units_as_fields_where_the_structure_is_known() -> None:
    record = small_task().record
    rule = record.value.model_copy(update={"target_unit": "mg", "derived": {"log_mol": "log10(mol)"}})
    task = small_task(record=record.model_copy(update={"value": rule}))
    planned = windows()
    item = reply(quote="Zeta was active at 2 mg", entity="Zeta", value_text="2 mg")
    for names, expected in (({"Zeta": {"concept": "CHEBI:1", "smiles": "O"}}, -3.954), ({}, None)):
        (row,) = made(planned, [outcome(planned[1].unit, item)], task, names).records.to_dicts()
        found = orjson.loads(row["fields"])["log_mol"]
        assert found == (None if expected is None else pytest.approx(expected, abs=0.001))
        assert row["normalised_value"] == 2
