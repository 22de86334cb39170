"""What a user sees of the loops: the bound before, every iteration after, and the same command going on."""

from __future__ import annotations

from pathlib import Path

import pytest

from starling_assets.agents.estimates import estimate
from starling_assets.agents.tasks import load_task
from starling_assets.cli.induction_report import shown
from starling_assets.inference.calls import FailureKind, ModelFailure
from tests.scripted import ScriptedClient

from .test_induce_command import SENTENCE, call, indexed, model, refused

__all__ = ["indexed", "model"]
NEW = ("new", SENTENCE, "--name", "entry", "--induce")


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def test_the_bound_comes_first_and_every_iteration_is_shown(indexed: Path, model: ScriptedClient) -> None:
    result = call(*NEW)
    assert result.exit_code == 0, result.output
    bound, end = result.output.index("What the loops of entry may take"), result.output.index("ended: targets")
    assert bound < end
    assert "no bound on cost is set" in result.output
    assert "100% (84% to 100%, 20 judged)" in result.output
    assert "0% (0% to 39%, 6 judged)" in result.output
    assert "ended: targets; the best" in result.output
    assert not load_task("entry", [next(indexed.rglob("entry/task.yaml")).parents[1]]).approved
    again = call(*NEW)
    assert again.exit_code == 0, again.output
    assert "may take" not in again.output
    assert call("approve", "entry").exit_code == 0


def test_the_same_command_goes_on_and_pays_nothing_twice(indexed: Path, model: ScriptedClient) -> None:
    model.failures.extend([*[None] * 4, ModelFailure(FailureKind.CANCELLED, "stopped")])
    assert "stopped" in refused(*NEW)
    paid = len(model.calls) - 1
    assert call(*NEW).exit_code == 0
    units = [(call.purpose, call.unit) for call in model.calls]
    assert paid == 4
    assert len(set(units)) == len(units) - 1


def test_another_sentence_does_not_take_the_name(indexed: Path, model: ScriptedClient) -> None:
    assert call(*NEW).exit_code == 0
    assert "already" in refused("new", "Find all drugs that leave the brain.", "--name", "entry", "--induce")


def test_a_bound_on_cost_is_told(indexed: Path, model: ScriptedClient) -> None:
    assert "the loops stop at 0.5000 US dollars" in call(*NEW, "--max-cost", "0.5").output


def test_an_insufficient_sample_is_named_whatever_its_share() -> None:
    assert shown(estimate(3, 3)) == "insufficient (3 judged)"
    assert shown(estimate(0, 0)) == "insufficient (0 judged)"
    assert shown(estimate(0, 0, population=0)) == "nothing to judge"
    assert shown(estimate(3, 3, population=3)).startswith("100% (")
