"""Estimates: arithmetic that can be checked by hand, and a basis that says where the rates are from."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.inference.budget import FREE, Prices
from starling_assets.inference.estimates import OUTPUT_WEIGHT, PACKAGED, REMOTE, Rates, estimate, measured_rates
from starling_assets.inference.ledger import SCHEMA
from starling_assets.inference.tokens import TEMPLATE_TOKENS, estimate_tokens

RATES = Rates(0.01, 0.5, 0.0, None, 0, "test")


def ledger(*calls: dict[str, object]) -> pl.DataFrame:
    base: dict[str, object] = {
        "started_at": "2026-11-30T12:00:00.000+00:00", "role": "extractor", "purpose": "bbb/extract", "unit": "u",
        "model": "m", "prompt": "p", "outcome": "ok", "message": "", "prompt_tokens": 400, "completion_tokens": 100,
        "cached_tokens": 200, "latency_seconds": 5.0, "cost": 0.0, "retries": 0,
    }  # fmt: skip
    return pl.DataFrame([{**base, **call} for call in calls], schema=SCHEMA)


def test_totals_by_hand() -> None:
    system, users = "s" * 360, ["u" * 36, "u" * 72]
    found = estimate(system, users, 100, RATES, Prices(1.0, 10.0), concurrency=1)
    prompt = 2 * (100 + TEMPLATE_TOKENS) + 10 + 20
    assert found.calls == 2
    assert found.prompt_tokens == prompt
    assert found.completion_tokens == 100  # half of the cap, twice
    assert found.seconds == pytest.approx((prompt + OUTPUT_WEIGHT * 100) * 0.01, abs=0.06)
    assert found.cost == pytest.approx((prompt + 10 * 100) / 1e6)
    assert found.most_cost == pytest.approx((prompt + 10 * 200) / 1e6)
    assert "estimated" in found.basis
    assert "test" in found.basis


def test_no_calls_cost_nothing() -> None:
    found = estimate("s", [], 100, REMOTE, Prices(1.0, 1.0), concurrency=16)
    assert (found.calls, found.prompt_tokens, found.seconds, found.cost) == (0, 0, 0.0, 0.0)


def test_unknown_prices_give_no_cost_and_the_packaged_model_is_free() -> None:
    assert estimate("s", ["u"], 100, REMOTE, Prices(), 1).cost is None
    assert estimate("s", ["u"], 100, PACKAGED, FREE, 1).cost == 0.0


def test_calls_in_flight_share_the_time() -> None:
    one = estimate("s" * 400, ["u" * 400] * 32, 100, RATES, FREE, 1)
    many = estimate("s" * 400, ["u" * 400] * 32, 100, RATES, FREE, 8)
    assert many.seconds == pytest.approx(one.seconds / 8, rel=0.01)
    assert estimate("s", ["u"], 100, RATES, FREE, 8).seconds == estimate("s", ["u"], 100, RATES, FREE, 1).seconds


def test_rates_come_from_calls_of_the_same_kind() -> None:
    book = ledger(*[{}] * 5, {"purpose": "bbb/judge", "completion_tokens": 9}, {"outcome": "timeout"})
    rates = measured_rates(book, "m", "bbb/extract", PACKAGED)
    assert rates.calls == 5
    assert rates.output_tokens == pytest.approx(100)
    assert rates.cached_share == pytest.approx(0.5)
    assert rates.seconds_per_unit == pytest.approx(5.0 / (200 + 3 * 100))
    assert "5 calls of m for bbb/extract" in rates.basis


def test_other_purposes_give_the_speed_but_not_the_length() -> None:
    rates = measured_rates(ledger(*[{"purpose": "bbb/judge"}] * 5), "m", "bbb/extract", PACKAGED)
    assert rates.seconds_per_unit == pytest.approx(0.01)
    assert rates.output_tokens is None
    assert rates.cached_share == 0.0
    assert "other purposes" in rates.basis


def test_too_few_calls_or_another_model_leave_the_stated_rates() -> None:
    assert measured_rates(ledger(*[{}] * 4), "m", "bbb/extract", REMOTE) is REMOTE
    assert measured_rates(ledger(*[{}] * 9), "other", "bbb/extract", PACKAGED) is PACKAGED
    assert measured_rates(ledger(), "m", "p", PACKAGED) is PACKAGED


def test_one_call_that_waited_does_not_spoil_the_estimate() -> None:
    book = ledger(*[{}] * 6, {"latency_seconds": 3_600.0})
    assert measured_rates(book, "m", "bbb/extract", PACKAGED).seconds_per_unit == pytest.approx(0.01)


@given(st.lists(st.text(max_size=80), max_size=20), st.integers(1, 900), st.floats(0, 1))
def test_an_estimate_lies_between_nothing_and_the_caps(users: list[str], cap: int, share: float) -> None:
    rates = Rates(0.001, 0.4, share, 10_000.0, 9, "test")
    found = estimate("system", users, cap, rates, Prices(1.0, 1.0), 4)
    assert 0 <= found.completion_tokens <= cap * len(users)
    assert 0 <= found.cached_tokens <= found.prompt_tokens
    assert found.prompt_tokens >= sum(estimate_tokens(user) for user in users)
    assert found.cost is not None
    assert found.most_cost is not None
    assert 0 <= found.cost <= found.most_cost + 1e-12
