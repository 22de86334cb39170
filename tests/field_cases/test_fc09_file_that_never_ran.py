"""FC-09: a re-issued file, a lost cursor, a crash between partition and run, a deleted partition: each gets its run."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from starling_assets.artifacts.keys import key_of_name, safe_name
from starling_assets.literature.shards import ShardBook
from tests.sensors.daemon import Daemon
from tests.sensors.fixtures import Inbox

REISSUED = "pubmed26n1450.xml.gz"
LATER = "pubmed26n1451.xml.gz"


def without_runs(daemon: Daemon) -> set[str]:
    """Partitions that exist and never had a run: the bug."""
    ran = {run.tags["dagster/partition"] for run in daemon.instance.get_runs()}
    return set(daemon.instance.get_dynamic_partitions("shard")) - ran


def test_the_seven_ticks(daemon: Daemon, inbox: Inbox) -> None:
    inbox.drop(REISSUED, "checksum A")
    inbox.drop("Report, Q1|2026 (v.1)....pdf", "%PDF-1.4 drop")
    assert len(daemon.tick()) == 2
    assert without_runs(daemon) == set()

    assert daemon.tick() == []

    inbox.drop(REISSUED, "checksum B")
    assert daemon.tick() == ["pubmed26n1450~2"]
    assert without_runs(daemon) == set()

    assert daemon.tick(cursor=json.dumps({"lost": True})) == []

    inbox.drop(LATER, "first bytes")
    assert daemon.tick(crash_before_runs=True) == []
    assert without_runs(daemon) == {"pubmed26n1451"}
    assert daemon.tick() == ["pubmed26n1451"]
    assert without_runs(daemon) == set()

    daemon.instance.delete_dynamic_partition("shard", "pubmed26n1451")
    assert daemon.tick() == []  # the deletion is respected …
    daemon.instance.add_dynamic_partitions("shard", ["pubmed26n1451"])
    assert daemon.tick() == ["pubmed26n1451"]  # … until it is asked for again
    assert daemon.tick() == []


def test_the_bytes_of_the_reissue_are_what_is_processed(daemon: Daemon, inbox: Inbox) -> None:
    inbox.drop(REISSUED, "checksum A")
    daemon.tick()
    inbox.drop(REISSUED, "checksum B")
    daemon.tick()
    book = ShardBook(inbox.folder.parent)
    texts = {key: [source.path.read_text() for source in book.sources(key)] for key in book.keys()}
    assert texts == {"pubmed26n1450": ["checksum A"], "pubmed26n1450~2": ["checksum B"]}


def test_a_crash_after_the_run_was_submitted_does_not_double_it(daemon: Daemon, inbox: Inbox) -> None:
    inbox.drop(LATER, "bytes")
    assert daemon.tick(finish=None) == ["pubmed26n1451"]
    assert daemon.tick(cursor=None) == []
    assert len(daemon.instance.get_runs()) == 1


def test_names_are_kept_and_partition_keys_are_safe(daemon: Daemon, inbox: Inbox) -> None:
    names = ["Report, Q1|2026 (v.1)....pdf", "a,b.xml", "ünïcode β.nxml"]
    for name in names:
        inbox.drop(name, name)
    daemon.tick()
    book = ShardBook(inbox.folder.parent)
    (key,) = book.keys()
    assert sorted(file.name for file in book.shard(key).files) == sorted(names)
    for partition in daemon.instance.get_dynamic_partitions("shard"):
        assert not set(partition) & set("/|,\x00\n")
        assert "..." not in partition


@given(st.text(min_size=1), st.text(min_size=1))
def test_two_names_never_share_a_key(one: str, other: str) -> None:
    assert key_of_name(safe_name(one)) == one
    assert (safe_name(one) == safe_name(other)) == (one == other)
