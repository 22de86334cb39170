"""How long new articles in the drop folder take to become records, with the UI and the daemon running.

``python -m benchmarks.drop_folder`` prepares a project from the bundled papers with the scripted ideal model, starts
``starling up``, copies the three articles of ``examples/inbox`` into the drop folder, and prints the seconds from the
copy to each stage of the new shard, up to the judged dataset that holds its records. It fails when a stored table of
another shard changed by a byte. ``--project DIR`` uses (and keeps) a prepared project folder.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from starling_assets.artifacts.store import Store
from tests.end_to_end.command import Project, new_project
from tests.scripted.models import Ideal
from tests.stub_endpoint import StubEndpoint

REPOSITORY = Path(__file__).resolve().parent.parent
TASK = "bbb"
#: Stages in order; those of the corpus are stored by shard, those of the task by task and shard.
CORPUS_STAGES = ("papers", "tag_shards", "ontology_links", "entity_bitmaps")
TASK_STAGES = ("retrieval_set", "subcorpus", "raw_extractions", "judgments")


def prepare(root: Path, endpoint: StubEndpoint) -> Project:
    """A project in which the demo has run to its end."""
    project = new_project(
        root,
        STARLING_LLM_BASE_URL=endpoint.base_url,
        STARLING_LLM_MODEL="ideal",
        STARLING_LLM_API_KEY="test",
    )
    papers = sorted(str(p) for p in (REPOSITORY / "examples" / "papers").iterdir() if p.suffix in {".nxml", ".pdf"})
    project.run("add", *papers, "--name", "examples")
    project.run("demo")
    return project


def fingerprints(store: Store) -> dict[Path, str]:
    """SHA-256 of every table of the corpus and of the tasks' shards."""
    stages = (*CORPUS_STAGES, *TASK_STAGES)
    files = [path for stage in stages for path in store.folder(stage).rglob("*.parquet")]
    return {path: sha(path) for path in files}


def wait(what: str, ready: Callable[[], bool], limit: float) -> float:
    """Seconds until ``ready``; raises TimeoutError after ``limit``."""
    start = time.monotonic()
    while not ready():
        if time.monotonic() - start > limit:
            raise TimeoutError(f"{what}: not within {limit:g} s")
        time.sleep(0.2)
    return time.monotonic() - start


def serving(port: int) -> bool:
    """Whether the UI answers and its code location is loaded."""
    query = {"query": "{ workspaceOrError { ... on Workspace { locationEntries { loadStatus } } } }"}
    try:
        answer = httpx.post(f"http://127.0.0.1:{port}/graphql", json=query, timeout=10).json()
    except (httpx.HTTPError, ValueError):
        return False
    entries = (answer.get("data") or {}).get("workspaceOrError", {}).get("locationEntries", [])
    return bool(entries) and all(entry["loadStatus"] == "LOADED" for entry in entries)


def new_shard(store: Store, known: set[str]) -> str | None:
    """The shard that was not there before, as soon as its papers are."""
    found = sorted({key[0] for key in store.partitions("papers")} - known)
    return found[0] if found else None


def in_dataset(store: Store, papers: set[str]) -> bool:
    """Whether the judged dataset was built with the new shard's records."""
    return bool(papers & set(store.read("judged_dataset", TASK, table="judged")["paper_id"]))


def follow(project: Project, store: Store, limit: float) -> dict[str, float]:
    """Copy the articles and note when each stage of their shard is there."""
    known = {key[0] for key in store.partitions("papers")}
    inbox = project.home / "inbox"
    start = time.monotonic()
    for path in sorted((REPOSITORY / "examples" / "inbox").iterdir()):
        if path.suffix in {".xml", ".nxml"}:
            shutil.copy(path, inbox)
    seen: dict[str, float] = {}
    wait("papers", lambda: new_shard(store, known) is not None, limit)
    shard = new_shard(store, known) or ""
    for stage in CORPUS_STAGES:
        wait(stage, lambda stage=stage: store.exists(stage, shard), limit)  # type: ignore[misc]
        seen[stage] = round(time.monotonic() - start, 1)
    for stage in TASK_STAGES:
        wait(stage, lambda stage=stage: store.exists(stage, TASK, shard), limit)  # type: ignore[misc]
        seen[stage] = round(time.monotonic() - start, 1)
    judged = store.read("judgments", TASK, shard)
    records = store.read("raw_extractions", TASK, shard)
    papers = set(records["paper_id"]) if judged.height else set()
    wait("judged_dataset", lambda: in_dataset(store, papers), limit)
    seen["judged_dataset"] = round(time.monotonic() - start, 1)
    return seen


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drop_folder", description=__doc__)
    parser.add_argument("--project", type=Path, default=None, help="folder to prepare, or prepared before")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds to wait for each stage")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, StubEndpoint(answer=Ideal(), models=("ideal",)) as endpoint:
        project = prepare((options.project or Path(temporary)) / "project", endpoint)
        store = Store(project.home / "store")
        before = fingerprints(store)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
        process = project.start("up", "--port", str(port))
        try:
            result: dict[str, object] = {"ui_seconds": round(wait("the UI", lambda: serving(port), 180), 1)}
            result["seconds"] = follow(project, store, options.limit)
        finally:
            process.terminate()
            process.wait()
        changed = [str(path.relative_to(store.root)) for path, digest in before.items() if sha(path) != digest]
        result |= {"other_tables": len(before), "changed": changed}
    print(json.dumps(result, indent=1))
    sys.exit(1 if changed else 0)


def sha(path: Path) -> str:
    """SHA-256 of a file; empty when it is gone."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


if __name__ == "__main__":
    main()
