"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.end_to_end.fixtures import corpus, endpoint, finished

__all__ = ["corpus", "endpoint", "finished"]

# A loaded machine is no failure: the time limit per test holds instead.
settings.register_profile("starling", deadline=None)
settings.load_profile("starling")

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def repository() -> Path:
    """The checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def examples() -> Path:
    """The bundled, openly licensed examples."""
    return REPOSITORY / "examples"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The larger development data: ``$STARLING_TEST_SHARED``, else ``shared/data`` beside the checkout.

    A machine without it skips with a reason; when the variable is set the data must be there.
    """
    named = os.environ.get("STARLING_TEST_SHARED")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "data"
    if folder.is_dir():
        return folder
    if named:
        pytest.fail(f"STARLING_TEST_SHARED names {folder}, which is not a folder")
    pytest.skip("the development data is not on this machine (set STARLING_TEST_SHARED to its folder)")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project; neither a setting nor an editor of the caller's environment leaks in."""
    for name in list(os.environ):
        if name.startswith(("STARLING_", "OPENAI_", "DAGSTER_")) or name in {"EDITOR", "VISUAL"}:
            monkeypatch.delenv(name)
    (tmp_path / "starling.toml").write_text("")
    monkeypatch.setenv("STARLING_PROJECT", str(tmp_path))
    return tmp_path
