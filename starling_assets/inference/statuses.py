"""What an HTTP status of a model endpoint means for the run: wait, stop, or give the call up."""

from __future__ import annotations

from .calls import FailureKind, ModelFailure

_QUOTA_WORDS = ("insufficient_quota", "exceeded your current quota", "billing", "credit balance", "out of credits")
_OTHERS = {408: FailureKind.TIMEOUT, 409: FailureKind.SERVER_ERROR, 425: FailureKind.SERVER_ERROR}


def failure_of_status(
    status: int, message: str, marks: str, where: str, retry_after: float | None = None
) -> ModelFailure:
    """The failure behind ``status``. ``marks`` are the error's code and type, which tell a quota from a rate limit."""
    text = shorten(message)
    if status in {401, 403}:
        return ModelFailure(
            FailureKind.AUTHENTICATION,
            f"{where} refuses the key ({status}: {text}). Set STARLING_LLM_API_KEY (or OPENAI_API_KEY) to a valid one.",
        )
    told = f"{marks} {text}".lower()
    if status == 402 or (status == 429 and any(word in told for word in _QUOTA_WORDS)):
        return ModelFailure(
            FailureKind.QUOTA,
            f"the account at {where} is exhausted ({status}: {text}). Top it up, then run the same command again.",
        )
    if status == 429:
        return ModelFailure(FailureKind.RATE_LIMITED, f"{where} limits the rate ({text})", retry_after=retry_after)
    if status >= 500:
        return ModelFailure(FailureKind.SERVER_ERROR, f"{where} failed ({status}: {text})", retry_after=retry_after)
    kind = _OTHERS.get(status, FailureKind.BAD_REQUEST)
    return ModelFailure(kind, f"{where} refuses the request ({status}: {text})", retry_after=retry_after)


def shorten(text: str) -> str:
    """One line of at most 300 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 300 else f"{line[:299]}…"
