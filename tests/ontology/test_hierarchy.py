"""Expansion to narrower concepts: depth, cap, cycles."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.ontology.hierarchy import Hierarchy
from starling_assets.ontology.tables import EDGES


def edges(*pairs: tuple[str, str]) -> pl.DataFrame:
    return pl.DataFrame([(child, parent, "is_a") for child, parent in pairs], schema=EDGES, orient="row")


TREE = edges(("b", "a"), ("c", "a"), ("d", "b"), ("e", "d"), ("d", "c"))


def test_nearest_come_first_and_nothing_comes_twice() -> None:
    found = Hierarchy(TREE).narrower(["a"], depth=10, cap=100)
    assert found.ids == ("a", "b", "c", "d", "e")
    assert (found.total, found.truncated) == (5, False)


@pytest.mark.parametrize(("depth", "expected"), [(0, ("a",)), (1, ("a", "b", "c")), (2, ("a", "b", "c", "d"))])
def test_depth(depth: int, expected: tuple[str, ...]) -> None:
    assert Hierarchy(TREE).narrower(["a"], depth=depth, cap=100).ids == expected


def test_a_cap_is_reported_with_both_counts() -> None:
    found = Hierarchy(TREE).narrower(["a"], depth=10, cap=2)
    assert (found.ids, found.total, found.truncated) == (("a", "b"), 5, True)


def test_broader_and_unknown() -> None:
    hierarchy = Hierarchy(TREE)
    assert set(hierarchy.broader(["e"])) == {"a", "b", "c", "d", "e"}
    assert hierarchy.narrower(["ghost"], depth=3, cap=3).ids == ("ghost",)


@given(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=20), st.sampled_from("abcdef")
)
def test_cycles_end_and_equal_reachability(pairs: list[tuple[str, str]], start: str) -> None:
    reached = {start}
    for _ in range(10):
        reached |= {child for child, parent in pairs if parent in reached}
    assert set(Hierarchy(edges(*pairs)).narrower([start], depth=20, cap=100).ids) == reached
