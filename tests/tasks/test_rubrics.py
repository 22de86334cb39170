"""Rubrics refine the judge's axes: they reach the judge's prompt and name only axes that exist."""

from __future__ import annotations

import re

import pytest

from starling_assets.agents.judge import Candidate, judge_call
from starling_assets.agents.tasks import load_task

AXES = {"Support fidelity", "Task relevance", "Entity attribution", "Label", "Accuracy"}


@pytest.mark.parametrize("name", ["bbb", "gda", "psl", "reactions"])
def test_a_rubric_names_axes_and_is_read_by_the_judge(name: str) -> None:
    task = load_task(name)
    heads = re.findall(r"(?m)^- ([^:]+):", task.rubric)
    assert heads
    assert set(heads) <= AXES
    call = judge_call(task, "unit", [Candidate("r1", "", {}, "text")], 100)
    assert task.rubric in call.system
    # The rubric adds to the axes and replaces none.
    for axis in ("support_fidelity", "task_relevance", "entity_attribution", "label_correctness", "accuracy"):
        assert axis in call.reply_type.model_json_schema()["$defs"]["Verdict"]["properties"]
