"""Many units at once: bounded, in the order given, nothing lost, failures told apart. Stopping is F7."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starling_assets.inference.calls import FATAL, FailureKind, ModelFailure
from starling_assets.inference.engine import run_blocking, run_units
from starling_assets.inference.stopping import Stop

PASSABLE = sorted(set(FailureKind) - FATAL)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.sampled_from([None, *PASSABLE]), max_size=25), st.integers(1, 6))
def test_every_unit_ends_once(fates: list[FailureKind | None], concurrency: int) -> None:
    done: dict[int, int] = {}
    failed: dict[int, FailureKind] = {}
    flying = highest = 0

    async def work(unit: int) -> int:
        nonlocal flying, highest
        flying += 1
        highest = max(highest, flying)
        await asyncio.sleep(0)
        flying -= 1
        fate = fates[unit]
        if fate is not None:
            raise ModelFailure(fate, "scripted")
        return unit * 10

    def on_result(unit: int, result: int) -> None:
        assert unit not in done
        done[unit] = result

    def on_failure(unit: int, failure: ModelFailure) -> None:
        assert unit not in failed
        failed[unit] = failure.kind

    run_blocking(run_units(range(len(fates)), work, concurrency, on_result, on_failure, Stop()))
    assert done == {unit: unit * 10 for unit, fate in enumerate(fates) if fate is None}
    assert failed == {unit: fate for unit, fate in enumerate(fates) if fate is not None}
    assert highest <= concurrency


def test_units_are_taken_only_as_slots_become_free() -> None:
    taken: list[int] = []
    done: list[int] = []

    def units() -> Iterator[int]:
        for number in range(50):
            assert len(taken) - len(done) < 3
            taken.append(number)
            yield number

    async def work(unit: int) -> int:
        await asyncio.sleep(0)
        return unit

    run_blocking(run_units(units(), work, 3, lambda unit, _r: done.append(unit), lambda _u, _f: None, Stop()))
    assert taken == list(range(50))
    assert sorted(done) == taken


@pytest.mark.parametrize("kind", sorted(FATAL))
def test_a_fatal_failure_stops_the_run_and_results_in_hand_are_kept(kind: FailureKind) -> None:
    done: list[int] = []
    failed: list[int] = []
    begun: list[int] = []

    async def work(unit: int) -> int:
        begun.append(unit)
        if unit == 5:
            raise ModelFailure(kind, "scripted")
        return unit

    with pytest.raises(ModelFailure) as caught:
        run_blocking(
            run_units(range(100), work, 4, lambda u, _r: done.append(u), lambda u, _f: failed.append(u), Stop())
        )
    assert caught.value.kind is kind
    assert failed == []
    assert set(begun) - set(done) <= {5, 6, 7, 8}
    assert max(begun) <= 8
    assert {4, 6, 7} & set(begun) <= set(done)  # finished together with the failing one: paid for, so kept


def test_a_result_that_comes_in_the_moment_of_the_stop_is_kept() -> None:
    done: list[int] = []

    async def work(unit: int) -> int:
        if unit == 0:
            await asyncio.sleep(0.05)
            raise ModelFailure(FailureKind.QUOTA, "scripted")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            if unit == 1:  # the reply was on its way already
                return unit
            raise
        return -1

    with pytest.raises(ModelFailure):
        run_blocking(run_units(range(9), work, 3, lambda unit, _r: done.append(unit), lambda _u, _f: None, Stop()))
    assert done == [1]


def test_a_broken_store_is_not_asked_again_while_stopping() -> None:
    stored: list[int] = []

    async def work(unit: int) -> int:
        await asyncio.sleep(0.01)
        return unit

    def full_disk(unit: int, _result: int) -> None:
        stored.append(unit)
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        run_blocking(run_units(range(50), work, 4, full_disk, lambda _u, _f: None, Stop()))
    assert len(stored) == 1


def test_a_mistake_in_the_work_comes_out_as_it_is() -> None:
    async def work(unit: int) -> int:
        raise KeyError(unit)

    with pytest.raises(KeyError):
        run_blocking(run_units(range(3), work, 2, lambda _u, _r: None, lambda _u, _f: None, Stop()))


def test_no_units_is_a_run_that_ends() -> None:
    async def work(unit: int) -> int:
        return unit

    run_blocking(run_units([], work, 2, lambda _u, _r: None, lambda _u, _f: None, Stop()))


def test_a_stop_asked_for_before_the_run_starts_nothing() -> None:
    stop, begun = Stop(), list[int]()
    stop.request("never mind")
    stop.request("a second reason")

    async def work(unit: int) -> None:
        begun.append(unit)

    with pytest.raises(ModelFailure, match="never mind"):
        run_blocking(run_units([1], work, 1, lambda _u, _r: None, lambda _u, _f: None, stop))
    assert begun == []


def test_concurrency_below_one_is_refused() -> None:
    async def work(unit: int) -> int:
        return unit

    with pytest.raises(ValueError, match="at least 1"):
        run_blocking(run_units([1], work, 0, lambda _u, _r: None, lambda _u, _f: None, Stop()))


def test_blocking_runs_work_from_any_thread_and_inside_a_loop() -> None:
    async def answer() -> int:
        await asyncio.sleep(0)
        return 42

    async def inside() -> int:
        return run_blocking(answer())

    assert asyncio.run(inside()) == 42
    results: list[int] = []
    thread = threading.Thread(target=lambda: results.append(run_blocking(answer())))
    thread.start()
    thread.join()
    assert results == [42]


def test_a_signal_handler_is_left_alone_outside_the_main_thread() -> None:
    seen: list[bool] = []

    def run() -> None:
        with Stop().on_signals() as stop:
            seen.append(stop.requested)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [False]
