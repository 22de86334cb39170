"""A stub endpoint and the door to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field, SecretStr

from resources.endpoints import OpenAiClient, build_client
from starling_assets.inference.budget import Budget
from starling_assets.inference.calls import ModelCall, Role
from starling_assets.inference.ledger import Ledger
from starling_assets.settings import Settings
from starling_assets.settings.endpoints import LlmSettings
from tests.stub_endpoint import StubEndpoint


class Compound(BaseModel):
    name: str
    value: float | None
    quote: str


class Found(BaseModel):
    """A reply type as the extractor has it."""

    records: list[Compound] = Field(default_factory=list)


def one_compound(messages: list[dict[str, str]], _schema: dict[str, Any] | None) -> dict[str, Any]:
    return {"records": [{"name": "aspirin", "value": 1.5, "quote": messages[-1]["content"][:20]}]}


def a_call(unit: str = "w1", max_output_tokens: int = 100) -> ModelCall[Found]:
    return ModelCall(
        role=Role.EXTRACTOR,
        purpose="bbb/extract",
        unit=unit,
        system="Extract compounds.",
        user=f"Text of {unit}: aspirin 1.5",
        reply_type=Found,
        prompt="extract@1",
        max_output_tokens=max_output_tokens,
    )


def settings_for(stub: StubEndpoint, home: Path, **llm: Any) -> Settings:
    values: dict[str, Any] = {
        "base_url": stub.base_url,
        "model": "stub",
        "backoff_seconds": 0.01,
        "timeout_seconds": 5.0,
        "price_prompt": 1.0,
        "price_completion": 2.0,
        "api_key": SecretStr("sk-test-1234"),
    }
    values.update(llm)
    return Settings(home=home, llm=LlmSettings(**values))


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint(answer=one_compound) as endpoint:
        yield endpoint


@pytest.fixture
def door(stub: StubEndpoint, tmp_path: Path) -> Callable[..., OpenAiClient]:
    """Builds a client for the stub; keyword arguments override the ``llm`` settings."""

    def build(max_cost: float | None = None, **llm: Any) -> OpenAiClient:
        settings = settings_for(stub, tmp_path, **llm)
        return build_client(settings, Ledger(tmp_path / "ledger"), Budget(max_cost))

    return build
