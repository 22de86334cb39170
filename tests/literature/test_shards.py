"""Shards on disk: closed once, never changed."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from starling_assets.artifacts.files import StoreError
from starling_assets.literature import shards as module
from starling_assets.literature.shards import ShardBook, file_sha256, pubmed_key

DAY = date(2026, 11, 30)


@pytest.fixture
def book(tmp_path: Path) -> ShardBook:
    return ShardBook(tmp_path / "home")


def files(tmp_path: Path, **contents: str) -> list[Path]:
    folder = tmp_path / "in"
    folder.mkdir(exist_ok=True)
    paths = []
    for name, text in contents.items():
        path = folder / name.replace("_", ".")
        path.write_text(text)
        paths.append(path)
    return paths


def test_a_drop_is_one_shard_with_names_and_checksums(book: ShardBook, tmp_path: Path) -> None:
    (shard,) = book.close(files(tmp_path, a_xml="A", b_pdf="B"), today=DAY)
    assert shard.key == "drop-2026-11-30-001"
    assert [file.name for file in shard.files] == ["a.xml", "b.pdf"]
    sources = book.sources(shard.key)
    assert [source.path.read_text() for source in sources] == ["A", "B"]
    assert [source.sha256 for source in sources] == [file_sha256(source.path) for source in sources]


def test_the_next_drop_of_a_day_gets_the_next_number(book: ShardBook, tmp_path: Path) -> None:
    book.close(files(tmp_path, a_xml="A"), today=DAY)
    (second,) = book.close(files(tmp_path, b_xml="B"), today=DAY)
    assert second.key == "drop-2026-11-30-002"


def test_what_is_known_is_not_closed_again(book: ShardBook, tmp_path: Path) -> None:
    paths = files(tmp_path, a_xml="A")
    book.close(paths, today=DAY)
    assert book.close(paths, today=DAY) == []
    (shard,) = book.close([*paths, *files(tmp_path, b_xml="B")], today=DAY)
    assert [file.name for file in shard.files] == ["b.xml"]


def test_pubmed_files_are_shards_of_their_own(book: ShardBook, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name, text in (("pubmed26n0001.xml.gz", "1"), ("pubmed26n0002.xml", "2"), ("x.nxml", "3")):
        (folder / name).write_text(text)
    keys = [shard.key for shard in book.close(sorted(folder.iterdir()), today=DAY)]
    assert keys == ["pubmed26n0001", "pubmed26n0002", "drop-2026-11-30-001"]
    assert pubmed_key("pubmed26n0001.xml.gz") == "pubmed26n0001"


def test_the_digest_is_of_the_contents(book: ShardBook, tmp_path: Path) -> None:
    (one,) = book.close(files(tmp_path, a_xml="A", b_xml="B"), key="one")
    (other,) = ShardBook(tmp_path / "other").close(files(tmp_path, a_xml="A", b_xml="B"), key="two")
    assert one.digest == other.digest


def test_an_interrupted_closing_leaves_no_shard(
    book: ShardBook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = files(tmp_path, a_xml="A")

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, "write_text", crash)
        with pytest.raises(KeyboardInterrupt):
            book.close(paths, today=DAY)
    assert book.keys() == []
    (shard,) = book.close(paths, today=DAY)
    assert shard.key == "drop-2026-11-30-001"


def test_a_file_that_changes_while_it_is_copied_is_refused(
    book: ShardBook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = files(tmp_path, a_xml="A")

    def copy_other_bytes(_: Path, target: Path) -> None:
        Path(target).write_text("half")

    monkeypatch.setattr(module.shutil, "copyfile", copy_other_bytes)
    with pytest.raises(StoreError, match="changed while it was copied"):
        book.close(paths, today=DAY)
    assert book.keys() == []


def test_an_unknown_shard_is_named(book: ShardBook) -> None:
    with pytest.raises(StoreError, match=r"no shard 'x'.*starling status"):
        book.shard("x")
