"""One call through the door: what is sent, what comes back, what is written down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from resources.endpoints import OpenAiClient, build_client
from resources.endpoints.targets import EndpointError
from starling_assets.inference.calls import FailureKind, ModelFailure, Role
from starling_assets.inference.engine import run_blocking
from starling_assets.inference.ledger import read_ledger
from tests.stub_endpoint import Behaviour, StubEndpoint

from .conftest import Found, a_call, settings_for

Door = Callable[..., OpenAiClient]


def test_a_call_brings_a_value_its_usage_and_a_ledger_line(stub: StubEndpoint, door: Door, tmp_path: Path) -> None:
    reply = run_blocking(door().complete(a_call()))
    assert reply.value == Found.model_validate(
        {"records": [{"name": "aspirin", "value": 1.5, "quote": "Text of w1: aspirin "}]}
    )
    used = reply.usage
    assert used.calls == 1
    assert used.retries == 0
    assert used.prompt_tokens > 0
    assert used.completion_tokens > 0
    assert used.cached_tokens == len("Extract compounds.") // 4
    assert used.cost == pytest.approx((used.prompt_tokens + 2 * used.completion_tokens) / 1e6)
    ledger = read_ledger(tmp_path / "ledger")
    assert ledger.height == 1
    row = ledger.row(0, named=True)
    assert (row["role"], row["purpose"], row["unit"], row["model"]) == ("extractor", "bbb/extract", "w1", "stub")
    assert (row["outcome"], row["prompt"], row["retries"]) == ("ok", "extract@1", 0)
    assert row["prompt_tokens"] == used.prompt_tokens
    assert row["cost"] == pytest.approx(used.cost)


def test_the_request_is_bounded_seeded_and_holds_the_schema(stub: StubEndpoint, door: Door) -> None:
    run_blocking(door(seed=11, temperature=0.25).complete(a_call(max_output_tokens=123)))
    (seen,) = stub.calls
    assert seen.body["max_tokens"] == 123
    assert seen.body["seed"] == 11
    assert seen.body["temperature"] == 0.25
    assert seen.body["response_format"]["json_schema"]["strict"] is True
    assert seen.schema is not None
    assert seen.schema["properties"]["records"]["maxItems"] > 0
    assert [message["role"] for message in seen.messages] == ["system", "user"]
    assert seen.headers["authorization"] == "Bearer sk-test-1234"


def test_an_endpoint_without_schemas_is_asked_in_json_mode_from_then_on(stub: StubEndpoint, door: Door) -> None:
    stub.queue(Behaviour.no_schemas(), Behaviour.no_schemas())
    client = door()
    first = run_blocking(client.complete(a_call("w1")))
    second = run_blocking(client.complete(a_call("w2")))
    assert first.value.records
    assert second.value.records
    forms = [seen.body["response_format"]["type"] for seen in stub.calls]
    assert forms == ["json_schema", "json_schema", "json_object", "json_object"]
    assert '"records"' in stub.calls[2].system  # the model still sees what is asked for
    assert first.usage.retries == 0


def test_refused_parameters_are_left_out_from_then_on(stub: StubEndpoint, door: Door) -> None:
    stub.queue(
        Behaviour.failing(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        Behaviour.failing(400, "Unsupported value: 'temperature' does not support 0.0 with this model."),
    )
    client = door()
    run_blocking(client.complete(a_call("w1")))
    run_blocking(client.complete(a_call("w2")))
    last = stub.calls[-1].body
    assert last["max_completion_tokens"] == 100
    assert "max_tokens" not in last
    assert "temperature" not in last
    assert len(stub.calls) == 4


def test_each_role_may_have_an_endpoint_of_its_own(stub: StubEndpoint, tmp_path: Path) -> None:
    with StubEndpoint(models=("wise",)) as other:
        settings = settings_for(stub, tmp_path, judge={"base_url": other.base_url, "model": "wise"})
        client = build_client(settings)
        assert client.model_name(Role.JUDGE) == "wise"
        assert client.model_name(Role.EXTRACTOR) == "stub"
        call = a_call()
        run_blocking(client.complete(call))
        from dataclasses import replace

        run_blocking(client.complete(replace(call, role=Role.JUDGE)))
        assert [seen.body["model"] for seen in stub.calls] == ["stub"]
        assert [seen.body["model"] for seen in other.calls] == ["wise"]


def test_an_endpoint_without_a_model_is_refused_before_any_work(stub: StubEndpoint, tmp_path: Path) -> None:
    with pytest.raises(EndpointError, match="STARLING_LLM_MODEL"):
        build_client(settings_for(stub, tmp_path, model=None))


def test_calls_in_flight_are_bounded(stub: StubEndpoint, door: Door) -> None:
    stub.delay = 0.05
    client = door(concurrency=3)

    async def many() -> None:
        await asyncio.gather(*(client.complete(a_call(f"w{number}")) for number in range(12)))

    run_blocking(many())
    assert len(stub.calls) == 12
    assert stub.most_in_flight <= 3


def test_the_budget_is_held_before_the_next_call(stub: StubEndpoint, door: Door, tmp_path: Path) -> None:
    client = door(max_cost=0.0006)  # a call may cost 0.0002 for its output and a little for its prompt
    paid = 0

    def spend() -> None:
        nonlocal paid
        for number in range(100):
            run_blocking(client.complete(a_call(f"w{number}")))
            paid += 1

    with pytest.raises(ModelFailure) as caught:
        spend()
    assert caught.value.kind is FailureKind.OVER_BUDGET
    assert len(stub.calls) == paid
    assert 0 < client.budget.spent <= 0.0006
    assert read_ledger(tmp_path / "ledger").height == paid


def test_a_bound_without_prices_is_refused(door: Door) -> None:
    with pytest.raises(ModelFailure, match=r"llm\.price_prompt"):
        run_blocking(door(max_cost=1.0, price_prompt=None).complete(a_call()))


def test_a_cancelled_call_leaves_no_line_and_gives_its_reservation_back(
    stub: StubEndpoint, door: Door, tmp_path: Path
) -> None:
    stub.queue(Behaviour.hang(10))
    client = door(max_cost=1.0)

    async def give_up() -> None:
        task = asyncio.create_task(client.complete(a_call()))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run_blocking(give_up())
    assert read_ledger(tmp_path / "ledger").height == 0
    assert client.budget.spent == 0
    assert run_blocking(client.complete(a_call())).value.records


def test_the_key_never_reaches_a_message(stub: StubEndpoint, door: Door) -> None:
    stub.queue(Behaviour.failing(400, "bad request with key sk-test-1234 in it"))
    with pytest.raises(ModelFailure) as caught:
        run_blocking(door().complete(a_call()))
    assert "sk-test-1234" not in str(caught.value)
    assert "********" in str(caught.value)


def test_a_client_works_in_several_event_loops(stub: StubEndpoint, door: Door) -> None:
    client = door()
    for number in range(3):
        assert asyncio.run(client.complete(a_call(f"w{number}"))).value.records
