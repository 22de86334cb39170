"""Asking work to stop: from a signal, from another thread, or from the code that consumes the results."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stop:
    """A request to stop, made once and seen by everyone. Safe to use from any thread and in a signal handler."""

    def __init__(self) -> None:
        self._reason = ""
        self._event = threading.Event()

    def request(self, reason: str) -> None:
        """Ask for a stop; the first reason is kept."""
        if not self._event.is_set():
            self._reason = reason
            self._event.set()

    @property
    def requested(self) -> bool:
        """Whether a stop was asked for."""
        return self._event.is_set()

    @property
    def reason(self) -> str:
        """Why; empty while no stop was asked for."""
        return self._reason

    @contextmanager
    def on_signals(self, *numbers: signal.Signals) -> Iterator[Stop]:
        """Turn SIGINT and SIGTERM (or ``numbers``) into a request while the context lasts.

        A second signal of the same kind gets the earlier handler: an impatient user is not held back. Outside the main
        thread, where Python has no signals, the context does nothing.
        """
        wanted = numbers or (signal.SIGINT, signal.SIGTERM)
        if threading.current_thread() is not threading.main_thread():
            yield self
            return
        earlier = {number: signal.getsignal(number) for number in wanted}

        def handle(number: int, _frame: FrameType | None) -> None:
            self.request(f"stopped by {signal.Signals(number).name}")
            signal.signal(number, earlier[signal.Signals(number)])

        for number in wanted:
            signal.signal(number, handle)
        try:
            yield self
        finally:
            for number, handler in earlier.items():
                signal.signal(number, handler)
