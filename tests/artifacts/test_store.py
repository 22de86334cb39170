"""Tables per partition."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from starling_assets.artifacts.files import StoreError
from starling_assets.artifacts.store import MissingPartition, Store, conform, empty

SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {"id": pl.UInt32, "name": pl.String}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_what_was_written_is_read_back_with_the_schema(store: Store) -> None:
    frame = pl.DataFrame({"name": ["a", None], "id": [1, 2], "extra": [0, 0]})
    store.write(frame, "papers", "drop/1", schema=SCHEMA)
    read = store.read("papers", "drop/1")
    assert read.columns == ["id", "name"]
    assert read.schema["id"] == pl.UInt32
    assert read.rows() == [(1, "a"), (2, None)]


def test_the_same_frame_gives_the_same_bytes(store: Store) -> None:
    frame = pl.DataFrame({"id": list(range(100_000)), "name": [str(i % 7) for i in range(100_000)]})
    first = store.write(frame, "papers", "a").read_bytes()
    assert store.write(frame, "papers", "b").read_bytes() == first


def test_a_missing_partition_names_the_asset_to_make(store: Store) -> None:
    with pytest.raises(MissingPartition, match=r"chunks of partition bbb\|s1 has not been made"):
        store.read("chunks", "bbb", "s1")


def test_a_missing_column_is_an_error_that_names_it(store: Store) -> None:
    with pytest.raises(StoreError, match=r"columns \['name'\] are missing"):
        store.write(pl.DataFrame({"id": [1]}), "papers", "a", schema=SCHEMA)


def test_partitions_are_listed_by_their_keys_not_their_file_names(store: Store) -> None:
    for keys in (("bbb", "Report, Q1|2026 (v.1)....pdf"), ("bbb", "a"), ("oral", "a")):
        store.write(empty(SCHEMA), "judgments", *keys)
    assert sorted(store.partitions("judgments")) == [
        ("bbb", "Report, Q1|2026 (v.1)....pdf"),
        ("bbb", "a"),
        ("oral", "a"),
    ]
    assert list(store.partitions("nothing")) == []


def test_tables_of_one_partition_do_not_mix(store: Store) -> None:
    store.write(empty(SCHEMA), "papers", "a", table="blocks")
    assert store.exists("papers", "a", table="blocks")
    assert not store.exists("papers", "a")


def test_conform_casts_and_orders() -> None:
    frame = conform(pl.DataFrame({"name": ["x"], "id": [7]}), SCHEMA)
    assert frame.schema == pl.Schema(SCHEMA)
