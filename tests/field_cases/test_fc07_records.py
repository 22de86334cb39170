"""FC-07: a reply that almost parses, from the salvage of its objects to the records that survive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from starling_assets.artifacts.journal import Journal
from starling_assets.extraction.entities import Entities
from starling_assets.extraction.extract import extract_shard
from starling_assets.extraction.objects import Draft, Refused, check_object
from starling_assets.inference.calls import FailureKind, ModelFailure
from starling_assets.inference.strict_json import KEY_TWICE, NOT_FINITE, salvage_objects
from starling_assets.settings import Settings
from tests.extraction.world import blocks_of, papers_of, reply, small_task, subcorpus_of, tagged, window
from tests.scripted import ScriptedClient

TEXT = "Compound 3 inhibited JAK2 (IC50 12.5 nM). Compound 6 gave 7.1 nM. Compound 7 was not measured."
REPLY = """Sure, here it is:
```json
{"records": [
 {"entity": "3", "label": "active", "value_text": 12.5, "unit": "nM", "relation": "=", "quote": "Compound 3 inhibited JAK2 (IC50 12.5 nM)"},
 {"entity": "4", "label": "active", "value_text": NaN, "unit": "nM", "relation": "=", "quote": "Compound 3 inhibited JAK2 (IC50 12.5 nM)"},
 {"entity": "6", "label": "active", "value_text": 7.1, "value_text": 71, "unit": "nM", "relation": "=", "quote": "Compound 6 gave 7.1 nM"},
 {"entity": "7", "label": "active", "value_text": 0.0, "unit": "nM", "relation": "equal", "quote": "Compound 7 was not measured"},
 {"entity": "7", "label": "active", "value_text": "null", "unit": "N/A", "relation": "=", "quote": "Compound 7 was not measured"},
 {"entity": "8", "val"""  # noqa: E501


def measured() -> Any:
    """The task of this case: a value is what a record is for."""
    record = small_task().record
    return small_task(record=record.model_copy(update={"value": record.value.model_copy(update={"required": True})}))


def check(item: dict[str, Any]) -> Draft:
    nothing = tagged(blocks_of([]), {})
    return check_object(measured(), window(TEXT), item, Entities(*nothing, ["SmallMolecule"]), 0.92, {})


def test_of_the_salvaged_objects_only_the_first_survives_and_the_counts_add_up() -> None:
    salvaged = salvage_objects(REPLY)
    assert [rejected.reason for rejected in salvaged.rejected] == [NOT_FINITE, KEY_TWICE]
    assert salvaged.unfinished == 1
    kept, reasons = [], []
    for item in salvaged.objects:
        try:
            kept.append(check(item))
        except Refused as refusal:
            reasons.append(refusal.reason)
    (first,) = kept
    assert first.quantity is not None
    assert (first.entity, first.quantity.value, first.quantity.unit) == ("3", 12.5, "nM")
    assert reasons == ["not_allowed", "absent"]
    assert salvaged.seen == 6 == len(kept) + len(reasons) + len(salvaged.rejected) + salvaged.unfinished


def test_zero_is_not_read_where_nothing_was_measured() -> None:
    item = reply(quote="Compound 7 was not measured", entity="7", value_text="0.0", unit="nM", relation="=")
    with pytest.raises(Refused) as caught:
        check(item)
    assert caught.value.reason == "value_not_in_quote"


def test_the_call_counts_as_truncated_and_nothing_of_it_is_stored(tmp_path: Path) -> None:
    blocks, papers = blocks_of([[TEXT]]), papers_of(1)
    client = ScriptedClient(
        lambda messages, _: {
            "records": [
                reply(quote="Compound 3 inhibited JAK2 (IC50 12.5 nM)", entity="3", value_text="12.5", unit="nM")
            ]
            if "12.5" in messages[-1]["content"]
            else []
        }
    )
    client.failures.append(ModelFailure(FailureKind.TRUNCATED, "finish_reason=length", raw=REPLY))
    journal = Journal(tmp_path)
    tally = extract_shard(measured(), subcorpus_of(blocks), blocks, papers, client, journal, Settings())
    assert len(client.calls) == 3
    assert tally.ok == 1
    (outcome,) = journal.outcomes().values()
    assert [record["entity"] for record in outcome.payload["records"]] == ["3"]


def test_a_reply_that_stays_cut_off_is_a_failure_and_never_an_empty_success(tmp_path: Path) -> None:
    blocks, papers = blocks_of([[TEXT]]), papers_of(1)
    client = ScriptedClient(lambda *_: {"records": []})
    client.failures.extend([ModelFailure(FailureKind.TRUNCATED, "finish_reason=length", raw=REPLY)] * 2)
    tally = extract_shard(measured(), subcorpus_of(blocks), blocks, papers, client, Journal(tmp_path), Settings())
    assert (tally.ok, tally.empty, tally.failed, tally.reasons) == (0, 0, 1, {"truncated": 1})
