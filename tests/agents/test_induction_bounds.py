"""The bound that is printed before the loops holds for the calls that they then make."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from starling_assets.agents.induction import InductionLimits
from starling_assets.agents.induction_bounds import call_bounds
from starling_assets.inference.calls import Role
from tests.scripted import ScriptedClient

from .small_corpus import corpus
from .test_induction import LIMITS, Model, agrees, drafted, run


def most(limits: InductionLimits, chunks: int, base: Path) -> Counter[Role]:
    found: Counter[Role] = Counter()
    for row in call_bounds(drafted(base), limits, chunks):
        found[row.role] += row.calls
    return found


def test_no_role_is_asked_more_often_than_was_said(tmp_path: Path) -> None:
    chunks = len(corpus().rows)
    for number, model in enumerate([Model(), Model(good=False), Model(validator=agrees)]):
        base = tmp_path / str(number)
        bound, client = most(LIMITS, chunks, base), ScriptedClient(model)
        run(base, client)
        made = Counter(call.role for call in client.calls)
        assert made
        assert all(count <= bound[role] for role, count in made.items())


def test_a_small_corpus_bounds_what_can_be_read(tmp_path: Path) -> None:
    assert most(InductionLimits(), 4, tmp_path / "a").total() < most(InductionLimits(), 4_000, tmp_path / "b").total()
    nothing = call_bounds(drafted(tmp_path / "c"), InductionLimits(), 0)
    assert [row.what for row in nothing if row.calls] == ["propose filters", "read the misses", "unify into a schema"]
