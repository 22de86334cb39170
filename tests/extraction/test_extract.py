from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from starling_assets.artifacts.journal import Journal
from starling_assets.extraction.extract import extract_shard, shard_windows
from starling_assets.inference.calls import FailureKind, ModelFailure
from starling_assets.inference.stopping import Stop
from starling_assets.journalled import Progress
from starling_assets.settings import Settings
from tests.scripted import ScriptedClient

from .world import blocks_of, papers_of, reply, small_task, subcorpus_of

TEXTS = [[f"Paper {p} paragraph {n}: compound {n} was active." for n in range(4)] for p in range(3)]
BLOCKS, PAPERS = blocks_of(TEXTS), papers_of(3)
SUBCORPUS = subcorpus_of(BLOCKS)
TASK = small_task()


def answer(messages: list[dict[str, str]], _: dict[str, Any]) -> dict[str, Any]:
    """A record for the first paragraph of each window; none for windows that begin with paragraph 2."""
    user = messages[-1]["content"]
    first = next(line for line in user.splitlines() if line.startswith("[1] ")).removeprefix("[1] ")
    if "paragraph 2" in first:
        return {"records": []}
    return {"records": [reply(quote=first, entity="compound 0")]}


def run(client: ScriptedClient, folder: Path, settings: Settings | None = None, **options: Any) -> Any:
    return extract_shard(TASK, SUBCORPUS, BLOCKS, PAPERS, client, Journal(folder), settings or Settings(), **options)


def test_every_window_ends_ok_or_empty_and_is_paid_once(tmp_path: Path) -> None:
    client = ScriptedClient(answer)
    tally = run(client, tmp_path)
    assert (tally.planned, tally.ok, tally.empty, tally.failed, tally.pending) == (6, 3, 3, 0, 0)
    assert len(client.calls) == 6
    run(client, tmp_path)
    assert len(client.calls) == 6


def test_windows_are_read_in_rank_order_and_the_budget_bounds_them(tmp_path: Path) -> None:
    client = ScriptedClient(answer)
    settings = Settings.model_validate({"extraction": {"max_windows": 3}})
    assert run(client, tmp_path, settings).planned == 3
    planned = shard_windows(TASK, SUBCORPUS, BLOCKS, PAPERS, "scripted-extractor", settings)
    assert [call.unit for call in client.calls] == [window.unit for window in planned]
    tighter = small_task(budget={"max_windows": 2})
    assert len(shard_windows(tighter, SUBCORPUS, BLOCKS, PAPERS, "m", settings)) == 2


def test_progress_is_told_from_the_start_to_the_end(tmp_path: Path) -> None:
    seen: list[Progress] = []
    run(ScriptedClient(answer), tmp_path, on_progress=seen.append)
    assert [item.done for item in seen] == [0, 1, 2, 3, 4, 5, 6]
    assert seen[-1].usage.calls == 6
    assert all(item.planned == 6 for item in seen)


def test_an_unusable_reply_is_asked_again_in_halves_and_both_are_paid(tmp_path: Path) -> None:
    client = ScriptedClient(answer)
    client.failures.append(ModelFailure(FailureKind.TRUNCATED, "cut"))
    tally = run(client, tmp_path)
    assert (tally.ok, tally.failed) == (3, 0)
    assert len(client.calls) == 8
    first = Journal(tmp_path).outcomes()[client.calls[0].unit]
    assert first.payload["split"] is True
    assert first.usage["calls"] == 3
    assert "[2]" not in client.calls[1].user


def test_a_half_that_fails_too_fails_the_window_with_the_reason(tmp_path: Path) -> None:
    client = ScriptedClient(answer)
    client.failures.extend(
        [ModelFailure(FailureKind.TRUNCATED, "cut"), None, ModelFailure(FailureKind.EMPTY, "nothing")]
    )
    tally = run(client, tmp_path)
    assert (tally.ok, tally.failed, tally.reasons) == (2, 1, {"empty_reply": 1})
    client.failures.clear()
    again = run(client, tmp_path)
    assert (again.ok, again.failed) == (3, 0)
    assert len(client.calls) == 6 + 2 + 1


def test_a_passing_failure_fails_one_window_and_the_others_go_on(tmp_path: Path) -> None:
    client = ScriptedClient(answer)
    client.failures.append(ModelFailure(FailureKind.TIMEOUT, "slow"))
    tally = run(client, tmp_path)
    assert (tally.ok, tally.empty, tally.failed, tally.reasons) == (2, 3, 1, {"timeout": 1})


@pytest.mark.parametrize("kind", [FailureKind.AUTHENTICATION, FailureKind.QUOTA, FailureKind.OVER_BUDGET])
def test_a_fatal_failure_stops_at_once_and_keeps_what_was_paid(tmp_path: Path, kind: FailureKind) -> None:
    client = ScriptedClient(answer)
    client.failures.extend([None, None, ModelFailure(kind, "no")])
    with pytest.raises(ModelFailure) as caught:
        run(client, tmp_path)
    assert caught.value.kind is kind
    assert len(client.calls) == 3
    tally = Journal(tmp_path).tally()
    assert (tally.ok + tally.empty, tally.failed, tally.pending) == (2, 0, 4)


def test_an_endpoint_that_is_gone_stops_the_run_instead_of_failing_every_window(tmp_path: Path) -> None:
    client = ScriptedClient(answer)
    client.failures.extend([ModelFailure(FailureKind.CONNECTION, "refused")] * 6)
    with pytest.raises(ModelFailure, match="refused"):
        run(client, tmp_path)
    assert len(client.calls) == 3
    client.failures.clear()
    assert run(client, tmp_path).complete


def test_a_stop_keeps_what_was_paid(tmp_path: Path) -> None:
    stop = Stop()
    client = ScriptedClient(answer)
    with pytest.raises(ModelFailure) as caught:
        run(client, tmp_path, stop=stop, on_progress=lambda seen: stop.request("enough") if seen.done == 2 else None)
    assert caught.value.kind is FailureKind.CANCELLED
    tally = Journal(tmp_path).tally()
    assert tally.ok + tally.empty == len(client.calls) == 2


def test_equal_windows_are_paid_once(tmp_path: Path) -> None:
    blocks, papers = blocks_of([["Same text."], ["Same text."]]), papers_of(2, title="Same title")
    client = ScriptedClient(lambda *_: {"records": []})
    tally = extract_shard(TASK, subcorpus_of(blocks), blocks, papers, client, Journal(tmp_path), Settings())
    assert (tally.planned, tally.empty, len(client.calls)) == (1, 1, 1)


def test_many_calls_at_a_time_give_the_same_outcomes(tmp_path: Path) -> None:
    run(ScriptedClient(answer), tmp_path / "one")
    many = Settings.model_validate({"llm": {"concurrency": 16}})
    run(ScriptedClient(answer, delay=0.01), tmp_path / "many", many)
    one, other = Journal(tmp_path / "one").outcomes(), Journal(tmp_path / "many").outcomes()
    assert {key: item.payload for key, item in one.items()} == {key: item.payload for key, item in other.items()}


def test_calls_in_flight_follow_the_endpoint_of_the_role() -> None:
    def in_flight(role: str, **llm: Any) -> int:
        return Settings.model_validate({"llm": llm}).llm.in_flight(role)

    assert in_flight("extractor") == 1
    assert in_flight("extractor", base_url="http://127.0.0.1:1/v1") == 16
    assert in_flight("extractor", concurrency=3) == 3
    own = {"base_url": "http://127.0.0.1:1/v1"}
    assert (in_flight("judge", judge=own), in_flight("extractor", judge=own)) == (16, 1)
