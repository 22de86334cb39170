"""An answer as it is written: watched by the caller's guard, ended early when it loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starling_assets.inference.calls import FailureKind, ModelFailure

if TYPE_CHECKING:
    import openai

#: The guard looks whenever this many characters are new.
LOOK_EVERY = 512
#: Where an answer is cut short the server sends no count: so many characters make a token, roughly.
_CHARACTERS_PER_TOKEN = 3


@dataclass
class Streamed:
    """What came so far. ``usage`` is the server's count, in its own form, once it has come."""

    text: str = ""
    finish_reason: str = ""
    stopped: str = ""
    usage: Any = None

    @property
    def estimated_tokens(self) -> int:
        """Tokens of the text so far."""
        return len(self.text) // _CHARACTERS_PER_TOKEN + 1


async def stream_answer(
    client: openai.AsyncOpenAI, body: dict[str, Any], guard: Callable[[str], str], so_far: Streamed
) -> None:
    """Fill ``so_far`` with the answer to ``body``. What the client library raises passes through.

    A stream that ends without saying why was broken off on the way: that is a ``connection`` failure.
    """
    import httpx

    looked = 0
    stream = await client.chat.completions.create(**body, stream=True)
    try:
        async for event in stream:
            if getattr(event, "usage", None):
                so_far.usage = event.usage
            for choice in event.choices or ():
                so_far.text += choice.delta.content or ""
                so_far.finish_reason = choice.finish_reason or so_far.finish_reason
            if len(so_far.text) - looked >= LOOK_EVERY:
                looked = len(so_far.text)
                so_far.stopped = guard(so_far.text)
                if so_far.stopped:
                    return
    except httpx.HTTPError as error:
        raise ModelFailure(FailureKind.CONNECTION, f"the answer broke off: {str(error)[:200]}") from error
    finally:
        await stream.close()
    if not so_far.finish_reason:
        raise ModelFailure(FailureKind.CONNECTION, "the answer broke off before its end")
    so_far.stopped = guard(so_far.text)


def judged(answer: Streamed) -> str:
    """The text of a whole answer; raises :class:`ModelFailure` for one that was cut, looped or is empty."""
    if answer.stopped:
        raise ModelFailure(FailureKind.REPETITION, answer.stopped, raw=answer.text)
    if answer.finish_reason == "length":
        message = f"the reply was cut off at the token limit after {len(answer.text)} characters"
        raise ModelFailure(FailureKind.TRUNCATED, message, raw=answer.text)
    if answer.finish_reason == "content_filter" or not answer.text.strip():
        raise ModelFailure(FailureKind.EMPTY, "the reply holds no text", raw=answer.text)
    return answer.text
