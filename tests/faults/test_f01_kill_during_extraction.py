"""F1: kill -9 during extraction. The resumed run pays only for what is missing, and its bytes equal those of an
uninterrupted run."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import polars as pl
import pytest

from starling_assets.inference.ledger import read_ledger
from tests.end_to_end.command import Project
from tests.scripted.models import Ideal
from tests.stub_endpoint import StubEndpoint

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


class SlowIdeal(Ideal):
    """The ideal model, taking its time, so that a kill falls into the middle."""

    def __call__(self, messages, schema):  # type: ignore[no-untyped-def]
        time.sleep(0.25)
        return super().__call__(messages, schema)


def paid(project: Project) -> pl.DataFrame:
    folder = project.home / "ledger"
    return read_ledger(folder) if folder.is_dir() else pl.DataFrame({"outcome": [], "unit": [], "purpose": []})


def dataset(project: Project) -> dict[str, bytes]:
    folder = project.home / "datasets" / "bbb"
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_killed_run_resumes_to_the_same_bytes(corpus: Project, finished: Project, tmp_path: Path) -> None:
    rng = random.Random(7)
    with StubEndpoint(answer=SlowIdeal(), models=("ideal",)) as slow:
        project = corpus.copy(tmp_path / "killed", STARLING_LLM_BASE_URL=slow.base_url, STARLING_LLM_CONCURRENCY="1")
        kills = 0
        for target in sorted(rng.sample(range(1, 14), 2)):
            process = project.start("demo")
            deadline = time.monotonic() + 300
            while process.poll() is None and paid(project).height < target and time.monotonic() < deadline:
                time.sleep(0.02)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                kills += 1
            process.wait(timeout=60)
        assert kills >= 1
        project.run("demo")
    calls = paid(project).filter(pl.col("outcome") == "ok")
    twice = calls.group_by("purpose", "unit").len().filter(pl.col("len") > 1)
    # A reply that was in the ledger but not yet in the journal when the kill fell is the one call that may repeat.
    assert twice.height <= kills
    done, whole = dataset(project), dataset(finished)
    for name in ("dataset.parquet", "dataset.csv"):
        assert done[name] == whole[name]
