"""F37: no path takes bitmap bytes from outside; they are rebuilt from tags."""

from __future__ import annotations

import ast
from pathlib import Path

import polars as pl
import pytest
from pyroaring import BitMap

from resources.entity_index.local import LocalEntityIndex
from starling_assets.artifacts.store import StoreError
from starling_assets.retrieval.filterspec import FilterSpec, Scope
from starling_assets.retrieval.postings import build_bitmaps
from tests.contract.entity_index_contract import FOUR


def test_an_index_takes_postings_and_nothing_else(tmp_path: Path) -> None:
    postings, units = FOUR.postings()
    bitmaps = build_bitmaps(postings).with_columns(bitmap=pl.lit(b"\x3a\x30\x00\x00\xff\xff\xff\xff" * 4))
    with pytest.raises((StoreError, pl.exceptions.ColumnNotFoundError)):
        LocalEntityIndex(tmp_path).load("s", bitmaps, units)
    assert LocalEntityIndex(tmp_path).shards() == []


def test_bitmap_bytes_beside_the_postings_are_not_read(tmp_path: Path) -> None:
    postings, units = FOUR.postings()
    poisoned = postings.with_columns(bitmap=pl.lit(BitMap(range(4)).serialize()))
    index = LocalEntityIndex(tmp_path)
    index.load("s", poisoned, units)
    query = FOUR.resolved(FilterSpec(entity_groups=[["aspirin"]], scope=Scope.PAPER))
    assert set(index.evaluate(query, "s")) == {0, 1}


def test_bytes_are_decoded_in_one_place_only(repository: Path) -> None:
    # The one reader maps files that the same module wrote.
    readers = [
        path.relative_to(repository).as_posix()
        for folder in ("starling_assets", "resources", "sensors")
        for path in sorted((repository / folder).rglob("*.py"))
        if _calls(path, "deserialize")
    ]
    assert readers == ["resources/entity_index/shard_file.py"]


def test_the_stored_bitmaps_are_the_postings() -> None:
    postings, _ = FOUR.postings()
    for row in build_bitmaps(postings).iter_rows(named=True):
        wanted = postings.filter((pl.col("scope") == row["scope"]) & (pl.col("posting_id") == row["posting_id"]))[
            "ordinal"
        ]
        assert list(BitMap.deserialize(row["bitmap"])) == wanted.to_list()
        assert row["units"] == len(wanted)


def _calls(path: Path, name: str) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == name for node in ast.walk(ast.parse(path.read_text())))
