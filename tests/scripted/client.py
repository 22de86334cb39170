"""An in-process model client for tests that need no HTTP."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ValidationError

from starling_assets.inference.calls import FailureKind, ModelCall, ModelFailure, ModelReply, Role, Usage
from starling_assets.inference.schemas import reply_schema


class ScriptedClient:
    """Answers through ``answer(messages, schema)``; ``failures`` are raised first, one per call.

    ``calls`` lists every call that was started, in order.
    """

    def __init__(self, answer: Callable[[list[dict[str, str]], dict[str, Any]], Any], delay: float = 0.0) -> None:
        self.answer = answer
        self.delay = delay
        self.calls: list[ModelCall[Any]] = []
        self.failures: deque[ModelFailure | None] = deque()

    async def complete[T: BaseModel](self, call: ModelCall[T]) -> ModelReply[T]:
        self.calls.append(call)
        await asyncio.sleep(self.delay)
        usage = Usage(prompt_tokens=len(call.system + call.user) // 4, completion_tokens=50, calls=1)
        if self.failures:
            failure = self.failures.popleft()
            if failure is not None:
                raise ModelFailure(failure.kind, failure.message, usage, failure.raw)
        messages = [{"role": "system", "content": call.system}, {"role": "user", "content": call.user}]
        value = self.answer(messages, reply_schema(call.reply_type))
        try:
            return ModelReply(
                call.reply_type.model_validate(value), usage, self.model_name(call.role), json.dumps(value)
            )
        except ValidationError as error:
            raise ModelFailure(FailureKind.SCHEMA_MISMATCH, str(error), usage, json.dumps(value)) from None

    def model_name(self, role: Role) -> str:
        return f"scripted-{role.value}"
