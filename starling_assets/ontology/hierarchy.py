"""Narrower concepts, to a depth and up to a cap that is reported when it is hit (F22)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class Expansion:
    """``ids``: the concepts asked for and the narrower ones, nearest first. ``total`` counts all, also those cut."""

    ids: tuple[str, ...]
    total: int
    truncated: bool


class Hierarchy:
    """Children and parents of concepts. Cycles, which some releases hold, end by themselves."""

    def __init__(self, edges: pl.DataFrame) -> None:
        self._children: dict[str, list[str]] = {}
        self._parents: dict[str, list[str]] = {}
        for child, parent in edges.select("child", "parent").unique().sort("child", "parent").iter_rows():
            self._children.setdefault(parent, []).append(child)
            self._parents.setdefault(child, []).append(parent)

    def narrower(self, ids: Iterable[str], depth: int, cap: int) -> Expansion:
        """``ids`` and everything at most ``depth`` steps below, breadth first, at most ``cap`` of them."""
        found = _walk(list(dict.fromkeys(ids)), self._children, depth)
        return Expansion(tuple(found[:cap]), len(found), len(found) > cap)

    def broader(self, ids: Iterable[str], depth: int = 64) -> list[str]:
        """``ids`` and everything above them."""
        return _walk(list(dict.fromkeys(ids)), self._parents, depth)


def _walk(start: list[str], steps: Mapping[str, list[str]], depth: int) -> list[str]:
    found = list(start)
    seen = set(start)
    level = start
    for _ in range(depth):
        level = [target for concept in level for target in steps.get(concept, [])]
        level = [target for target in dict.fromkeys(level) if target not in seen]
        if not level:
            break
        seen.update(level)
        found.extend(level)
    return found
