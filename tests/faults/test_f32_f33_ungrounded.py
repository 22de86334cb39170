"""F32: a quote or entity that the window does not hold. F33: text of the few-shot example in the output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from starling_assets.agents.tasks import load_task, task_names
from starling_assets.artifacts.journal import Journal
from starling_assets.extraction.assemble import Assembled, assemble, evidence_holds
from starling_assets.extraction.extract import extract_shard, shard_windows
from starling_assets.settings import Settings
from tests.extraction.world import blocks_of, papers_of, subcorpus_of, tagged
from tests.scripted import ScriptedClient

TEXT = "Loperamide did not cross the blood-brain barrier of rats (brain LD50 12 mg/kg, bioavailability 3%)."
BLOCKS, PAPERS = blocks_of([[TEXT]]), papers_of(1)


def assembled(name: str, record: dict[str, Any], folder: Path) -> Assembled:
    task, settings, journal = load_task(name), Settings(), Journal(folder)
    example = task.record.example
    assert example is not None
    empty = dict.fromkeys(example.record)
    client = ScriptedClient(lambda *_: {"records": [empty | record]})
    extract_shard(task, subcorpus_of(BLOCKS), BLOCKS, PAPERS, client, journal, settings)
    windows = shard_windows(task, subcorpus_of(BLOCKS), BLOCKS, PAPERS, "scripted-extractor", settings)
    return assemble(task, windows, journal.outcomes(), PAPERS, *tagged(BLOCKS, {}), settings)


GOOD = {"quote": TEXT, "entity": "Loperamide", "label": "impermeable"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"quote": "Loperamide crossed the blood-brain barrier of rats"}, "ungrounded"),
        ({"quote": TEXT.replace(" not ", " ")}, "ungrounded"),
        ({"quote": TEXT.replace("12 mg", "13 mg")}, "ungrounded"),
        ({"quote": "PMID 12345678 reports that it does not cross"}, "ungrounded"),
        ({"entity": "Domperidone"}, "entity_not_in_window"),
        ({"entity": "PMID 12345678"}, "entity_not_in_window"),
        ({"value_text": "0.07"}, "value_not_in_quote"),
    ],
)
def test_what_the_window_does_not_hold_is_rejected(tmp_path: Path, changes: dict[str, str], reason: str) -> None:
    result = assembled("bbb", GOOD | changes, tmp_path)
    assert result.records.is_empty()
    assert result.rejected["reason"].to_list() == [reason]
    assert result.counts.rejected == {reason: 1}


def test_the_same_record_with_true_words_is_kept(tmp_path: Path) -> None:
    result = assembled("bbb", GOOD, tmp_path)
    assert result.records.height == 1
    assert evidence_holds(result.records, BLOCKS) == []


@pytest.mark.parametrize("name", task_names())
def test_the_example_copied_into_the_answer_is_rejected(tmp_path: Path, name: str) -> None:
    example = load_task(name).record.example
    assert example is not None
    whole = assembled(name, example.record, tmp_path / "whole")
    assert whole.records.is_empty()
    assert whole.counts.rejected == {"entity_not_in_window": 1}
    # With a real entity the example's sentence still gives it away.
    quoted = assembled(name, example.record | {"entity": "Loperamide"}, tmp_path / "quoted")
    assert quoted.records.is_empty()
    assert quoted.counts.rejected in ({"ungrounded": 1}, {"field_not_in_window": 1})
