"""What an endpoint turned out to be able to do, learnt from its refusals and remembered for the process."""

from __future__ import annotations

from dataclasses import dataclass, replace

from starling_assets.inference.requests import MAX_COMPLETION_TOKENS, MAX_TOKENS
from starling_assets.inference.schemas import Dialect

from .targets import Target

_SCHEMA_WORDS = ("response_format", "json_schema", "schema", "grammar", "guided", "structured output")
_LOOSER = {
    Dialect.GRAMMAR: Dialect.CAPPED,
    Dialect.CAPPED: Dialect.STRICT,
    Dialect.STRICT: Dialect.JSON_OBJECT,
}
#: Parameters that some models refuse; a call is asked again without them.
_OPTIONAL = ("seed", "temperature", "stream_options")


@dataclass(frozen=True, slots=True)
class Phrasing:
    """How requests to one endpoint and model are phrased."""

    dialect: Dialect
    token_field: str = MAX_TOKENS
    without: frozenset[str] = frozenset()

    def after_refusal(self, message: str) -> Phrasing | None:
        """The next way to ask after a refusal with ``message``; ``None`` where it teaches nothing."""
        text = message.lower()
        if MAX_COMPLETION_TOKENS in text and self.token_field == MAX_TOKENS:
            return replace(self, token_field=MAX_COMPLETION_TOKENS)
        for name in _OPTIONAL:
            if name in text and name not in self.without:
                return replace(self, without=self.without | {name})
        if any(word in text for word in _SCHEMA_WORDS) and self.dialect in _LOOSER:
            return replace(self, dialect=_LOOSER[self.dialect])
        return None


def first_phrasing(target: Target) -> Phrasing:
    """The packaged server takes a grammar, OpenAI refuses string lengths, others are asked for everything."""
    if target.packaged:
        return Phrasing(Dialect.GRAMMAR)
    return Phrasing(Dialect.STRICT if "openai.com" in target.base_url else Dialect.CAPPED)
