"""Costs by prices, and a bound that calls in flight together cannot overshoot."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.inference.budget import FREE, Budget, Prices
from starling_assets.inference.calls import FailureKind, ModelFailure
from starling_assets.inference.tokens import estimate_prompt_tokens, estimate_tokens

PRICES = Prices(prompt=3.0, completion=15.0)


def test_a_cost_is_tokens_times_price_per_million() -> None:
    assert PRICES.cost(1_000_000, 0) == pytest.approx(3.0)
    assert PRICES.cost(0, 1_000_000) == pytest.approx(15.0)
    assert PRICES.cost(2_000, 100) == pytest.approx(0.0075)
    assert Prices().cost(10**9, 10**9) == 0
    assert not Prices(prompt=1.0).known
    assert FREE.known


def test_a_reservation_is_replaced_by_what_was_paid() -> None:
    budget = Budget(0.02)
    with budget.reserve(1_000, 1_000, PRICES) as reservation:  # at most 0.018
        with pytest.raises(ModelFailure) as caught, budget.reserve(1_000, 1_000, PRICES):
            pass
        assert caught.value.kind is FailureKind.OVER_BUDGET
        reservation.settle(0.001)
    assert budget.spent == pytest.approx(0.001)
    with budget.reserve(1_000, 1_000, PRICES):
        pass
    assert budget.spent == pytest.approx(0.001)


def test_an_exception_gives_the_reservation_back() -> None:
    budget = Budget(0.02)
    for _ in range(5):
        with pytest.raises(ZeroDivisionError), budget.reserve(1_000, 1_000, PRICES):
            raise ZeroDivisionError
    assert budget.spent == 0


def test_what_earlier_runs_paid_counts() -> None:
    with pytest.raises(ModelFailure), Budget(0.02, spent=0.01).reserve(1_000, 1_000, PRICES):
        pass


def test_a_free_endpoint_never_runs_out() -> None:
    budget = Budget(0.0)
    with budget.reserve(10**9, 10**9, FREE) as reservation:
        reservation.settle(0.0)


@given(st.lists(st.tuples(st.integers(0, 5_000), st.integers(1, 500), st.floats(0, 1)), max_size=40))
def test_the_bound_is_never_passed(calls: list[tuple[int, int, float]]) -> None:
    budget = Budget(0.05)
    for prompt, output, share in calls:
        try:
            with budget.reserve(prompt, output, PRICES) as reservation:
                reservation.settle(PRICES.cost(prompt, int(output * share)))
        except ModelFailure:
            continue
    assert budget.spent <= 0.05 + 1e-9


@given(st.text(max_size=200), st.text(max_size=200))
def test_token_estimates_grow_with_the_text(one: str, two: str) -> None:
    assert estimate_tokens(one) <= estimate_tokens(one + two) <= estimate_tokens(one) + estimate_tokens(two)
    assert (estimate_tokens(one) == 0) == (one == "")
    assert estimate_prompt_tokens(one, two) > estimate_tokens(one)
