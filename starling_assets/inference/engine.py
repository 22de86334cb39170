"""Runs many model calls at once: bounded, stoppable, and without a task left behind (F4, F7)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future, wait

from .calls import FATAL, FailureKind, ModelFailure
from .stopping import Stop

#: How often a request to stop is looked for while calls are in flight, in seconds.
LOOK_SECONDS = 0.2


async def run_units[U, R](
    units: Iterable[U],
    work: Callable[[U], Awaitable[R]],
    concurrency: int,
    on_result: Callable[[U, R], None],
    on_failure: Callable[[U, ModelFailure], None],
    stop: Stop,
) -> None:
    """Do ``work`` for every unit, at most ``concurrency`` at a time, and hand each outcome over as it comes.

    Units are taken from ``units`` only as slots become free. ``on_result`` and ``on_failure`` run in the event
    loop, one at a time; while they store an outcome no new unit starts.

    A failure that no further call can escape (``FATAL``: wrong key, quota, budget) stops everything at once and is
    raised; the unit it befell is not reported, since it is still to be done. A request on ``stop`` or a cancellation
    does the same with kind ``cancelled``. Any other exception of ``work`` or of a callback is a mistake in the program
    or a broken store: everything stops and it is raised. On return or raise no task is left.
    """
    if concurrency < 1:
        raise ValueError("concurrency must be at least 1")
    waiting = iter(units)
    running: dict[asyncio.Task[R], U] = {}
    try:
        while True:
            _raise_if_stopped(stop)
            _fill(waiting, work, concurrency, running)
            if not running:
                return
            done, _ = await asyncio.wait(running, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            # Results before failures: what was paid for is stored before a fatal failure ends the run.
            for task in sorted(done, key=_failed):
                _hand_over(task, running.pop(task), on_result, on_failure)
    except (ModelFailure, asyncio.CancelledError):
        # Calls that ended in the same moment are paid for: their results are stored like the others.
        for task, unit in await _cancel(running):
            on_result(unit, task.result())
        raise
    finally:
        await _cancel(running)


def run_blocking[R](coroutine: Coroutine[object, object, R]) -> R:
    """The result of ``coroutine``, for callers that are not asynchronous (a step of a pipeline, a command).

    It runs in an event loop of its own in another thread, so it works inside a running loop too, and an interrupt of
    the calling thread (Ctrl-C, a pipeline's own interrupt) cancels it and waits for its clean-up before going on.
    """
    outcome: Future[R] = Future()
    control: dict[str, tuple[asyncio.AbstractEventLoop, asyncio.Task[R]]] = {}
    ready = threading.Event()

    async def main() -> R:
        task = asyncio.current_task()
        if task is not None:
            control["task"] = (asyncio.get_running_loop(), task)
        ready.set()
        return await coroutine

    def run() -> None:
        try:
            outcome.set_result(asyncio.run(main()))
        except BaseException as error:  # noqa: BLE001 - handed to the calling thread, whatever it is
            outcome.set_exception(error)
        finally:
            ready.set()

    thread = threading.Thread(target=run, name="model-calls", daemon=True)
    thread.start()
    try:
        while True:
            # Short waits: libraries that install a restarting signal handler (polars does) would let Ctrl-C pass by
            # a wait without end.
            wait([outcome], timeout=LOOK_SECONDS)
            if outcome.done():
                return outcome.result()
    except asyncio.CancelledError:
        raise ModelFailure(FailureKind.CANCELLED, "the run was cancelled") from None
    except BaseException:
        if not outcome.done():
            ready.wait()
            if "task" in control:
                loop, task = control["task"]
                _cancel_from_outside(loop, task)
        raise
    finally:
        thread.join()


def _cancel_from_outside[R](loop: asyncio.AbstractEventLoop, task: asyncio.Task[R]) -> None:
    try:
        loop.call_soon_threadsafe(task.cancel)
    except RuntimeError:  # the loop closed meanwhile: it is done
        return


def _raise_if_stopped(stop: Stop) -> None:
    if stop.requested:
        raise ModelFailure(FailureKind.CANCELLED, stop.reason)


def _fill[U, R](
    waiting: Iterator[U], work: Callable[[U], Awaitable[R]], concurrency: int, running: dict[asyncio.Task[R], U]
) -> None:
    while len(running) < concurrency:
        try:
            unit = next(waiting)
        except StopIteration:
            return
        running[asyncio.ensure_future(_run(work, unit))] = unit


async def _run[U, R](work: Callable[[U], Awaitable[R]], unit: U) -> R:
    return await work(unit)


def _failed[R](task: asyncio.Task[R]) -> bool:
    return task.cancelled() or task.exception() is not None


def _hand_over[U, R](
    task: asyncio.Task[R],
    unit: U,
    on_result: Callable[[U, R], None],
    on_failure: Callable[[U, ModelFailure], None],
) -> None:
    if task.cancelled():
        raise ModelFailure(FailureKind.CANCELLED, "a call was cancelled")
    error = task.exception()
    if error is None:
        on_result(unit, task.result())
    elif isinstance(error, ModelFailure) and error.kind not in FATAL:
        on_failure(unit, error)
    else:
        raise error


async def _cancel[U, R](running: dict[asyncio.Task[R], U]) -> list[tuple[asyncio.Task[R], U]]:
    """End all tasks, leave none in ``running``, and return those that had a result all the same."""
    for task in running:
        task.cancel()
    if running:
        await asyncio.gather(*running, return_exceptions=True)
    finished = [(task, unit) for task, unit in running.items() if not _failed(task)]
    running.clear()
    return finished
