"""A call as the body of an OpenAI-compatible chat request, for servers and for offline batch files alike."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from pydantic import BaseModel

from .calls import ModelCall
from .schemas import Dialect, reply_schema

MAX_TOKENS = "max_tokens"
MAX_COMPLETION_TOKENS = "max_completion_tokens"
#: Compact output: a third of the tokens of indented JSON are blanks, and blanks cannot loop here.
_COMPACT = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


def request_body[T: BaseModel](
    call: ModelCall[T],
    model: str,
    dialect: Dialect,
    *,
    temperature: float,
    seed: int,
    token_field: str = MAX_TOKENS,
    without: Collection[str] = (),
) -> dict[str, Any]:
    """``call`` as a request body; parameters named in ``without`` are left out.

    The system message is the same for all calls of a task, so that servers with prefix caching read it once. Output is
    always bounded. The dialect ``grammar`` is llama.cpp's own field; the others use ``response_format``.
    """
    body: dict[str, Any] = {"model": model, token_field: call.max_output_tokens}
    optional = {"temperature": temperature, "seed": seed}
    body.update({name: value for name, value in optional.items() if name not in without})
    system, schema = call.system, reply_schema(call.reply_type, dialect)
    if dialect is Dialect.GRAMMAR:
        guided = json.dumps({**schema, "x-guidance": _COMPACT}, ensure_ascii=False)
        body["grammar"] = f"%llguidance {{}}\nstart: %json {guided}"
    elif dialect is Dialect.JSON_OBJECT:
        body["response_format"] = {"type": "json_object"}
        system = f"{system}\n\nAnswer with one JSON object of this schema and nothing else:\n{json.dumps(schema)}"
    else:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": call.reply_type.__name__[:64], "strict": True, "schema": schema},
        }
    body["messages"] = [{"role": "system", "content": system}, {"role": "user", "content": call.user}]
    return body
