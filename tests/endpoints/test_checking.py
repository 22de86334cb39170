"""The check before paid work: one line that says what is wrong and what to do."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from resources.endpoints import check_endpoint
from resources.endpoints.failures import retry_after
from starling_assets.inference.calls import FailureKind, Role
from starling_assets.settings import Settings
from starling_assets.settings.endpoints import LlmSettings, LocalModel
from tests.stub_endpoint import StubEndpoint

from .conftest import settings_for


def test_an_endpoint_that_knows_the_model_is_fine_and_costs_nothing(stub: StubEndpoint, tmp_path: Path) -> None:
    status = check_endpoint(settings_for(stub, tmp_path))
    assert status.ok
    assert status.model == "stub"
    assert stub.requests == []


@pytest.mark.parametrize(
    ("llm", "kind", "words"),
    [
        ({"model": "gpt-99"}, FailureKind.BAD_REQUEST, "does not know the model gpt-99.*It offers: stub"),
        ({"model": None}, FailureKind.BAD_REQUEST, "STARLING_LLM_MODEL.*It offers: stub"),
        ({"base_url": "not an address"}, FailureKind.BAD_REQUEST, "no web address"),
        ({"base_url": "ftp://127.0.0.1/v1"}, FailureKind.BAD_REQUEST, "no web address"),
    ],
)
def test_what_is_wrong_and_what_to_do(
    stub: StubEndpoint, tmp_path: Path, llm: dict[str, Any], kind: FailureKind, words: str
) -> None:
    status = check_endpoint(settings_for(stub, tmp_path, **llm))
    assert not status.ok
    assert status.kind is kind
    assert "\n" not in status.message
    import re

    assert re.search(words, status.message)


def test_nobody_listens(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with StubEndpoint() as stub:
        status = check_endpoint(settings_for(stub, tmp_path, base_url=f"http://127.0.0.1:{port}/v1"))
    assert status.kind is FailureKind.CONNECTION
    assert "STARLING_LLM_BASE_URL" in status.message


def test_the_key_is_sent_and_a_wrong_one_is_told(tmp_path: Path) -> None:
    with StubEndpoint(key="sk-test-1234") as stub:
        assert check_endpoint(settings_for(stub, tmp_path)).ok
    with StubEndpoint(key="another") as stub:
        status = check_endpoint(settings_for(stub, tmp_path))
        assert status.kind is FailureKind.AUTHENTICATION
        assert "sk-test-1234" not in status.message


def test_an_endpoint_without_a_list_of_models_is_let_pass(tmp_path: Path) -> None:
    with StubEndpoint(models=()) as stub:
        status = check_endpoint(settings_for(stub, tmp_path))
    assert status.ok
    assert "not checked" in status.message


def test_a_tag_may_be_left_out_where_the_endpoint_adds_one(tmp_path: Path) -> None:
    with StubEndpoint(models=("llama3:latest",)) as stub:
        assert check_endpoint(settings_for(stub, tmp_path, model="llama3")).ok


def test_each_role_s_endpoint_is_checked(stub: StubEndpoint, tmp_path: Path) -> None:
    settings = settings_for(stub, tmp_path, judge={"model": "unknown"})
    assert check_endpoint(settings, Role.EXTRACTOR).ok
    assert not check_endpoint(settings, Role.JUDGE).ok
    assert not check_endpoint(settings).ok


def test_without_an_endpoint_the_packaged_model_answers(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    status = check_endpoint(Settings(home=tmp_path))
    assert status.ok
    assert "will be fetched" in status.message
    missing = Settings(home=tmp_path, llm=LlmSettings(local=LocalModel(path=tmp_path / "none.gguf")))
    status = check_endpoint(missing)
    assert not status.ok
    assert "none.gguf" in status.message


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 90.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-4"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_the_server_s_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=10.0) == seconds
