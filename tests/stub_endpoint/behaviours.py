"""What the stub can do instead of answering well."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Behaviour:
    """One scripted reaction. Use the constructors below; ``delay`` seconds pass before anything is sent."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: dict[str, Any] | None = None
    text: str | None = None  # reply text in place of the scripted answer
    finish_reason: str = "stop"
    delay: float = 0.0
    connection: Literal["answer", "reset", "hang", "close"] = "answer"
    raw_body: bytes | None = None  # sent as it is, in place of a completion
    cut: float | None = None  # share of the scripted answer that is sent
    breaks_off: bool = False  # a streamed reply ends without its last event

    @classmethod
    def ok(cls, delay: float = 0.0) -> Behaviour:
        """The scripted answer."""
        return cls(delay=delay)

    @classmethod
    def reply(cls, text: str, finish_reason: str = "stop") -> Behaviour:
        """This very text."""
        return cls(text=text, finish_reason=finish_reason)

    @classmethod
    def failing(cls, status: int, message: str = "scripted failure", code: str = "", **headers: str) -> Behaviour:
        """An HTTP error in OpenAI's form."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        error = {"message": message, "type": code or "error", "code": code or None, "param": None}
        return cls(status=status, error=error, headers=named)

    @classmethod
    def rate_limited(cls, retry_after: float | str | None = None) -> Behaviour:
        """429, with Retry-After where given."""
        headers = {} if retry_after is None else {"retry_after": str(retry_after)}
        return cls.failing(429, "Rate limit reached", "rate_limit_exceeded", **headers)

    @classmethod
    def quota(cls) -> Behaviour:
        """429 that no wait can cure."""
        return cls.failing(429, "You exceeded your current quota, please check your plan", "insufficient_quota")

    @classmethod
    def invalid_key(cls, key: str = "sk-…abcd") -> Behaviour:
        """401."""
        return cls.failing(401, f"Incorrect API key provided: {key}", "invalid_api_key")

    @classmethod
    def context_too_long(cls) -> Behaviour:
        """400: the prompt does not fit."""
        return cls.failing(400, "This model's maximum context length is 4096 tokens", "context_length_exceeded")

    @classmethod
    def no_schemas(cls) -> Behaviour:
        """400: the endpoint cannot hold a model to a schema."""
        return cls.failing(400, "response_format of type json_schema is not supported by this model")

    @classmethod
    def slow(cls, seconds: float) -> Behaviour:
        """The scripted answer after a pause."""
        return cls(delay=seconds)

    @classmethod
    def hang(cls, seconds: float = 30.0) -> Behaviour:
        """No byte is sent; the connection stays open until the client or the stub gives up."""
        return cls(connection="hang", delay=seconds)

    @classmethod
    def reset(cls) -> Behaviour:
        """The connection is reset after the request was read, as a failing TLS endpoint does."""
        return cls(connection="reset")

    @classmethod
    def close(cls) -> Behaviour:
        """The connection is closed in the middle of the body."""
        return cls(connection="close")

    @classmethod
    def truncated(cls, share: float = 0.5) -> Behaviour:
        """The first part of the scripted answer, cut at the token limit."""
        return cls(cut=share, finish_reason="length")

    @classmethod
    def whitespace(cls, count: int = 2_000) -> Behaviour:
        """A brace and then blanks up to the token limit."""
        return cls(text="{" + " \n" * (count // 2), finish_reason="length")

    @classmethod
    def empty(cls) -> Behaviour:
        """A reply without text."""
        return cls(text="")

    @classmethod
    def wrong_schema(cls) -> Behaviour:
        """Valid JSON of another shape."""
        return cls(text='{"weather": "fine", "degrees": 21}')

    @classmethod
    def prose(cls) -> Behaviour:
        """JSON in a code fence, with a sentence before it."""
        return cls(text="Sure, here it is:\n```json\n{}\n```\n")

    @classmethod
    def garbage(cls, body: bytes = b"<html>gateway</html>") -> Behaviour:
        """200 with a body that is no completion."""
        return cls(raw_body=body)
