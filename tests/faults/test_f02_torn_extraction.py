"""F2 for extraction: a torn part of its journal costs the windows in it, once more, and nothing is glued together."""

from __future__ import annotations

from pathlib import Path

import pytest

from starling_assets.artifacts.journal import Journal
from starling_assets.extraction.extract import extract_shard
from starling_assets.settings import Settings
from tests.extraction.test_extract import BLOCKS, PAPERS, SUBCORPUS, TASK, answer
from tests.scripted import ScriptedClient


def run(folder: Path) -> tuple[ScriptedClient, Journal]:
    client, journal = ScriptedClient(answer), Journal(folder)
    assert extract_shard(TASK, SUBCORPUS, BLOCKS, PAPERS, client, journal, Settings()).complete
    return client, journal


@pytest.mark.parametrize("share", [0.0, 0.3, 0.95])
def test_windows_of_a_torn_part_are_read_again_and_no_other(tmp_path: Path, share: float) -> None:
    run(tmp_path)
    whole = {unit: item.payload for unit, item in Journal(tmp_path).outcomes().items()}
    part = sorted(tmp_path.glob("part-*.jsonl"))[2]
    lost = {unit for unit in whole if unit.encode() in part.read_bytes()}
    part.write_bytes(part.read_bytes()[: int(part.stat().st_size * share)])
    client, journal = run(tmp_path)
    assert {call.unit for call in client.calls} == lost
    assert len(client.calls) == len(lost)
    assert {unit: item.payload for unit, item in journal.outcomes().items()} == whole
    assert list((tmp_path / "torn").iterdir())
