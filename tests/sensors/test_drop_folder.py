"""The drop folder: what is taken, what waits, what is retried and how often."""

from __future__ import annotations

import dagster as dg

from sensors.drop_folder import PartitionRegister, settled_files
from starling_assets.literature.shards import ShardBook

from .daemon import Daemon
from .fixtures import Inbox


def test_an_empty_or_absent_folder_starts_nothing(daemon: Daemon, inbox: Inbox) -> None:
    assert daemon.tick() == []
    inbox.folder.rmdir()
    assert daemon.tick() == []


def test_a_file_that_is_still_growing_waits(daemon: Daemon, inbox: Inbox) -> None:
    inbox.drop("a.nxml", "<article/>", age_seconds=0)
    assert daemon.tick() == []
    assert settled_files(inbox.folder, settle_seconds=0) == [inbox.folder / "a.nxml"]


def test_hidden_and_temporary_names_are_left_alone(daemon: Daemon, inbox: Inbox) -> None:
    for name in (".hidden.xml", "~lock.xml", "a.pdf.part", "b.xml.tmp"):
        inbox.drop(name, name)
    assert daemon.tick() == []


def test_several_files_of_one_tick_close_into_one_shard(daemon: Daemon, inbox: Inbox) -> None:
    for number in range(3):
        inbox.drop(f"{number}.nxml", f"<article>{number}</article>")
    assert len(daemon.tick()) == 1
    book = ShardBook(inbox.folder.parent)
    (key,) = book.keys()
    assert key.startswith("drop-")
    assert [file.name for file in book.shard(key).files] == ["0.nxml", "1.nxml", "2.nxml"]


def test_the_same_bytes_under_another_name_are_not_paid_again(daemon: Daemon, inbox: Inbox) -> None:
    inbox.drop("a.nxml", "<article/>")
    daemon.tick()
    inbox.drop("copy of a.nxml", "<article/>")
    assert daemon.tick() == []


def test_a_failed_shard_is_tried_again_a_bounded_number_of_times(daemon: Daemon, inbox: Inbox) -> None:
    inbox.drop("a.nxml", "<article/>")
    started = [daemon.tick(finish=dg.DagsterRunStatus.FAILURE) for _ in range(6)]
    assert [len(runs) for runs in started] == [1, 1, 1, 0, 0, 0]


def test_a_run_under_way_is_not_doubled(daemon: Daemon, inbox: Inbox) -> None:
    inbox.drop("a.nxml", "<article/>")
    assert len(daemon.tick(finish=None)) == 1
    assert daemon.tick() == []


def test_a_closed_shard_never_changes(daemon: Daemon, inbox: Inbox) -> None:
    inbox.drop("a.nxml", "<article/>")
    daemon.tick()
    book = ShardBook(inbox.folder.parent)
    (key,) = book.keys()
    before = book.shard(key)
    inbox.drop("a.nxml", "<article>revised</article>")
    daemon.tick()
    assert book.shard(key) == before
    assert len(book.keys()) == 2


def test_the_register_counts_one_deletion_once(inbox: Inbox) -> None:
    inbox.drop("a.nxml", "<article/>")
    book = ShardBook(inbox.folder.parent)
    (shard,) = book.close([inbox.folder / "a.nxml"])
    register = PartitionRegister(book)
    assert not register.withdraw_if_seen(shard.key)
    assert register.issue(shard.key, exists=True) == 0
    assert register.withdraw_if_seen(shard.key)
    assert register.withdraw_if_seen(shard.key)
    assert register.issue(shard.key, exists=True) == 1
