"""The one retry layer: transient failures only, with growing waits, jitter, and the server's own Retry-After."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_random_exponential

from .calls import TRANSIENT, ModelFailure

LONGEST_WAIT = 60.0
#: A server that asks for a longer wait than this is not waited for: the call fails and a later run takes it up.
LONGEST_RETRY_AFTER = 300.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a call is tried in all, and the first wait between tries in seconds (it doubles, up to a minute)."""

    attempts: int = 5
    backoff_seconds: float = 1.0


async def with_retries[R](
    attempt: Callable[[], Awaitable[R]],
    policy: RetryPolicy,
    on_retry: Callable[[ModelFailure, float], None],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> R:
    """The result of ``attempt``, tried again while it fails for a passing reason.

    ``on_retry`` is told the failure and the wait before each further try. The last failure is raised as it is.
    """
    growing = wait_random_exponential(multiplier=policy.backoff_seconds, max=LONGEST_WAIT)

    def wait(state: RetryCallState) -> float:
        drawn = growing(state)
        # Full jitter may draw almost nothing; half of it is kept so that a struggling server gets its pause.
        floor = min(LONGEST_WAIT, policy.backoff_seconds * 2.0 ** (state.attempt_number - 1)) / 2
        asked = _failure(state).retry_after or 0.0
        return max(floor, drawn, asked)

    def before_sleep(state: RetryCallState) -> None:
        on_retry(_failure(state), float(state.upcoming_sleep))

    retrying = AsyncRetrying(
        stop=stop_after_attempt(policy.attempts),
        wait=wait,
        retry=retry_if_exception(_is_transient),
        before_sleep=before_sleep,
        sleep=sleep,
        reraise=True,
    )
    return await retrying(attempt)


def _is_transient(error: BaseException) -> bool:
    return (
        isinstance(error, ModelFailure)
        and error.kind in TRANSIENT
        and (error.retry_after is None or error.retry_after <= LONGEST_RETRY_AFTER)
    )


def _failure(state: RetryCallState) -> ModelFailure:
    error = state.outcome.exception() if state.outcome else None
    if not isinstance(error, ModelFailure):
        raise TypeError("only a ModelFailure is waited for") from error
    return error
