"""What goes through the door: a typed call, its typed reply, and the classes of failure.

A call is messages plus a pydantic type; the outcome is a value of that type or a classified
:class:`ModelFailure`. No other code talks to a model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from pydantic import BaseModel


class Role(StrEnum):
    """Who answers. Each role has an endpoint of its own in the settings, or the default one."""

    PROPOSER = "proposer"
    VALIDATOR = "validator"
    INVESTIGATOR = "investigator"
    EXTRACTOR = "extractor"
    JUDGE = "judge"
    TAGGER = "tagger"  # the student: all types in one pass
    TEACHER = "teacher"  # one type a pass
    OCR = "ocr"


class FailureKind(StrEnum):
    """Why a call gave no value. The groups below decide what happens next."""

    RATE_LIMITED = "rate_limited"  # 429
    SERVER_ERROR = "server_error"  # 5xx
    TIMEOUT = "timeout"
    CONNECTION = "connection"  # refused, reset, TLS, DNS
    AUTHENTICATION = "authentication"  # 401, 403
    QUOTA = "quota"  # account exhausted (402, or 429 with insufficient_quota)
    BAD_REQUEST = "bad_request"  # 400, 404, 422: another try would fail again
    TRUNCATED = "truncated"  # finish_reason=length
    WHITESPACE_LOOP = "whitespace_loop"
    REPETITION = "repetition_loop"  # the same words again and again
    EMPTY = "empty_reply"
    MALFORMED = "malformed"  # not JSON, prose around it, NaN, duplicate keys
    SCHEMA_MISMATCH = "schema_mismatch"  # valid JSON of another shape
    OVER_BUDGET = "over_budget"
    CANCELLED = "cancelled"


#: Tried again by the one retry layer, with back-off.
TRANSIENT = frozenset({FailureKind.RATE_LIMITED, FailureKind.SERVER_ERROR, FailureKind.TIMEOUT, FailureKind.CONNECTION})
#: The run stops at once; state is kept.
FATAL = frozenset({FailureKind.AUTHENTICATION, FailureKind.QUOTA, FailureKind.OVER_BUDGET, FailureKind.CANCELLED})
#: The model answered, but not usefully: the caller may split its window and ask once more (F6).
UNUSABLE = frozenset(
    {
        FailureKind.TRUNCATED,
        FailureKind.WHITESPACE_LOOP,
        FailureKind.REPETITION,
        FailureKind.EMPTY,
        FailureKind.MALFORMED,
        FailureKind.SCHEMA_MISMATCH,
    }
)


class ModelFailure(Exception):
    """A call ended without a value. ``usage`` holds what was paid for all the same.

    ``retry_after`` is the wait in seconds that the server asked for, where it did.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        usage: Usage | None = None,
        raw: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{kind.value}: {message}")
        self.kind = kind
        self.message = message
        self.usage = usage or Usage()
        self.raw = raw
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money of one or several attempts. ``cost`` is in US dollars; ``seconds`` is model time."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    calls: int = 0
    retries: int = 0
    cost: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.calls + other.calls,
            self.retries + other.retries,
            self.cost + other.cost,
            self.seconds + other.seconds,
        )

    def as_dict(self) -> dict[str, float]:
        """Plain numbers for journals and metadata."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class ModelCall[T: BaseModel]:
    """One request.

    ``system`` is the stable prefix shared by all calls of a task (it comes first, so that servers with prefix
    caching pay it once); ``user`` holds the part that changes. ``prompt`` names the prompt file and its hash.
    ``unit`` is the journal unit the call is paid for; it and ``purpose`` (``bbb/extract``) go to the ledger.
    """

    role: Role
    purpose: str
    unit: str
    system: str
    user: str
    reply_type: type[T]
    prompt: str
    max_output_tokens: int


@dataclass(frozen=True, slots=True)
class ModelReply[T: BaseModel]:
    """A validated value with what it cost."""

    value: T
    usage: Usage
    model: str
    raw: str = field(repr=False, default="")


class ModelClient(Protocol):
    """The door. Implemented by ``resources.endpoints``; tests use scripted ones."""

    async def complete[T: BaseModel](self, call: ModelCall[T]) -> ModelReply[T]:
        """Answer ``call`` or raise :class:`ModelFailure`. Retries transient failures itself, and only here."""
        ...

    def model_name(self, role: Role) -> str:
        """The model that answers ``role``; part of the cache key of everything it produces."""
        ...
