"""From an exception of the client library to the class of failure that decides what happens next."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from starling_assets.inference.calls import FailureKind, ModelFailure
from starling_assets.inference.statuses import failure_of_status, shorten

if TYPE_CHECKING:
    import openai


def classify(error: Exception, where: str) -> ModelFailure:
    """``error`` of a call to ``where`` as a :class:`ModelFailure` with one clear line."""
    import openai

    if isinstance(error, openai.APITimeoutError | TimeoutError):
        return ModelFailure(FailureKind.TIMEOUT, f"{where} did not answer in time")
    if isinstance(error, openai.APIStatusError):
        wait = retry_after(error.response.headers)
        return failure_of_status(error.status_code, _message(error), f"{error.code} {error.type}", where, wait)
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__ or error
        return ModelFailure(FailureKind.CONNECTION, f"{where} cannot be reached or broke off: {shorten(str(cause))}")
    # A body that is not JSON, or not the JSON of a completion: a proxy's page, a server falling over.
    return ModelFailure(FailureKind.SERVER_ERROR, f"{where} answered something that is no reply: {shorten(str(error))}")


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """The wait in seconds that a server asks for: ``retry-after-ms``, or ``retry-after`` as seconds or as a date."""
    for name, scale in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        text = headers.get(name, "")
        try:
            seconds = float(text) * scale
        except ValueError:
            continue
        return seconds if 0 <= seconds < float("inf") else None
    parsed = email.utils.parsedate_tz(headers.get("retry-after", ""))
    if parsed is None:
        return None
    return max(0.0, email.utils.mktime_tz(parsed) - (time.time() if now is None else now))


def _message(error: openai.APIStatusError) -> str:
    body = error.body
    if isinstance(body, Mapping):
        inner = body.get("message") or body.get("detail") or body.get("error")
        if isinstance(inner, str):
            return inner
    return error.message
