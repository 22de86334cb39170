"""F5: one window of a paper fails for good: the paper is partial, and a retry pays for exactly the failed windows."""

from __future__ import annotations

from pathlib import Path

from starling_assets.artifacts.journal import Journal
from starling_assets.extraction.coverage import paper_coverage
from starling_assets.extraction.extract import extract_shard, shard_windows
from starling_assets.inference.calls import FailureKind, ModelFailure
from starling_assets.settings import Settings
from tests.extraction.test_extract import BLOCKS, PAPERS, SUBCORPUS, TASK, answer
from tests.scripted import ScriptedClient


def status(folder: Path) -> dict[str, str]:
    windows = shard_windows(TASK, SUBCORPUS, BLOCKS, PAPERS, "scripted-extractor", Settings())
    frame = paper_coverage(windows, Journal(folder).outcomes())
    return dict(frame.select("paper_id", "status").iter_rows())


def test_the_paper_is_partial_and_the_retry_pays_for_the_failed_window_only(tmp_path: Path) -> None:
    client = ScriptedClient(answer)
    client.failures.extend([None, ModelFailure(FailureKind.BAD_REQUEST, "too long"), None])
    tally = extract_shard(TASK, SUBCORPUS, BLOCKS, PAPERS, client, Journal(tmp_path), Settings())
    assert (tally.planned, tally.failed, tally.pending) == (6, 1, 0)
    assert status(tmp_path) == {"pmid:1": "partial", "pmid:2": "complete", "pmid:3": "complete"}
    failed = client.calls[1].unit
    before = Journal(tmp_path).outcomes()

    retry = ScriptedClient(answer)
    assert extract_shard(TASK, SUBCORPUS, BLOCKS, PAPERS, retry, Journal(tmp_path), Settings()).failed == 0
    assert [call.unit for call in retry.calls] == [failed]
    assert set(status(tmp_path).values()) == {"complete"}
    after = Journal(tmp_path).outcomes()
    assert {key: item for key, item in after.items() if key != failed} == {
        key: item for key, item in before.items() if key != failed
    }


def test_a_paper_whose_every_window_fails_is_failed_and_the_reason_is_kept(tmp_path: Path) -> None:
    client = ScriptedClient(answer)
    client.failures.extend([ModelFailure(FailureKind.BAD_REQUEST, "too long")] * 2)
    extract_shard(TASK, SUBCORPUS, BLOCKS, PAPERS, client, Journal(tmp_path), Settings())
    assert status(tmp_path)["pmid:1"] == "failed"
    outcome = Journal(tmp_path).outcomes()[client.calls[0].unit]
    assert (outcome.reason, outcome.payload) == ("bad_request", {"message": "too long"})
