"""One run of the main job over the bundled papers against the ideal scripted model, shared by all tests here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.scripted.models import Ideal
from tests.stub_endpoint import StubEndpoint

from .command import Project, new_project


@pytest.fixture(scope="session")
def endpoint() -> Iterator[StubEndpoint]:
    with StubEndpoint(answer=Ideal(), models=("ideal",)) as stub:
        yield stub


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory, endpoint: StubEndpoint, examples) -> Project:  # type: ignore[no-untyped-def]
    """A project whose shard `examples` is read, tagged and indexed; nothing has been extracted."""
    project = new_project(
        tmp_path_factory.mktemp("corpus") / "project",
        STARLING_LLM_BASE_URL=endpoint.base_url,
        STARLING_LLM_MODEL="ideal",
        STARLING_LLM_API_KEY="test",
    )
    papers = sorted(str(p) for p in (examples / "papers").iterdir() if p.suffix in {".nxml", ".xml", ".pdf"})
    project.run("add", *papers, "--name", "examples")
    return project


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, corpus: Project) -> Project:
    """A project in which the demo has run to its end."""
    project = corpus.copy(tmp_path_factory.mktemp("finished") / "project")
    done = project.run("demo")
    (project.root / "demo.log").write_text(done.stdout)
    return project
