"""Both loops from a draft: what they write, how they end, and that a kill costs nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from starling_assets.agents.drafts import lacks, state_of, write_draft
from starling_assets.agents.induction import Induction, InductionLimits, induce
from starling_assets.agents.schema_loop import SchemaLimits
from starling_assets.agents.tasks import Task, load_task, schema_hash
from starling_assets.inference.calls import FailureKind, ModelFailure
from starling_assets.tagging.entity_types import EntityType
from tests.scripted import ScriptedClient
from tests.scripted.requests import fenced

from .small_corpus import Planner, action, corpus, validate

AXES = ("support_fidelity", "task_relevance", "entity_attribution", "label_correctness", "accuracy")
PROBES = [action("add", "barrier", [["drug"], ["barrier"], ["~damage"]]), action("add", "csf", [["drug"], ["csf"]])]
LIMITS = InductionLimits(schema=SchemaLimits(papers=10, held_out=0.5), passages=8)
DRAFT = {
    "entity": "the drug",
    "label_name": "entry",
    "label_description": "whether it enters",
    "label_allowed": ["enters", "stays_out"],
    "value": "",
    "fields": [{"name": "place", "type": "string", "allowed": [], "description": "where"}],
    "counts": ["a drug that enters"],
    "not_counts": ["a plan"],
    "defaults": [],
}


class Model:
    """A model for both loops that answers by the request alone, as a model at temperature 0 does."""

    def __init__(self, *, validator: Any = validate, good: bool = True) -> None:
        self.validator = validator
        self.good = good

    def __call__(self, messages: list[dict[str, str]], schema: dict[str, Any]) -> dict[str, Any]:
        keys, text = schema["properties"], fenced(messages)
        if "actions" in keys or "suggestions" in keys or re.search(r"^id: p1$", text, re.MULTILINE):
            plan = [PROBES] if "Iteration 0." in text else []
            return Planner(plan, validator=self.validator)(messages, schema)
        if "label_allowed" in keys:
            return dict(DRAFT)
        if "verdicts" in keys:
            names = re.findall(r"^id: (r\d+)$", text, re.MULTILINE)
            return {"verdicts": [{"id": n, **dict.fromkeys(AXES, self.good), "why": None} for n in names]}
        if "FreeRecord" in schema.get("$defs", {}):
            return {"records": [{"entity": "drug", "quote": text, "facts": [{"name": "place", "value": "csf"}]}]}
        (record,) = [value for name, value in schema["$defs"].items() if name.endswith("Record")]
        return {
            "records": [{**dict.fromkeys(record["properties"]), "quote": text, "entity": "drug", "label": "enters"}]
        }


def drafted(base: Path) -> Task:
    return write_draft(base / "tasks" / "entry", "Find all drugs that enter the brain.", EntityType.SMALL_MOLECULE)


def run(base: Path, client: Any, limits: InductionLimits = LIMITS) -> Induction:
    return induce(load_task("entry", [base / "tasks"]), corpus(), client, base / "loops", limits)


def files_of(base: Path) -> dict[str, bytes]:
    return {str(path.relative_to(base)): path.read_bytes() for path in sorted(base.rglob("*")) if path.is_file()}


def test_a_draft_becomes_a_complete_task_that_still_waits_for_a_person(tmp_path: Path) -> None:
    assert lacks(drafted(tmp_path))
    outcome = run(tmp_path, ScriptedClient(Model()))
    assert outcome.sufficient
    assert outcome.lines() == ["probes: 2, ended: targets", "schema: ended: targets"]
    task = load_task("entry", [tmp_path / "tasks"])
    assert [probe.name for probe in task.probes] == ["barrier", "csf"]
    assert task.record.label.allowed == ["enters", "stays_out"]
    assert state_of(task) == "complete"
    assert not task.approved
    assert schema_hash(task) == outcome.schema_digest


def test_a_finished_induction_asks_nothing_and_leaves_edited_files_alone(tmp_path: Path) -> None:
    drafted(tmp_path)
    first = run(tmp_path, ScriptedClient(Model()))
    probes = tmp_path / "tasks" / "entry" / "probes.json"
    probes.write_text("[]\n")
    again = ScriptedClient(Model())
    assert run(tmp_path, again) == first
    assert again.calls == []
    assert probes.read_text() == "[]\n"


def test_a_kill_at_a_call_ends_in_the_same_bytes_and_pays_nothing_twice(tmp_path: Path) -> None:
    drafted(tmp_path / "whole")
    whole = ScriptedClient(Model())
    run(tmp_path / "whole", whole)
    assert len(whole.calls) > 20
    for moment in (*range(0, len(whole.calls), 6), len(whole.calls) - 1):
        base = tmp_path / f"killed{moment}"
        drafted(base)
        killed = ScriptedClient(Model())
        killed.failures.extend([*[None] * moment, ModelFailure(FailureKind.CANCELLED, "killed")])
        with pytest.raises(ModelFailure, match="killed"):
            run(base, killed)
        resumed = ScriptedClient(Model())
        run(base, resumed)
        assert moment + len(resumed.calls) == len(whole.calls)
        assert files_of(base) == files_of(tmp_path / "whole")


def test_a_kill_between_the_tasks_files_and_the_outcome_pays_nothing(tmp_path: Path) -> None:
    drafted(tmp_path)
    outcome = run(tmp_path, ScriptedClient(Model()))
    before = files_of(tmp_path)
    next((tmp_path / "loops").rglob("outcome.json")).unlink()
    resumed = ScriptedClient(Model())
    assert run(tmp_path, resumed) == outcome
    assert resumed.calls == []
    assert files_of(tmp_path) == before


@pytest.mark.parametrize("share", [0.0, 0.4, 0.95])
def test_an_induction_that_a_budget_cut_short_goes_on_later(tmp_path: Path, share: float) -> None:
    drafted(tmp_path / "whole")
    whole = ScriptedClient(Model())
    outcome = run(tmp_path / "whole", whole)
    drafted(tmp_path / "cut")
    spent, affordable = ScriptedClient(Model()), int(share * len(whole.calls))
    spent.failures.extend([*[None] * affordable, *[ModelFailure(FailureKind.OVER_BUDGET, "spent")] * 99])
    first = run(tmp_path / "cut", spent)
    assert first.cut_short
    assert not first.sufficient
    richer = ScriptedClient(Model())
    assert run(tmp_path / "cut", richer) == outcome
    assert affordable + len(richer.calls) == len(whole.calls)
    assert files_of(tmp_path / "cut") == files_of(tmp_path / "whole")


def silent(user: str) -> dict[str, Any]:
    """A validator that says nothing of any passage."""
    return {"verdicts": []}


def refuses(user: str) -> dict[str, Any]:
    return {"verdicts": [{**one, "relevant": False} for one in validate(user)["verdicts"]]}


def agrees(user: str) -> dict[str, Any]:
    return {"verdicts": [{**one, "relevant": True} for one in validate(user)["verdicts"]]}


@pytest.mark.parametrize("validator", [silent, refuses, agrees])
def test_a_validator_that_cannot_be_relied_on_never_makes_it_sufficient(tmp_path: Path, validator: Any) -> None:
    drafted(tmp_path)
    outcome = run(tmp_path, ScriptedClient(Model(validator=validator)))
    assert outcome.probes_ended != "targets"
    assert not outcome.sufficient
    assert not load_task("entry", [tmp_path / "tasks"]).approved


def test_a_schema_whose_records_fail_is_told_as_it_is(tmp_path: Path) -> None:
    drafted(tmp_path)
    outcome = run(tmp_path, ScriptedClient(Model(good=False)))
    assert outcome.probes_ended == "targets"
    assert outcome.schema_ended == "no_improvement"
    assert not outcome.sufficient


def test_another_sentence_is_another_induction(tmp_path: Path) -> None:
    drafted(tmp_path)
    run(tmp_path, ScriptedClient(Model()))
    file = tmp_path / "tasks" / "entry" / "task.yaml"
    file.write_text(file.read_text().replace("enter the brain", "reach the brain"))
    again = ScriptedClient(Model())
    run(tmp_path, again)
    assert again.calls
    assert len(list((tmp_path / "loops").iterdir())) == 2
