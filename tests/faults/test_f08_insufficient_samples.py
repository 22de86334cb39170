"""F8: a validation that judged no sample is insufficient, and can never win over a measured one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starling_assets.agents.estimates import LEAST_SAMPLE, estimate, wilson
from tests.agents.small_corpus import SmallCorpus, action, corpus
from tests.agents.test_probe_loop import BARRIER, CLEAN, CSF, loop


def test_nothing_judged_reaches_no_target() -> None:
    nothing = estimate(0, 0)
    assert (nothing.status, nothing.share, nothing.low, nothing.high) == ("insufficient", None, 0.0, 1.0)
    assert not nothing.at_least(0.0)
    assert not nothing.at_most(1.0)


def test_a_few_lucky_passages_reach_no_target_unless_they_are_all_there_is() -> None:
    assert not estimate(LEAST_SAMPLE - 1, LEAST_SAMPLE - 1).at_least(0.5)
    assert estimate(LEAST_SAMPLE - 1, LEAST_SAMPLE - 1, population=LEAST_SAMPLE - 1).at_least(0.5)
    assert estimate(0, 0, population=0).at_most(0.0)


@given(st.integers(1, 500), st.data())
@settings(deadline=None)
def test_the_interval_holds_the_share_and_narrows_with_the_sample(judged: int, data: st.DataObject) -> None:
    positive = data.draw(st.integers(0, judged))
    low, high = wilson(positive, judged)
    assert 0 <= low <= positive / judged + 1e-12
    assert positive / judged - 1e-12 <= high <= 1
    wider = wilson(positive, judged)
    narrower = wilson(positive * 4, judged * 4)
    assert narrower[1] - narrower[0] < wider[1] - wider[0]


@pytest.mark.parametrize(("positive", "judged"), [(-1, 5), (6, 5), (0, -1)])
def test_an_impossible_sample_is_a_mistake(positive: int, judged: int) -> None:
    with pytest.raises(ValueError, match="no sample"):
        estimate(positive, judged)


def silent(_: str) -> dict[str, Any]:
    return {"verdicts": []}


def test_a_validator_that_judges_nothing_never_ends_at_the_targets(tmp_path: Path) -> None:
    plan = [[action("add", "barrier", CLEAN), action("add", "csf", CSF)]]
    state = loop(plan, tmp_path, validator=silent)[0].run()
    assert state.ended != "targets"
    assert {probe.precision.status for probe in state.probes} == {"insufficient"}
    assert (state.gap.status, state.score) == ("insufficient", 0.0)


def test_a_filter_that_matches_nothing_does_not_count_as_precise(tmp_path: Path) -> None:
    made = corpus().add(1, "ghost", relevant=False)
    plan = [[action("add", "void", [["ghost"], ["drug"]])]]
    state = loop(plan, tmp_path, source=made)[0].run()
    (probe,) = state.probes
    assert (probe.matches, probe.precision.share) == (0, None)
    assert state.ended != "targets"


def test_an_insufficient_estimate_does_not_displace_a_measured_one(tmp_path: Path) -> None:
    calls = iter(range(10_000))

    def honest_then_silent(user: str) -> dict[str, Any]:
        from tests.agents.small_corpus import validate

        # The first 24 batches are judged: iteration 0 and the first probe. After that nothing is.
        return validate(user) if next(calls) < 24 else {"verdicts": []}

    plan = [[action("add", "barrier", BARRIER)], [action("revise", "barrier", [["drug"], ["liver"]])]]
    made, _, _ = loop(plan, tmp_path, validator=honest_then_silent)
    made.run()
    assert [probe.filter.entity_groups for probe in made.best_probes()] == [BARRIER]


def test_an_empty_corpus_ends_without_a_claim(tmp_path: Path) -> None:
    state = loop([], tmp_path, source=SmallCorpus())[0].run()
    assert state.ended == "stopped"
    assert state.probes == []
