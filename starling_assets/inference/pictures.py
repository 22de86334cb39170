"""Calls that show a model a picture and take its answer as text, word by word, so that a loop can be cut short."""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Protocol

from .calls import Role, Usage
from .requests import MAX_TOKENS

#: Side of the square of pixels that vision models of this family turn into one token.
_PIXELS_PER_TOKEN_SIDE = 28


@dataclass(frozen=True, slots=True)
class PictureCall:
    """One picture (PNG) with one instruction. Purpose, unit and prompt are as in ``ModelCall``.

    ``guard`` sees the text so far, now and then; what it returns, unless it is empty, ends the call with that reason.
    """

    role: Role
    purpose: str
    unit: str
    text: str
    png: bytes = field(repr=False)
    width: int
    height: int
    prompt: str
    max_output_tokens: int
    guard: Callable[[str], str]
    temperature: float | None = None

    @property
    def prompt_tokens(self) -> int:
        """An upper estimate of what the prompt costs."""
        across, down = -(-self.width // _PIXELS_PER_TOKEN_SIDE), -(-self.height // _PIXELS_PER_TOKEN_SIDE)
        return across * down + len(self.text)


@dataclass(frozen=True, slots=True)
class PictureReply:
    """The whole text of an answer that came to its own end, with what it cost."""

    text: str
    usage: Usage
    model: str


class PictureClient(Protocol):
    """The door for pictures. Implemented by ``resources.endpoints``."""

    async def transcribe(self, call: PictureCall) -> PictureReply:
        """Answer ``call`` or raise ``ModelFailure``.

        A reply cut off at the token limit is ``truncated``, one that the guard ended is ``repetition_loop``; both carry
        the text so far in ``raw``. Failures that pass are retried here and only here.
        """
        ...

    def model_name(self, role: Role) -> str:
        """The model that answers ``role``."""
        ...

    def concurrency(self, role: Role) -> int:
        """Calls of ``role`` that may be in flight together."""
        ...


def picture_body(
    call: PictureCall,
    model: str,
    *,
    temperature: float,
    seed: int,
    token_field: str = MAX_TOKENS,
    without: Collection[str] = (),
) -> dict[str, Any]:
    """``call`` as the body of a streamed chat request; parameters named in ``without`` are left out."""
    body: dict[str, Any] = {"model": model, token_field: call.max_output_tokens}
    optional: dict[str, Any] = {
        "temperature": temperature if call.temperature is None else call.temperature,
        "seed": seed,
        "stream_options": {"include_usage": True},
    }
    body.update({name: value for name, value in optional.items() if name not in without})
    address = f"data:image/png;base64,{base64.b64encode(call.png).decode('ascii')}"
    body["messages"] = [
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": address}},
                {"type": "text", "text": call.text},
            ],
        }
    ]
    return body
