"""The Dagster face of the door, and what loading it costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest

from resources.endpoints import ModelClientResource
from starling_assets.inference.calls import ModelFailure, Role
from starling_assets.inference.engine import run_blocking
from starling_assets.inference.ledger import read_ledger
from tests.stub_endpoint import StubEndpoint

from .conftest import a_call


@pytest.fixture
def configured(stub: StubEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"BASE_URL": stub.base_url, "MODEL": "stub", "PRICE_PROMPT": "1", "PRICE_COMPLETION": "1"}
    for name, value in values.items():
        monkeypatch.setenv(f"STARLING_LLM_{name}", value)


def test_an_asset_asks_through_the_resource(stub: StubEndpoint, tmp_path: Path, configured: None) -> None:

    @dg.asset
    def answer(models: ModelClientResource) -> str:
        client = models.client(max_cost=1.0)
        assert client.model_name(Role.EXTRACTOR) == "stub"
        assert client.concurrency(Role.EXTRACTOR) == 16
        return run_blocking(client.complete(a_call())).value.records[0].name

    result = dg.materialize([answer], resources={"models": ModelClientResource(project=str(tmp_path))})
    assert result.output_for_node("answer") == "aspirin"
    assert read_ledger(tmp_path / ".starling" / "ledger").height == 1


def test_the_bound_on_cost_belongs_to_the_client(stub: StubEndpoint, tmp_path: Path, configured: None) -> None:
    client = ModelClientResource(project=str(tmp_path)).client(max_cost=0.0)
    with pytest.raises(ModelFailure, match="over_budget"):
        run_blocking(client.complete(a_call()))
    assert stub.calls == []


def test_checking_an_endpoint_loads_neither_dagster_nor_the_client_library(repository: Path) -> None:
    script = (
        "import sys, resources.endpoints, resources.local_model; "
        "print(sorted({'dagster', 'openai', 'xllamacpp', 'httpx'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=repository, capture_output=True, text=True, check=True, timeout=50
    )
    assert "dagster" not in done.stdout
    assert "openai" not in done.stdout
    assert "xllamacpp" not in done.stdout
