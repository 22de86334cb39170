"""A filter over bitmaps: the one definition of what a filter means. Pure; every index agrees with it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

from pyroaring import BitMap

from .filterspec import ResolvedFilter, Term

UnionOf = Callable[[Sequence[str]], BitMap]


def evaluate(query: ResolvedFilter, units: int, union_of: UnionOf) -> BitMap:
    """Ordinals, of 0 to ``units`` - 1, for which the filter is true.

    ``union_of(ids)`` is the set of units that hold any of the posting ids. An AND of nothing is true, an OR of
    nothing is false, ``~X`` is true of a unit that holds no X at all.
    """
    wanted, excluded, mixed = [], [], []
    for group in query.groups:
        if not group:
            return BitMap()
        if all(not term.negated for term in group):
            wanted.append(group)
        elif len(group) == 1:
            excluded.append(group[0])
        else:
            mixed.append(group)
    found = _intersection([_ids(group) for group in wanted], union_of)
    if found is None:
        found = _everything(units)
    # Negation is taken away from what is left instead of building complements of whole shards. Never in place: an
    # index may hand out a bitmap that it keeps.
    for term in excluded:
        if found:
            found = found - union_of(term.ids)
    for group in mixed:
        if found:
            found = found & _mixed(group, units, union_of)
    return found


def sample_units(matches: Mapping[str, BitMap], n: int, seed: int) -> list[tuple[str, int]]:
    """``n`` (shard, ordinal) drawn without replacement from all matches, sorted; fewer when there are fewer.

    The draw depends on the matches, ``n`` and ``seed`` alone, not on the index that found them.
    """
    shards = sorted(matches)
    total = sum(len(matches[shard]) for shard in shards)
    places = sorted(random.Random(seed).sample(range(total), min(n, total)))  # noqa: S311 - a sample, not a secret
    drawn: list[tuple[str, int]] = []
    before = 0
    place = 0
    for shard in shards:
        units = matches[shard]
        while place < len(places) and places[place] < before + len(units):
            drawn.append((shard, int(units[places[place] - before])))
            place += 1
        before += len(units)
    return drawn


def _everything(units: int) -> BitMap:
    return BitMap(range(units))


def _ids(group: Sequence[Term]) -> list[str]:
    return sorted({identifier for term in group for identifier in term.ids})


def _intersection(clauses: list[list[str]], union_of: UnionOf) -> BitMap | None:
    found: BitMap | None = None
    for ids in sorted(clauses, key=len):
        units = union_of(ids)
        found = units if found is None else found & units
        if not found:
            return BitMap()
    return found


def _mixed(group: Sequence[Term], units: int, union_of: UnionOf) -> BitMap:
    held = union_of(_ids([term for term in group if not term.negated]))
    absent_all: BitMap | None = None
    for term in group:
        if term.negated:
            holds = union_of(term.ids)
            absent_all = holds if absent_all is None else absent_all & holds
    # ~A OR ~B is everything but the units that hold both.
    return held | (_everything(units) - (absent_all if absent_all is not None else BitMap()))
