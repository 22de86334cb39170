"""F13: four shards in one tick, the same event twice, a crash after the request: four runs, one run, nothing lost."""

from __future__ import annotations

from tests.sensors.daemon import Daemon
from tests.sensors.fixtures import Inbox


def test_four_pubmed_files_in_one_tick_get_four_runs(daemon: Daemon, inbox: Inbox) -> None:
    for number in range(4):
        inbox.drop(f"pubmed26n000{number}.xml.gz", f"bytes {number}")
    assert daemon.tick() == [f"pubmed26n000{number}" for number in range(4)]
    assert daemon.tick() == []


def test_a_crash_loses_none_of_the_four(daemon: Daemon, inbox: Inbox) -> None:
    for number in range(4):
        inbox.drop(f"pubmed26n000{number}.xml.gz", f"bytes {number}")
    assert daemon.tick(crash_before_runs=True) == []
    assert len(daemon.tick()) == 4
    assert len(daemon.instance.get_runs()) == 4


def test_the_same_event_twice_is_one_run(daemon: Daemon, inbox: Inbox) -> None:
    inbox.drop("a.nxml", "<article/>")
    first = daemon.tick(finish=None)
    inbox.drop("a.nxml", "<article/>")
    assert len(first) == 1
    assert daemon.tick(finish=None) == []
