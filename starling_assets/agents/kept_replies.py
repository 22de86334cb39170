"""A door that keeps every usable answer on disk: a loop that was killed goes on and pays for no answer twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pydantic import BaseModel, ValidationError

from starling_assets.artifacts.files import write_text
from starling_assets.artifacts.keys import content_key
from starling_assets.inference.calls import ModelCall, ModelClient, ModelReply, Role, Usage
from starling_assets.inference.schemas import reply_schema


class KeptReplies:
    """A :class:`ModelClient` in front of another; ``folder`` holds one file per answer.

    A call is known by everything the model sees and by the model's name. The same call made again by one process is a
    new question (the caller did not like the answer), so the n-th asking finds the n-th answer. Failures are not kept:
    they are asked again. Answers from disk have no usage, for nothing is paid for them.
    """

    def __init__(self, client: ModelClient, folder: Path) -> None:
        self._client = client
        self._folder = folder
        self._answered: Counter[str] = Counter()

    async def complete[T: BaseModel](self, call: ModelCall[T]) -> ModelReply[T]:
        """The kept answer of this asking, or a new one that is kept before it is returned."""
        model = self.model_name(call.role)
        schema = reply_schema(call.reply_type)
        key = content_key(model, call.purpose, call.unit, call.system, call.user, schema, call.max_output_tokens)
        file = self._folder / f"{key}-{self._answered[key]}.json"
        value = _kept(file, call.reply_type)
        if value is not None:
            self._answered[key] += 1
            return ModelReply(value, Usage(), model)
        reply = await self._client.complete(call)
        write_text(file, reply.value.model_dump_json() + "\n")
        self._answered[key] += 1
        return reply

    def model_name(self, role: Role) -> str:
        """The model behind the door."""
        return self._client.model_name(role)


def _kept[T: BaseModel](file: Path, reply_type: type[T]) -> T | None:
    try:
        return reply_type.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError:
        return None  # of another version of the reply: ask again, the file is replaced
