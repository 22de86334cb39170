"""F4: a wrong key or an exhausted account stops the run at once with that reason; what was done is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from resources.endpoints import OpenAiClient, build_client, check_endpoint
from starling_assets.inference.calls import FATAL, FailureKind, ModelFailure, ModelReply
from starling_assets.inference.engine import run_blocking, run_units
from starling_assets.inference.ledger import read_ledger
from starling_assets.inference.stopping import Stop
from tests.endpoints.conftest import Found, a_call, one_compound, settings_for
from tests.stub_endpoint import Behaviour, StubEndpoint

FATAL_FAULTS = [
    pytest.param(Behaviour.invalid_key(), FailureKind.AUTHENTICATION, "STARLING_LLM_API_KEY", id="401"),
    pytest.param(Behaviour.failing(403, "no access"), FailureKind.AUTHENTICATION, "STARLING_LLM_API_KEY", id="403"),
    pytest.param(Behaviour.quota(), FailureKind.QUOTA, "exhausted", id="429 insufficient_quota"),
    pytest.param(Behaviour.failing(402, "payment required"), FailureKind.QUOTA, "exhausted", id="402"),
]


async def run_all(
    client: OpenAiClient, units: list[str], done: dict[str, ModelReply[Found]], failed: dict[str, ModelFailure]
) -> None:
    await run_units(
        units,
        lambda unit: client.complete(a_call(unit)),
        concurrency=2,
        on_result=done.__setitem__,
        on_failure=failed.__setitem__,
        stop=Stop(),
    )


@pytest.mark.parametrize(("fault", "kind", "hint"), FATAL_FAULTS)
def test_the_run_stops_at_once_and_keeps_what_was_paid_for(
    fault: Behaviour, kind: FailureKind, hint: str, tmp_path: Path
) -> None:
    units = [f"w{number:02d}" for number in range(40)]
    done: dict[str, ModelReply[Found]] = {}
    failed: dict[str, ModelFailure] = {}
    good = [Behaviour.ok()] * 6
    with StubEndpoint(answer=one_compound, behaviours=[*good, *[fault] * 40]) as stub:
        client = build_client(settings_for(stub, tmp_path, concurrency=2))
        with pytest.raises(ModelFailure) as caught:
            run_blocking(run_all(client, units, done, failed))
        assert caught.value.kind is kind
        assert kind in FATAL
        assert hint in caught.value.message
        assert len(stub.calls) <= len(good) + 2  # those in flight when the first refusal came
    assert len(done) == len(good)
    assert failed == {}  # the refused units are still to be done: none is marked as failed
    ledger = read_ledger(tmp_path / "ledger")
    assert ledger.filter(ledger["outcome"] == "ok").height == len(good)


def test_nothing_is_retried_and_the_next_run_goes_on(tmp_path: Path) -> None:
    with StubEndpoint(answer=one_compound, behaviours=[Behaviour.quota()]) as stub:
        client = build_client(settings_for(stub, tmp_path))
        with pytest.raises(ModelFailure):
            run_blocking(client.complete(a_call()))
        assert len(stub.calls) == 1
        assert run_blocking(client.complete(a_call())).value.records


def test_a_plain_rate_limit_is_not_taken_for_an_empty_account(tmp_path: Path) -> None:
    with StubEndpoint(answer=one_compound, behaviours=[Behaviour.rate_limited(0)]) as stub:
        reply = run_blocking(build_client(settings_for(stub, tmp_path)).complete(a_call()))
    assert reply.usage.retries == 1


def test_the_check_before_paid_work_names_the_key(tmp_path: Path) -> None:
    with StubEndpoint(key="right") as stub:
        status = check_endpoint(settings_for(stub, tmp_path))
        assert not status.ok
        assert status.kind is FailureKind.AUTHENTICATION
        assert "STARLING_LLM_API_KEY" in status.message
        assert stub.calls == []
