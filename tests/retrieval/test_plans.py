"""The plan follows selectivity and cost; its helpers are exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from starling_assets.retrieval.plans import Plan, PlanKind, best, choose_plan, permitted
from starling_assets.settings.model import RetrievalSettings

SETTINGS = RetrievalSettings(exact_below=0.1, overfetch=4)


@pytest.mark.parametrize(
    ("total", "allowed", "looked_at", "kind", "fetch"),
    [
        (0, None, 1.0, PlanKind.NOTHING, 0),
        (1_000, 0, 1.0, PlanKind.NOTHING, 0),
        (1_000, None, 1.0, PlanKind.SCAN, 20),
        (1_000, 1_000, 1.0, PlanKind.SCAN, 20),
        (10, None, 1.0, PlanKind.SCAN, 10),
        (1_000, 5, 1.0, PlanKind.EXACT, 5),
        # A flat index scores every vector anyway: fewer allowed ones are never dearer.
        (1_000, 999, 1.0, PlanKind.EXACT, 20),
        # An inverted file that looks at 5%: scoring half of all would be ten times dearer.
        (1_000, 500, 0.05, PlanKind.OVERFETCH, 160),
        (1_000, 99, 0.05, PlanKind.EXACT, 20),
        (1_000, 101, 0.05, PlanKind.OVERFETCH, 793),
        (100, 11, 0.05, PlanKind.OVERFETCH, 100),
    ],
)
def test_choice(total: int, allowed: int | None, looked_at: float, kind: PlanKind, fetch: int) -> None:
    plan = choose_plan(total, allowed, 20, SETTINGS, looked_at)
    assert (plan.kind, plan.fetch) == (kind, fetch)


def test_no_rows_wanted_is_nothing() -> None:
    assert choose_plan(10, None, 0, SETTINGS).kind is PlanKind.NOTHING


def test_a_plan_reads_well_in_a_log() -> None:
    assert str(Plan(PlanKind.EXACT, 400, 10, 5)) == "exact (10 of 400 vectors pass, 2.50%; fetch 5)"
    assert Plan(PlanKind.NOTHING, 0, 0, 0).selectivity == 0.0


@given(st.sets(st.integers(0, 300)), st.sets(st.integers(0, 400)))
def test_permitted_is_the_intersection(have: set[int], allowed: set[int]) -> None:
    ordinals = np.array(sorted(have), dtype=np.uint32)
    assert ordinals[permitted(ordinals, BitMap(allowed))].tolist() == sorted(have & allowed)


@given(st.integers(0, 300), st.sets(st.integers(0, 400)))
def test_permitted_of_dense_ordinals(count: int, allowed: set[int]) -> None:
    ordinals = np.arange(count, dtype=np.uint32)
    assert permitted(ordinals, BitMap(allowed)).tolist() == sorted(ordinal for ordinal in allowed if ordinal < count)


@given(
    st.lists(st.tuples(st.integers(0, 50), st.sampled_from([0.0, 0.5, 1.0])), unique_by=lambda row: row[0]),
    st.integers(0, 9),
)
def test_best_orders_by_score_then_ordinal(rows: list[tuple[int, float]], k: int) -> None:
    ordinals = np.array([row[0] for row in rows], dtype=np.uint32)
    scores = np.array([row[1] for row in rows], dtype=np.float32)
    assert best(ordinals, scores, k) == sorted(rows, key=lambda row: (-row[1], row[0]))[:k]
