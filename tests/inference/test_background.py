"""Blocking work beside an event loop: its result, its error, and a cancellation that does not wait."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from starling_assets.inference.background import in_background


def test_the_loop_goes_on_while_the_work_blocks() -> None:
    ticks: list[int] = []
    release = threading.Event()

    async def tick() -> None:
        for number in range(5):
            await asyncio.sleep(0.01)
            ticks.append(number)
        release.set()

    async def main() -> str:
        ticking = asyncio.create_task(tick())
        found = await in_background(lambda: str(release.wait(10)))
        await ticking
        return found

    assert asyncio.run(main()) == "True"
    assert ticks == [0, 1, 2, 3, 4]


def test_an_error_reaches_the_waiter() -> None:
    def broken() -> None:
        raise KeyError("oops")

    with pytest.raises(KeyError, match="oops"):
        asyncio.run(in_background(broken))


def test_a_cancelled_waiter_does_not_wait_for_the_work() -> None:
    release = threading.Event()

    async def main() -> None:
        waiting = asyncio.create_task(in_background(lambda: release.wait(30)))
        await asyncio.sleep(0.05)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    started = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - started < 10
    release.set()  # the work ends after its loop is closed, and nobody minds
    time.sleep(0.05)
