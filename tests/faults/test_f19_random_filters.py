"""F19: random CNF filters agree with brute force at every scope, also on empty stores and absent entities."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyroaring import BitMap

from resources.entity_index.local import LocalEntityIndex
from starling_assets.retrieval.evaluation import evaluate
from starling_assets.retrieval.filterspec import FilterSpec, Scope
from tests.retrieval.small_world import KNOWN, SmallWorld

NAMES = [*KNOWN, "V600E", "6f"]
TYPES = ["SmallMolecule", "Disease", "Anatomy", "GeneVariant", "Antibody"]
worlds = st.builds(
    SmallWorld,
    st.lists(st.lists(st.sets(st.sampled_from(NAMES), max_size=3), max_size=6), max_size=5),
    chunk_paragraphs=st.just(3),
    chunk_stride=st.sampled_from([1, 2, 3]),
)
terms = st.builds(lambda name, negated: f"~{name}" if negated else name, st.sampled_from(NAMES + TYPES), st.booleans())
# Terms may repeat, inside a group and across groups.
filters = st.builds(
    FilterSpec,
    entity_groups=st.lists(st.lists(terms, min_size=1, max_size=4), max_size=4),
    scope=st.sampled_from(Scope),
)


def _posting_sets(world: SmallWorld, scope: Scope) -> dict[str, BitMap]:
    sets: dict[str, BitMap] = {}
    for ordinal, names in enumerate(world.units(scope)):
        for name in names:
            posting = KNOWN[name][0] if name in KNOWN else f"name:{world.key_of(name)}"
            sets.setdefault(posting, BitMap()).add(ordinal)
            sets.setdefault(f"type:{world.type_of(name)}", BitMap()).add(ordinal)
    return sets


@given(worlds, filters)
@settings(max_examples=300, deadline=None)
def test_evaluation_is_the_definition(world: SmallWorld, spec: FilterSpec) -> None:
    sets = _posting_sets(world, spec.scope)

    def union_of(ids: Sequence[str]) -> BitMap:
        found = [sets[identifier] for identifier in ids if identifier in sets]
        # An index may hand out the bitmap it keeps.
        return found[0] if len(found) == 1 else BitMap.union(BitMap(), *found)

    before = {key: units.copy() for key, units in sets.items()}
    found = evaluate(world.resolved(spec), len(world.units(spec.scope)), union_of)
    assert set(found) == world.brute_force(spec)
    assert sets == before  # the index's own bitmaps are not changed by a query


@given(worlds, st.lists(filters, min_size=1, max_size=4))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_local_index_is_brute_force(world: SmallWorld, specs: list[FilterSpec]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        index = LocalEntityIndex(Path(folder))
        index.load("s", *world.postings())
        for spec in specs:
            query = world.resolved(spec)
            assert set(index.evaluate(query, "s")) == world.brute_force(spec)
            assert index.count(query) == len(world.brute_force(spec))
