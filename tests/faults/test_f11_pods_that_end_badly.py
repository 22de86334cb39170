"""F11: a GPU pod is killed for memory, deleted, evicted or never scheduled."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from tests.k8s.fake_kube_api import Cluster
from tests.k8s.pods import NAMESPACE, kube_fixture, kube_instance_fixture, notes, run  # noqa: F401

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def test_pods_that_end_badly_end_the_run_visibly(
    tmp_path: Path, kube: Cluster, kube_instance: dg.DagsterInstance
) -> None:
    def end_from_outside(op: str, end: Callable[[str], object]) -> None:
        while not notes(tmp_path, op):
            time.sleep(0.1)
        (pod,) = kube.of_kind("pods", NAMESPACE, {"dagster/op": op})
        end(pod["metadata"]["name"])

    delete = functools.partial(kube.delete, "pods", NAMESPACE)
    for op, end in (("is_deleted", delete), ("is_evicted", kube.evict)):
        threading.Thread(target=end_from_outside, args=(op, end), daemon=True).start()
    started = time.monotonic()
    result = run("bad_pods", kube_instance)
    assert not result.success  # type: ignore[attr-defined]
    assert time.monotonic() - started < 120

    events = kube_instance.all_logs(result.run_id)  # type: ignore[attr-defined]
    dagster_events = [entry.dagster_event for entry in events if entry.dagster_event is not None]
    failures = {event.step_key: event for event in dagster_events if event.is_step_failure}
    assert set(failures) == {"runs_out_of_memory", "is_deleted", "is_evicted", "finds_no_node"}
    for event in failures.values():
        assert "Discovered failed Kubernetes job" in event.event_specific_data.error.message  # type: ignore[union-attr]

    # Killed for memory: tried again once, as its policy says, and no more often.
    assert len(notes(tmp_path, "runs_out_of_memory")) == 2
    assert len(kube.of_kind("jobs", NAMESPACE, {"dagster/op": "runs_out_of_memory"})) == 2
    # Ended from outside, and never scheduled: at most one pod each, none started behind Dagster's back.
    for op in ("is_deleted", "is_evicted"):
        assert len(notes(tmp_path, op)) == 1
        assert len(kube.of_kind("jobs", NAMESPACE, {"dagster/op": op})) == 1
    assert notes(tmp_path, "finds_no_node") == []
    (pending,) = kube.of_kind("jobs", NAMESPACE, {"dagster/op": "finds_no_node"})
    assert pending["status"]["conditions"][0]["reason"] == "DeadlineExceeded"
    assert not kube._processes
