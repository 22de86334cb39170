"""The retry layer: which failures, how often, and how long between tries."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.inference.calls import TRANSIENT, FailureKind, ModelFailure
from starling_assets.inference.retrying import LONGEST_WAIT, RetryPolicy, with_retries


def attempt_all(failures: list[ModelFailure], policy: RetryPolicy) -> tuple[list[float], int, ModelFailure | None]:
    """Waits, tries and the failure that came out when tries end with ``failures`` and then with success."""
    waits: list[float] = []
    told: list[float] = []
    tries = 0

    async def attempt() -> str:
        nonlocal tries
        tries += 1
        if tries <= len(failures):
            raise failures[tries - 1]
        return "done"

    async def no_sleep(seconds: float) -> None:
        waits.append(seconds)

    async def main() -> ModelFailure | None:
        try:
            assert await with_retries(attempt, policy, lambda _f, wait: told.append(wait), no_sleep) == "done"
        except ModelFailure as failure:
            return failure
        return None

    out = asyncio.run(main())
    assert told == waits
    return waits, tries, out


def failing(kind: FailureKind, retry_after: float | None = None) -> ModelFailure:
    return ModelFailure(kind, "scripted", retry_after=retry_after)


@pytest.mark.parametrize("kind", list(FailureKind))
def test_only_passing_failures_are_tried_again(kind: FailureKind) -> None:
    waits, tries, out = attempt_all([failing(kind)], RetryPolicy(3, 1.0))
    if kind in TRANSIENT:
        assert (len(waits), tries, out) == (1, 2, None)
    else:
        assert (waits, tries) == ([], 1)
        assert out is not None
        assert out.kind is kind


def test_the_tries_are_bounded_and_the_last_failure_comes_out() -> None:
    failures = [failing(FailureKind.SERVER_ERROR), failing(FailureKind.TIMEOUT), failing(FailureKind.CONNECTION)]
    _, tries, out = attempt_all(failures, RetryPolicy(3, 0.5))
    assert tries == 3
    assert out is failures[2]


@given(st.floats(0.01, 5.0), st.integers(2, 12))
def test_waits_grow_with_jitter_up_to_a_minute(backoff: float, attempts: int) -> None:
    failures = [failing(FailureKind.SERVER_ERROR)] * attempts
    waits, tries, _ = attempt_all(failures, RetryPolicy(attempts, backoff))
    assert tries == attempts
    for number, wait in enumerate(waits):
        full = min(LONGEST_WAIT, backoff * 2**number)
        assert full / 2 <= wait <= full + 1e-9


@given(st.floats(0, 300))
def test_the_server_s_wait_is_kept(asked: float) -> None:
    waits, _, out = attempt_all([failing(FailureKind.RATE_LIMITED, asked)], RetryPolicy(2, 0.1))
    assert out is None
    assert waits[0] >= asked


def test_a_wait_beyond_five_minutes_ends_the_call() -> None:
    waits, tries, out = attempt_all([failing(FailureKind.RATE_LIMITED, 301)], RetryPolicy(5, 0.1))
    assert (waits, tries) == ([], 1)
    assert out is not None


def test_a_mistake_in_the_program_is_not_retried() -> None:
    async def broken() -> None:
        raise KeyError("oops")

    with pytest.raises(KeyError):
        asyncio.run(with_retries(broken, RetryPolicy(5, 0.1), lambda _f, _w: None))
