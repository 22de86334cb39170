"""The scripted models over the bundled papers: the ideal one reproduces the gold; planted errors never survive."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from starling_assets.agents.tasks import load_task
from starling_assets.artifacts.journal import Journal
from starling_assets.artifacts.store import empty
from starling_assets.extraction.assemble import Assembled, assemble, evidence_holds
from starling_assets.extraction.extract import extract_shard, shard_windows
from starling_assets.extraction.judging import judge_batches, judge_shard, verdicts
from starling_assets.literature.citations import read_citations
from starling_assets.literature.papers import read_papers
from starling_assets.literature.sources import SourceFile, sniff
from starling_assets.literature.windows import cut_windows
from starling_assets.ontology.tables import LINKS
from starling_assets.retrieval.tables import SUBCORPUS
from starling_assets.settings import Settings
from starling_assets.tagging.tables import MENTIONS, TAGS
from tests.scripted import Adversary, Ideal, ScriptedClient, Sloppy, load_gold
from tests.scripted.gold import BUNDLED, squeeze

TASK = load_task("bbb")
GOLD = load_gold(BUNDLED)
FILES = ("citations.xml", "PMC6163711.nxml", "PMC3580400.nxml")


@cache
def corpus(folder: Path) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Blocks, papers and all windows of three of the bundled files, as a subcorpus."""
    files = [SourceFile.of(folder / name) for name in FILES]
    limits = Settings().literature
    citations = read_citations([file for file in files if sniff(file.path) == "pubmed"], limits).citations
    read = read_papers(files, citations, limits)
    windows = cut_windows(read.blocks, 5, 5)
    chosen = windows.select(
        pl.col("ordinal").alias("position"),
        pl.col("paper_ordinal").alias("rank"),
        pl.col("window_key").alias("unit"),
        *("paper_ordinal", "paper_id", "extraction_id", "first_para", "n"),
        pl.lit(0.5).alias("similarity"),
        pl.lit(["all"]).alias("probes"),
    )
    return read.blocks, read.papers, chosen.select(pl.col(name).cast(kind) for name, kind in SUBCORPUS.items())


def run(model: Any, examples: Path, folder: Path) -> tuple[Assembled, pl.DataFrame]:
    blocks, papers, subcorpus = corpus(examples / "papers")
    client, settings = ScriptedClient(model), Settings()
    extract_shard(TASK, subcorpus, blocks, papers, client, Journal(folder / "x"), settings)
    windows = shard_windows(TASK, subcorpus, blocks, papers, "scripted-extractor", settings)
    outcomes = Journal(folder / "x").outcomes()
    made = assemble(TASK, windows, outcomes, papers, empty(TAGS), empty(MENTIONS), empty(LINKS), settings)
    judge_shard(TASK, made.records, blocks, papers, client, Journal(folder / "j"), settings)
    batches = judge_batches(TASK, made.records, blocks, papers, "scripted-judge", settings.extraction.judge_batch)
    judged = verdicts(made.records, Journal(folder / "j").outcomes(), batches)
    assert evidence_holds(made.records, blocks) == []
    counts = made.counts
    assert counts.objects == counts.records + counts.merged + sum(counts.rejected.values())
    assert set(judged["status"]) <= {"ok"}
    return made, made.records.join(judged, on="record_id", how="left")


def matches(row: dict[str, Any], planted: dict[str, Any]) -> bool:
    quotes = {squeeze(item["quote"]) for item in row["evidence"]}
    return (
        row["entity"] == planted["entity"]
        and row["label"] == planted["label"]
        and row["value_text"] == planted["value_text"]
        and squeeze(planted["quote"]) in quotes
    )


def test_the_ideal_model_reproduces_the_gold_and_nothing_is_rejected(examples: Path, tmp_path: Path) -> None:
    made, judged = run(Ideal(GOLD), examples, tmp_path)
    _, papers, _ = corpus(examples / "papers")
    wanted = [gold for gold in GOLD.of("bbb") if gold.paper_id in set(papers["paper_id"])]
    kept = judged.filter("kept").to_dicts()
    missed = [
        gold.record_id
        for gold in wanted
        if not any(
            row["label"] in gold.labels
            and row["entity"] in gold.names
            and any(squeeze(item["quote"]) == gold.squeezed for item in row["evidence"])
            for row in kept
        )
    ]
    assert len(wanted) >= 20
    assert len(missed) <= len(wanted) * 0.05, missed
    assert made.counts.rejected == {}


@pytest.mark.parametrize("model", [Sloppy, Adversary])
def test_no_planted_error_survives_grounding_and_the_ideal_judge(model: Any, examples: Path, tmp_path: Path) -> None:
    liar = model(GOLD)
    made, judged = run(liar, examples, tmp_path)
    kinds = Counter(kind for kind, _ in liar.planted)
    assert {"wrong_entity", "swapped_label", "invented_number", "altered_quote"} <= set(kinds)
    kept = judged.filter("kept").to_dicts()
    survivors = [(kind, item) for kind, item in liar.planted if any(matches(row, item) for row in kept)]
    assert survivors == []
    rejected = made.counts.rejected
    assert rejected["ungrounded"] >= kinds["altered_quote"]
    assert rejected["value_not_in_quote"] >= kinds["invented_number"]


def test_the_sloppy_model_still_gives_its_right_records(examples: Path, tmp_path: Path) -> None:
    _, judged = run(Sloppy(GOLD), examples, tmp_path)
    assert judged.filter("kept").height >= 8
