"""What an endpoint turned out to be able to do, learnt from its refusals and remembered for the process."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from starling_assets.inference.calls import ModelCall
from starling_assets.inference.schemas import Dialect, reply_schema

from .targets import Target

_SCHEMA_WORDS = ("response_format", "json_schema", "schema", "grammar", "guided", "structured output")
_LOOSER = {
    Dialect.GRAMMAR: Dialect.CAPPED,
    Dialect.CAPPED: Dialect.STRICT,
    Dialect.STRICT: Dialect.JSON_OBJECT,
}
#: Parameters that some models refuse; a call is asked again without them.
_OPTIONAL = ("seed", "temperature")


@dataclass
class Abilities:
    """How to phrase requests to one endpoint and model."""

    dialect: Dialect
    token_field: str = "max_tokens"  # noqa: S105 - the name of a parameter
    refused: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, target: Target) -> Abilities:
        """The first guess: the packaged server takes a grammar, OpenAI refuses string lengths, others take all."""
        if target.packaged:
            return cls(Dialect.GRAMMAR)
        return cls(Dialect.STRICT if "openai.com" in target.base_url else Dialect.CAPPED)

    def learn(self, message: str, phrased: Request) -> bool:
        """Whether a refusal with ``message`` teaches another way to ask; if so, it is remembered.

        ``phrased`` is the refused request: another call may have learnt the same lesson meanwhile.
        """
        text = message.lower()
        if "max_completion_tokens" in text and phrased.token_field == "max_tokens":  # noqa: S105
            self.token_field = "max_completion_tokens"  # noqa: S105
            return True
        for name in _OPTIONAL:
            if name in text and name not in phrased.refused:
                self.refused.add(name)
                return True
        if any(word in text for word in _SCHEMA_WORDS) and phrased.dialect in _LOOSER:
            if self.dialect is phrased.dialect:
                self.dialect = _LOOSER[phrased.dialect]
            return True
        return False


@dataclass(frozen=True, slots=True)
class Request:
    """The body of one request, and the choices it was phrased with."""

    body: dict[str, Any]
    extra: dict[str, Any]
    dialect: Dialect
    token_field: str
    refused: frozenset[str]


def phrase[T: BaseModel](
    call: ModelCall[T], model: str, abilities: Abilities, temperature: float, seed: int
) -> Request:
    """``call`` as a request body. The system message is the same for all calls of a task, so caches hold it."""
    dialect = abilities.dialect
    system = call.system
    extra: dict[str, Any] = {}
    body: dict[str, Any] = {"model": model, abilities.token_field: call.max_output_tokens}
    optional = {"temperature": temperature, "seed": seed}
    body.update({name: value for name, value in optional.items() if name not in abilities.refused})
    schema = reply_schema(call.reply_type, dialect)
    if dialect is Dialect.GRAMMAR:
        # Compact output: a third of the tokens of indented JSON are blanks, and blanks cannot loop here.
        guided = {**schema, "x-guidance": {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}}
        extra["grammar"] = f"%llguidance {{}}\nstart: %json {json.dumps(guided, ensure_ascii=False)}"
    elif dialect is Dialect.JSON_OBJECT:
        body["response_format"] = {"type": "json_object"}
        system = f"{system}\n\nAnswer with one JSON object of this schema and nothing else:\n{json.dumps(schema)}"
    else:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": call.reply_type.__name__[:64], "strict": True, "schema": schema},
        }
    body["messages"] = [{"role": "system", "content": system}, {"role": "user", "content": call.user}]
    return Request(body, extra, dialect, abilities.token_field, frozenset(abilities.refused))
