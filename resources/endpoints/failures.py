"""From an exception of the client library to the class of failure that decides what happens next."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from starling_assets.inference.calls import FailureKind, ModelFailure

if TYPE_CHECKING:
    import openai

_QUOTA_WORDS = ("insufficient_quota", "exceeded your current quota", "billing", "credit balance", "out of credits")
_OWN_FAULT = {408: FailureKind.TIMEOUT, 409: FailureKind.SERVER_ERROR, 425: FailureKind.SERVER_ERROR}


def classify(error: Exception, where: str) -> ModelFailure:
    """``error`` of a call to ``where`` as a :class:`ModelFailure` with one clear line."""
    import openai

    if isinstance(error, openai.APITimeoutError | TimeoutError):
        return ModelFailure(FailureKind.TIMEOUT, f"{where} did not answer in time")
    if isinstance(error, openai.APIStatusError):
        return _from_status(error, where)
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__ or error
        return ModelFailure(FailureKind.CONNECTION, f"{where} cannot be reached or broke off: {_short(str(cause))}")
    # A body that is not JSON, or not the JSON of a completion: a proxy's page, a server falling over.
    return ModelFailure(FailureKind.SERVER_ERROR, f"{where} answered something that is no reply: {_short(str(error))}")


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


def _from_status(error: openai.APIStatusError, where: str) -> ModelFailure:
    status, text = error.status_code, _message(error)
    if status in {401, 403}:
        return ModelFailure(
            FailureKind.AUTHENTICATION,
            f"{where} refuses the key ({status}: {text}). Set STARLING_LLM_API_KEY (or OPENAI_API_KEY) to a valid one.",
        )
    marks = f"{error.code} {error.type} {text}".lower()
    if status == 402 or (status == 429 and any(word in marks for word in _QUOTA_WORDS)):
        return ModelFailure(
            FailureKind.QUOTA,
            f"the account at {where} is exhausted ({status}: {text}). Top it up, then run the same command again.",
        )
    wait = retry_after(error.response.headers)
    if status == 429:
        return ModelFailure(FailureKind.RATE_LIMITED, f"{where} limits the rate ({text})", retry_after=wait)
    if status >= 500:
        return ModelFailure(FailureKind.SERVER_ERROR, f"{where} failed ({status}: {text})", retry_after=wait)
    kind = _OWN_FAULT.get(status, FailureKind.BAD_REQUEST)
    return ModelFailure(kind, f"{where} refuses the request ({status}: {text})", retry_after=wait)


def _message(error: openai.APIStatusError) -> str:
    body = error.body
    if isinstance(body, Mapping):
        inner = body.get("message") or body.get("detail") or body.get("error")
        if isinstance(inner, str):
            return _short(inner)
    return _short(error.message)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else f"{line[:299]}…"
