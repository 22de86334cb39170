from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from starling_assets.artifacts.journal import Journal
from starling_assets.extraction.assemble import assemble
from starling_assets.extraction.extract import extract_shard, shard_windows
from starling_assets.extraction.judging import (
    CONTEXT,
    agreement,
    judge_batches,
    judge_shard,
    rejected_by_axis,
    verdicts,
)
from starling_assets.extraction.tables import AXES, VERDICTS
from starling_assets.settings import Settings
from tests.scripted import ScriptedClient

from .world import blocks_of, papers_of, reply, small_task, subcorpus_of, tagged

TASK = small_task()
TEXTS = [[" ".join(f"Compound c{n} was active in assay {p}." for n in range(6))] for p in range(2)]
BLOCKS, PAPERS = blocks_of(TEXTS), papers_of(2)


def make_records(folder: Path) -> pl.DataFrame:
    """Six records for each of two papers."""

    def answer(messages: list[dict[str, str]], _: dict[str, Any]) -> dict[str, Any]:
        found = re.findall(r"Compound (c\d) was active in assay \d", messages[-1]["content"])
        number = re.search(r"assay (\d)", messages[-1]["content"])
        assert number
        return {
            "records": [reply(quote=f"Compound {name} was active in assay {number[1]}", entity=name) for name in found]
        }

    client, journal, settings = ScriptedClient(answer), Journal(folder), Settings()
    subcorpus = subcorpus_of(BLOCKS)
    extract_shard(TASK, subcorpus, BLOCKS, PAPERS, client, journal, settings)
    windows = shard_windows(TASK, subcorpus, BLOCKS, PAPERS, "scripted-extractor", settings)
    return assemble(TASK, windows, journal.outcomes(), PAPERS, *tagged(BLOCKS, {}), settings).records


def judge(messages: list[dict[str, str]], _: dict[str, Any]) -> dict[str, Any]:
    """Everything passes but c3, whose label is called wrong."""
    rows = []
    for name, record in re.findall(
        r"^id: (r\d)\npaper: [^\n]*\nrecord: ([^\n]+)$", messages[-1]["content"], re.MULTILINE
    ):
        wrong = orjson.loads(record)["entity"] == "c3"
        rows.append(
            {
                "id": name,
                **dict.fromkeys(AXES, True),
                "label_correctness": not wrong,
                "why": "it was not" if wrong else None,
            }
        )
    return {"verdicts": rows}


def judged(records: pl.DataFrame, client: ScriptedClient, folder: Path, size: int = 4) -> pl.DataFrame:
    settings = Settings.model_validate({"extraction": {"judge_batch": size}})
    journal = Journal(folder)
    judge_shard(TASK, records, BLOCKS, PAPERS, client, journal, settings)
    batches = judge_batches(TASK, records, BLOCKS, PAPERS, "scripted-judge", size)
    return verdicts(records, journal.outcomes(), batches)


def test_every_record_gets_a_verdict_with_the_failing_axis_and_its_reason(tmp_path: Path) -> None:
    records = make_records(tmp_path / "x")
    frame = judged(records, ScriptedClient(judge), tmp_path / "j")
    assert frame.schema == pl.Schema(VERDICTS)
    assert frame["record_id"].to_list() == records["record_id"].to_list()
    assert frame["kept"].sum() == 10
    refused = frame.filter(~pl.col("kept"))
    assert set(refused["reasons"]) == {'{"label_correctness":"it was not"}'}
    assert rejected_by_axis([frame])["label_correctness"] == 2
    assert set(frame["judge_model"]) == {"scripted-judge"}


def test_batches_hold_records_of_one_window_and_are_paid_once(tmp_path: Path) -> None:
    records = make_records(tmp_path / "x")
    batches = judge_batches(TASK, records, BLOCKS, PAPERS, "m", 4)
    assert [len(batch.record_ids) for batch in batches] == [4, 2, 4, 2]
    client = ScriptedClient(judge)
    judged(records, client, tmp_path / "j")
    judged(records, client, tmp_path / "j")
    assert len(client.calls) == 4
    fewer = records.filter(pl.col("paper_id") == "pmid:2")
    assert {batch.unit for batch in judge_batches(TASK, fewer, BLOCKS, PAPERS, "m", 4)} < {
        batch.unit for batch in batches
    }


def test_the_key_follows_rubric_and_model(tmp_path: Path) -> None:
    records = make_records(tmp_path / "x")
    units = {batch.unit for batch in judge_batches(TASK, records, BLOCKS, PAPERS, "m", 4)}
    stricter = small_task(rubric="Be strict.")
    assert not units & {batch.unit for batch in judge_batches(stricter, records, BLOCKS, PAPERS, "m", 4)}
    assert not units & {batch.unit for batch in judge_batches(TASK, records, BLOCKS, PAPERS, "n", 4)}


def test_the_judge_sees_the_words_around_the_quote(tmp_path: Path) -> None:
    records = make_records(tmp_path / "x").tail(1)
    (batch,) = judge_batches(TASK, records, BLOCKS, PAPERS, "m", 4)
    (candidate,) = batch.candidates
    assert str(candidate.record["quote"]) in candidate.context
    assert len(candidate.context) < 2 * CONTEXT + 100
    assert candidate.title == "Paper 2"


def test_records_without_an_answer_are_not_kept_and_say_so(tmp_path: Path) -> None:
    records = make_records(tmp_path / "x")
    batches = judge_batches(TASK, records, BLOCKS, PAPERS, "m", 4)
    frame = verdicts(records, {}, batches)
    assert frame["kept"].sum() == 0
    assert set(frame["failure"]) == {"not judged yet"}
    assert rejected_by_axis([frame])["not_judged"] == records.height


def test_agreement_between_two_judges(tmp_path: Path) -> None:
    records = make_records(tmp_path / "x")
    first = judged(records, ScriptedClient(judge), tmp_path / "a")
    second = first.with_columns(label_correctness=pl.lit(value=True), kept=pl.lit(value=True))
    shares = agreement(first, second)
    assert shares["accuracy"] == 1.0
    assert shares["kept"] == shares["label_correctness"] == 10 / 12
    assert agreement(first.clear(), second)["kept"] is None
