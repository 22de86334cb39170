"""Estimates for the configured endpoint, before and after there is something to measure."""

from __future__ import annotations

from pathlib import Path

import pytest

from resources.endpoints import build_client
from resources.endpoints.planning import plan_calls
from starling_assets.inference.calls import Role
from starling_assets.inference.engine import run_blocking
from starling_assets.inference.estimates import PACKAGED, REMOTE
from starling_assets.settings import Settings
from tests.stub_endpoint import StubEndpoint

from .conftest import a_call, settings_for


def test_the_packaged_model_costs_time_and_no_money(tmp_path: Path) -> None:
    found = plan_calls(Settings(home=tmp_path), Role.EXTRACTOR, "bbb/extract", "s" * 720, ["u" * 720] * 10, 100)
    assert found.calls == 10
    assert found.cost == found.most_cost == 0.0
    assert found.seconds == pytest.approx((10 * (200 + 200 + 16) + 3 * 350) / 30, rel=0.01)
    assert PACKAGED.basis in found.basis


def test_a_remote_endpoint_is_priced_and_assumed_until_it_was_measured(stub: StubEndpoint, tmp_path: Path) -> None:
    settings = settings_for(stub, tmp_path)
    call = a_call()
    before = plan_calls(settings, Role.EXTRACTOR, call.purpose, call.system, [call.user] * 8, 100)
    assert REMOTE.basis in before.basis
    assert stub.requests == []
    client = build_client(settings)
    for number in range(5):
        run_blocking(client.complete(a_call(f"w{number}")))
    after = plan_calls(settings, Role.EXTRACTOR, call.purpose, call.system, [call.user] * 8, 100)
    assert "5 calls of stub for bbb/extract" in after.basis
    assert after.completion_tokens < before.completion_tokens  # the stub answers briefly
    assert after.cost is not None
    assert before.cost is not None
    assert 0 < after.cost < before.cost
    assert len(stub.calls) == 5


def test_without_prices_no_cost_is_stated(stub: StubEndpoint, tmp_path: Path) -> None:
    found = plan_calls(settings_for(stub, tmp_path, price_prompt=None), Role.JUDGE, "bbb/judge", "s", ["u"], 50)
    assert found.cost is None
    assert found.prompt_tokens > 0
