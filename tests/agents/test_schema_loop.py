from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from starling_assets.agents.planning_calls import Passage
from starling_assets.agents.schema_calls import Fact, FreeRecord
from starling_assets.agents.schema_loop import SchemaLimits, SchemaLoop, describe_facts, split_papers
from starling_assets.agents.tasks import PACKAGED, load_task, schema_hash
from starling_assets.inference.calls import FailureKind, ModelFailure
from tests.extraction.world import small_task
from tests.scripted import ScriptedClient
from tests.scripted.requests import fenced

AXES = ("support_fidelity", "task_relevance", "entity_attribution", "label_correctness", "accuracy")
TASK = small_task(name="bbb", sentence="Find all compounds that enter the brain.", targets={"precision": 0.8})
PASSAGES = [
    Passage(key=f"k{n}", paper_id=f"pmid:{n // 2}", text=f"Drug{n} entered the brain of {'rats' if n % 2 else 'mice'}.")
    for n in range(20)
]


def draft(allowed: list[str], **changes: Any) -> dict[str, Any]:
    return {
        "entity": "the drug",
        "label_name": "entry",
        "label_description": "whether it enters",
        "label_allowed": allowed,
        "value": "",
        "fields": [{"name": "species", "type": "string", "allowed": [], "description": "species"}],
        "counts": ["a drug that enters"],
        "not_counts": ["a plan"],
        "defaults": [],
        **changes,
    }


@dataclass
class Inducer:
    """Reads every passage, proposes the drafts in order, passes records whose label is "enters"."""

    drafts: list[dict[str, Any]]
    judges: bool = True
    materials: list[str] = field(default_factory=list)

    def __call__(self, messages: list[dict[str, str]], schema: dict[str, Any]) -> dict[str, Any]:
        keys, text = schema["properties"], fenced(messages)
        if "label_allowed" in keys:
            self.materials.append(text)
            return self.drafts.pop(0) if len(self.drafts) > 1 else self.drafts[0]
        if "verdicts" in keys:
            rows = re.findall(r"^id: (r\d)\npaper: [^\n]*\nrecord: ([^\n]+)$", text, re.MULTILINE)
            made = [self.verdict(name, json.loads(record)) for name, record in rows]
            return {"verdicts": made if self.judges else []}
        drug, species = re.findall(r"(Drug\d+) entered the brain of (\w+)", text)[0]
        if "FreeRecord" in schema.get("$defs", {}):
            facts = [{"name": "Species", "value": species}, {"name": "outcome", "value": "entered"}]
            return {"records": [{"entity": drug, "quote": text, "facts": facts}]}
        (record,) = [value for name, value in schema["$defs"].items() if name.endswith("Record")]
        label = record["properties"]["label"]["enum"][0]
        return {"records": [{**dict.fromkeys(record["properties"]), "quote": text, "entity": drug, "label": label}]}

    @staticmethod
    def verdict(name: str, record: dict[str, Any]) -> dict[str, Any]:
        right = record["label"] == "enters"
        return {"id": name, **dict.fromkeys(AXES, True), "label_correctness": right, "why": None if right else "vague"}


def loop(drafts: list[dict[str, Any]], folder: Path, **options: Any) -> tuple[SchemaLoop, ScriptedClient, Inducer]:
    inducer = Inducer(list(drafts), judges=options.pop("judges", True))
    client = ScriptedClient(inducer)
    limits = SchemaLimits(held_out=0.5, **options)
    return SchemaLoop(TASK, PASSAGES, client, folder, limits), client, inducer


VAGUE, CLEAR = draft(["good", "bad"]), draft(["enters", "stays out"])


def test_the_loop_revises_until_held_out_records_pass_and_freezes_the_best(tmp_path: Path) -> None:
    made, _, inducer = loop([VAGUE, CLEAR], tmp_path / "loop")
    best = made.run()
    assert best is not None
    assert best.ended == "targets"
    assert [(one.number, one.quality.share) for one in made.rounds()] == [(0, 0.0), (1, 1.0)]
    assert best.record.label.allowed == ["enters", "stays out"]
    assert "species (10): " in inducer.materials[0]
    assert "label_correctness (vague)" in inducer.materials[1]
    shutil.copytree(PACKAGED / "bbb", tmp_path / "bbb")
    digest = made.freeze(tmp_path / "bbb")
    frozen = load_task("bbb", [tmp_path])
    assert frozen.record == best.record
    assert schema_hash(TASK.model_copy(update={"record": best.record})) == digest


def test_validation_uses_papers_that_discovery_did_not_see() -> None:
    discovery, held_out = split_papers(PASSAGES, SchemaLimits(held_out=0.3, papers=8))
    assert not {one.paper_id for one in discovery} & {one.paper_id for one in held_out}
    assert len({one.paper_id for one in [*discovery, *held_out]}) == 8
    assert split_papers(PASSAGES[:1], SchemaLimits())[1] == []


def test_the_end_is_named(tmp_path: Path) -> None:
    stuck = loop([VAGUE], tmp_path / "a")[0]
    stuck.run()
    assert [one.ended for one in stuck.rounds()] == [None, None, "no_improvement"]
    capped = loop([VAGUE], tmp_path / "b", max_rounds=2)[0]
    capped.run()
    assert capped.rounds()[-1].ended == "cap"


def test_a_validation_that_judged_nothing_is_insufficient_and_never_wins(tmp_path: Path) -> None:
    made, _, _ = loop([CLEAR], tmp_path, judges=False, max_rounds=2)
    best = made.run()
    assert best is not None
    assert best.quality.status == "insufficient"
    assert best.ended != "targets"


def test_an_unusable_draft_is_asked_for_again_and_then_given_up(tmp_path: Path) -> None:
    broken = draft(["enters"], fields=[{"name": "entity", "type": "string", "allowed": [], "description": ""}])
    made, _, inducer = loop([broken, CLEAR], tmp_path / "a")
    assert made.run() is not None
    assert "not a usable field name" in inducer.materials[1]
    assert loop([broken], tmp_path / "b")[0].run() is None
    with pytest.raises(ValueError, match="no schema to freeze"):
        loop([broken], tmp_path / "b")[0].freeze(tmp_path)


def test_a_stopped_loop_resumes_and_reads_no_paper_twice(tmp_path: Path) -> None:
    whole = loop([VAGUE, CLEAR], tmp_path / "whole")[0].run()
    made, client, _ = loop([VAGUE, CLEAR], tmp_path / "cut")
    client.failures.extend([None] * 14 + [ModelFailure(FailureKind.QUOTA, "gone")])
    with pytest.raises(ModelFailure, match="gone"):
        made.run()
    again, second, _ = loop([VAGUE, CLEAR], tmp_path / "cut")
    assert again.run() == whole
    assert not [call for call in second.calls if call.purpose.endswith("/discover")]
    assert len([call for call in client.calls if call.purpose.endswith("/discover")]) == 10


def test_a_spent_budget_ends_the_loop(tmp_path: Path) -> None:
    made, client, _ = loop([VAGUE], tmp_path)
    client.failures.extend([None] * 36 + [ModelFailure(FailureKind.OVER_BUDGET, "spent")])
    best = made.run()
    assert best is not None
    assert made.rounds()[-1].ended == "budget"


def test_facts_are_summed_up_without_depending_on_their_order() -> None:
    records = [
        FreeRecord(entity="a", quote="q", facts=[Fact(name="Species", value="rat")]),
        FreeRecord(
            entity="b", quote="q", facts=[Fact(name="species ", value="mouse"), Fact(name="dose", value="1 mg")]
        ),
    ]
    text = describe_facts(records)
    assert "species (2): mouse, rat" in text
    assert text.splitlines()[1:3] == describe_facts(records[::-1]).splitlines()[1:3]
