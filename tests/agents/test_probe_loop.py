from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from starling_assets.agents.probe_loop import LoopLimits, ProbeLoop
from starling_assets.agents.probe_state import LoopState, load_states
from starling_assets.agents.tasks import Task
from starling_assets.inference.calls import FailureKind, ModelFailure
from tests.extraction.world import small_task
from tests.scripted import ScriptedClient

from .small_corpus import Planner, SmallCorpus, action, corpus

BARRIER = [["drug"], ["barrier"]]
CLEAN = [["drug"], ["barrier"], ["~damage"]]
CSF = [["drug"], ["csf"]]


def task(**targets: Any) -> Task:
    return small_task(name="bbb", targets={"precision": 0.8, "recall_gap": 0.15, "max_probes": 3, **targets})


def loop(plan: list[list[dict[str, Any]]], folder: Path, **options: Any) -> tuple[ProbeLoop, ScriptedClient, Planner]:
    planner = Planner(plan, **({"validator": options.pop("validator")} if "validator" in options else {}))
    client = ScriptedClient(planner)
    limits = LoopLimits(**options.pop("limits", {}))
    source: SmallCorpus = options.pop("source", None) or corpus()
    return ProbeLoop(options.pop("task", None) or task(), source, client, folder, limits), client, planner


GOOD_PLAN = [
    [action("explore", groups=BARRIER)],
    [action("add", "barrier", BARRIER)],
    [action("revise", "barrier", CLEAN), action("add", "csf", CSF)],
]


def run_good(folder: Path) -> LoopState:
    return loop([list(step) for step in GOOD_PLAN], folder)[0].run()


def test_the_loop_converges_at_the_targets_and_says_so(tmp_path: Path) -> None:
    state = run_good(tmp_path)
    assert state.ended == "targets"
    assert [(probe.name, probe.precision.share) for probe in state.probes] == [("barrier", 1.0), ("csf", 1.0)]
    assert [probe.gain for probe in state.probes] == [40, 40]
    assert state.gap.share == 0.0
    made, _, _ = loop([], tmp_path)
    assert [probe.filter.entity_groups for probe in made.best_probes()] == [CLEAN, CSF]


def test_every_iteration_is_stored_with_its_estimates(tmp_path: Path) -> None:
    run_good(tmp_path)
    states = load_states(tmp_path)
    assert [state.iteration for state in states] == [0, 1, 2, 3]
    second = states[2]
    (barrier,) = second.probes
    assert barrier.matches == 70
    assert 0 < barrier.precision.low < (barrier.precision.share or 0) < barrier.precision.high < 1
    assert second.gap.share == 40 / 50
    assert any("negate damage" in note for note in second.notes)


def test_the_proposer_reads_numbers_advice_and_refusals(tmp_path: Path) -> None:
    plan = [
        [
            action("add", "x", [["nosuch"]]),
            action("add", "y", [[]]),
            action("revise", "z", BARRIER),
            action("add", "", CSF),
        ],
        [action("add", "a", CSF, query="")],
    ]
    made, _, planner = loop(plan, tmp_path, limits={"patience": 9})
    made.run()
    told = planner.seen[1]
    for words in ("nothing is called 'nosuch'", "an empty group", "there is no such filter", "has no name"):
        assert words in told
    assert "it has no semantic query" in planner.seen[2]


def test_two_runs_give_the_same_states(tmp_path: Path) -> None:
    run_good(tmp_path / "one")
    run_good(tmp_path / "two")
    for file in sorted((tmp_path / "one").iterdir()):
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()


def test_a_stopped_loop_goes_on_where_it_was_and_pays_for_nothing_twice(tmp_path: Path) -> None:
    whole = run_good(tmp_path / "whole")
    made, client, _ = loop([list(step) for step in GOOD_PLAN], tmp_path / "cut")
    client.failures.extend([None] * 14 + [ModelFailure(FailureKind.QUOTA, "gone")])
    with pytest.raises(ModelFailure, match="gone"):
        made.run()
    done = len(load_states(tmp_path / "cut"))
    assert 1 <= done < 4
    again, second, _ = loop([list(step) for step in GOOD_PLAN][done - 1 :], tmp_path / "cut")
    assert again.run() == whole
    validated = [
        call.unit for run in (client.calls, second.calls) for call in run if call.purpose.endswith("/validate")
    ]
    assert len(validated) - len(set(validated)) <= 1  # the call in flight


def test_the_end_is_named(tmp_path: Path) -> None:
    assert loop([], tmp_path / "a")[0].run().ended == "stopped"
    idle = [[action("explore", groups=BARRIER)] for _ in range(9)]
    assert loop(idle, tmp_path / "b")[0].run().ended == "no_improvement"
    capped = loop(idle, tmp_path / "c", limits={"max_iterations": 2, "patience": 9})[0].run()
    assert (capped.ended, capped.iteration) == ("cap", 2)


def test_a_spent_budget_ends_the_loop_and_keeps_its_state(tmp_path: Path) -> None:
    made, client, _ = loop([list(step) for step in GOOD_PLAN], tmp_path)
    client.failures.extend([None] * 8 + [ModelFailure(FailureKind.OVER_BUDGET, "spent")])
    state = made.run()
    assert state.ended == "budget"
    assert load_states(tmp_path)[-1].ended == "budget"


def test_no_more_filters_than_the_cap(tmp_path: Path) -> None:
    plan = [[action("add", name, CSF) for name in ("a", "b", "c", "d")], []]
    made, _, planner = loop(plan, tmp_path)
    made.run()
    assert len(load_states(tmp_path)[1].probes) == 3
    assert "3 filters are the most" in planner.seen[1]


def test_the_best_iteration_is_kept_when_a_later_one_is_worse(tmp_path: Path) -> None:
    plan = [
        [action("add", "clean", CLEAN)],
        [action("revise", "clean", [["drug"], ["liver"]])],
        [action("explore", groups=BARRIER)],
    ]
    made, _, _ = loop(plan, tmp_path)
    state = made.run()
    assert (state.ended, state.best) == ("no_improvement", 1)
    assert [probe.filter.entity_groups for probe in made.best_probes()] == [CLEAN]


def test_an_unusable_proposal_costs_an_iteration_and_no_crash(tmp_path: Path) -> None:
    made, client, planner = loop([[action("add", "csf", CSF)]], tmp_path)
    client.failures.extend([None] * 11 + [ModelFailure(FailureKind.MALFORMED, "not JSON")])
    assert made.run().ended in {"stopped", "no_improvement", "targets"}
    assert any("could not be used" in seen for seen in planner.seen)


def yes_to_all(user: str) -> dict[str, Any]:
    ids = [line.removeprefix("id: ") for line in user.splitlines() if line.startswith("id: ")]
    return {"verdicts": [{"id": name, "relevant": True, "why": "yes"} for name in ids]}


def test_a_validator_that_says_yes_to_everything_never_reaches_the_gap(tmp_path: Path) -> None:
    made, _, _ = loop(
        [[action("add", "barrier", BARRIER)], [action("add", "csf", CSF)]], tmp_path, validator=yes_to_all
    )
    state = made.run()
    assert state.ended != "targets"
    assert state.gap.share == 1.0
