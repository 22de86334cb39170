"""Blocking work that a coroutine waits for, in a thread that holds nobody up when the coroutine is cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable


async def in_background[R](work: Callable[[], R]) -> R:
    """The result of ``work``, run in a daemon thread.

    ``asyncio.to_thread`` would make a cancelled run wait until ``work`` is done (a model that takes a minute to load);
    here the waiting ends at once, and the thread ends with the process.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[R] = loop.create_future()

    def settle(result: R | None, error: BaseException | None) -> None:
        if outcome.done():  # the waiter was cancelled
            return
        if error is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(result)  # type: ignore[arg-type]  # without an error there is a result

    def run() -> None:
        result, error = None, None
        try:
            result = work()
        except BaseException as raised:  # noqa: BLE001 - handed to the waiter, whatever it is
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, name="model-calls-background", daemon=True).start()
    return await outcome
