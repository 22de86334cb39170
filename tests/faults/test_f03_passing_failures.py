"""F3: 429 with Retry-After, 5xx, time-out, refused and reset connections: retried in one layer, bounded, counted."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest

from resources.endpoints import OpenAiClient, build_client
from starling_assets.inference.calls import TRANSIENT, FailureKind, ModelFailure
from starling_assets.inference.engine import run_blocking
from starling_assets.inference.ledger import read_ledger
from tests.endpoints.conftest import a_call, one_compound, settings_for
from tests.stub_endpoint import Behaviour, StubEndpoint

ATTEMPTS = 3
PASSING = [
    pytest.param(Behaviour.rate_limited(), FailureKind.RATE_LIMITED, id="429"),
    pytest.param(Behaviour.failing(500), FailureKind.SERVER_ERROR, id="500"),
    pytest.param(Behaviour.failing(503), FailureKind.SERVER_ERROR, id="503"),
    pytest.param(Behaviour.hang(5), FailureKind.TIMEOUT, id="read time-out"),
    pytest.param(Behaviour.reset(), FailureKind.CONNECTION, id="reset"),
    pytest.param(Behaviour.close(), FailureKind.CONNECTION, id="closed in the body"),
    pytest.param(Behaviour.garbage(), FailureKind.SERVER_ERROR, id="a proxy's page"),
]


def client_of(stub: StubEndpoint, home: Path, **llm: object) -> OpenAiClient:
    values = {"attempts": ATTEMPTS, "timeout_seconds": 0.5, **llm}
    return build_client(settings_for(stub, home, **values))


@pytest.mark.parametrize(("fault", "kind"), PASSING)
def test_it_is_tried_again_and_the_retries_are_counted(fault: Behaviour, kind: FailureKind, tmp_path: Path) -> None:
    with StubEndpoint(answer=one_compound, behaviours=[fault] * (ATTEMPTS - 1)) as stub:
        reply = run_blocking(client_of(stub, tmp_path).complete(a_call()))
        assert reply.value.records
        assert reply.usage.retries == ATTEMPTS - 1
        assert reply.usage.calls == ATTEMPTS
        assert len(stub.calls) == ATTEMPTS  # the client library adds no tries of its own
    (row,) = read_ledger(tmp_path / "ledger").rows(named=True)
    assert row["outcome"] == "ok"
    assert row["retries"] == ATTEMPTS - 1


@pytest.mark.parametrize(("fault", "kind"), PASSING)
def test_the_tries_are_bounded_and_the_failure_is_named(fault: Behaviour, kind: FailureKind, tmp_path: Path) -> None:
    with StubEndpoint(answer=one_compound, behaviours=[fault] * 20) as stub:
        with pytest.raises(ModelFailure) as caught:
            run_blocking(client_of(stub, tmp_path).complete(a_call()))
        assert caught.value.kind is kind
        assert kind in TRANSIENT
        assert len(stub.calls) == ATTEMPTS
        assert caught.value.usage.retries == ATTEMPTS - 1
        assert stub.base_url in caught.value.message
    (row,) = read_ledger(tmp_path / "ledger").rows(named=True)
    assert row["outcome"] == kind.value
    assert row["retries"] == ATTEMPTS - 1


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with StubEndpoint() as stub:
        settings = settings_for(stub, tmp_path, base_url=f"http://127.0.0.1:{port}/v1", attempts=2)
    with pytest.raises(ModelFailure) as caught:
        run_blocking(build_client(settings).complete(a_call()))
    assert caught.value.kind is FailureKind.CONNECTION
    assert caught.value.usage.retries == 1


def test_a_plain_http_server_behind_an_https_address_is_a_connection_failure(tmp_path: Path) -> None:
    with StubEndpoint() as stub:
        settings = settings_for(stub, tmp_path, base_url=stub.base_url.replace("http:", "https:"), attempts=2)
        with pytest.raises(ModelFailure) as caught:
            run_blocking(build_client(settings).complete(a_call()))
    assert caught.value.kind is FailureKind.CONNECTION


@pytest.mark.parametrize("asked", [0.6, "date"])
def test_retry_after_is_waited_out(asked: float | str, tmp_path: Path) -> None:
    if asked == "date":
        from email.utils import formatdate

        asked = formatdate(time.time() + 2, usegmt=True)
    with StubEndpoint(answer=one_compound, behaviours=[Behaviour.rate_limited(asked)]) as stub:
        run_blocking(client_of(stub, tmp_path).complete(a_call()))
        first, second = stub.calls
        assert second.at - first.at >= 0.55


def test_a_wait_of_an_hour_is_not_waited_out(tmp_path: Path) -> None:
    with StubEndpoint(answer=one_compound, behaviours=[Behaviour.rate_limited(3600)]) as stub:
        with pytest.raises(ModelFailure) as caught:
            run_blocking(client_of(stub, tmp_path).complete(a_call()))
        assert caught.value.kind is FailureKind.RATE_LIMITED
        assert caught.value.retry_after == 3600
        assert len(stub.calls) == 1


@pytest.mark.parametrize("fault", [Behaviour.context_too_long(), Behaviour.failing(404), Behaviour.failing(422)])
def test_a_request_that_would_fail_again_is_not_repeated(fault: Behaviour, tmp_path: Path) -> None:
    with StubEndpoint(answer=one_compound, behaviours=[fault]) as stub:
        with pytest.raises(ModelFailure) as caught:
            run_blocking(client_of(stub, tmp_path).complete(a_call()))
        assert caught.value.kind is FailureKind.BAD_REQUEST
        assert len(stub.calls) == 1
