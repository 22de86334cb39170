"""The door: one call to an OpenAI-compatible endpoint, with retries, ledger, budget and validation."""

from __future__ import annotations

import asyncio
import sys
import time
import weakref
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel

from starling_assets.inference.background import in_background
from starling_assets.inference.budget import Budget, Prices
from starling_assets.inference.calls import FailureKind, ModelCall, ModelFailure, ModelReply, Role, Usage
from starling_assets.inference.ledger import OK, Ledger, LedgerEntry
from starling_assets.inference.pictures import PictureCall, PictureReply, picture_body
from starling_assets.inference.replies import read_reply
from starling_assets.inference.requests import request_body
from starling_assets.inference.retrying import RetryPolicy, with_retries
from starling_assets.inference.tokens import estimate_prompt_tokens
from starling_assets.settings.endpoints import LlmSettings

from .abilities import Phrasing, first_phrasing
from .failures import classify
from .streaming import Streamed, judged, stream_answer
from .targets import Target, Targets

if TYPE_CHECKING:
    import openai

#: A request is rephrased at most this often for an endpoint that refuses parts of it.
MOST_LESSONS = 6
CONNECT_SECONDS = 10.0


class _Asked(Protocol):
    """What every call says of itself, whatever it shows the model."""

    @property
    def role(self) -> Role: ...
    @property
    def purpose(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def prompt(self) -> str: ...
    @property
    def max_output_tokens(self) -> int: ...


@dataclass
class _LoopState:
    """What belongs to one event loop: connections and the limits on calls in flight."""

    clients: dict[str, openai.AsyncOpenAI] = field(default_factory=dict)
    slots: dict[tuple[str, str], asyncio.Semaphore] = field(default_factory=dict)


@dataclass
class _Bill:
    """What one call has used so far, over all its tries."""

    prices: Prices
    usage: Usage = field(default_factory=Usage)

    def add(self, used: Any, seconds: float, estimate: tuple[int, int] = (0, 0)) -> None:
        """Count one answered try by the server's own count, or by ``estimate`` where it sent none."""
        details = getattr(used, "prompt_tokens_details", None)
        prompt, output = (used.prompt_tokens or 0, used.completion_tokens or 0) if used else estimate
        self.usage += Usage(
            prompt_tokens=prompt,
            completion_tokens=output,
            cached_tokens=(getattr(details, "cached_tokens", None) or 0),
            calls=1,
            cost=self.prices.cost(prompt, output),
            seconds=seconds,
        )

    def add_failed(self, seconds: float) -> None:
        """Count one try that brought no answer: the time is spent, tokens are not known."""
        self.usage += Usage(calls=1, seconds=seconds)

    def add_retry(self) -> None:
        """Count one more try."""
        self.usage += Usage(retries=1)


class OpenAiClient:
    """:class:`~starling_assets.inference.calls.ModelClient` over the OpenAI SDK. Usable from any thread and loop."""

    def __init__(self, settings: LlmSettings, targets: Targets, ledger: Ledger, budget: Budget) -> None:
        self._settings = settings
        self._targets = targets
        self._ledger = ledger
        self._budget = budget
        self._policy = RetryPolicy(settings.attempts, settings.backoff_seconds)
        self._phrasings: dict[tuple[str, str], Phrasing] = {}
        self._loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopState] = weakref.WeakKeyDictionary()

    @property
    def budget(self) -> Budget:
        """The bound that all calls of this client share."""
        return self._budget

    def model_name(self, role: Role) -> str:
        """The model that answers ``role``."""
        return self._targets.model_name(role)

    def concurrency(self, role: Role) -> int:
        """Calls of ``role`` that may be in flight together."""
        return self._targets.concurrency(role)

    async def complete[T: BaseModel](self, call: ModelCall[T]) -> ModelReply[T]:
        """Answer ``call`` or raise :class:`ModelFailure`; either way the ledger holds a line when the call ended."""

        async def work(target: Target, state: _LoopState, bill: _Bill) -> ModelReply[T]:
            return await self._with_retries(call, target, state, bill)

        reply, usage = await self._billed(call, estimate_prompt_tokens(call.system, call.user), work)
        return replace(reply, usage=usage)

    async def transcribe(self, call: PictureCall) -> PictureReply:
        """Answer a call with a picture, watching the answer as it is written; see :class:`PictureClient`."""

        async def work(target: Target, state: _LoopState, bill: _Bill) -> PictureReply:
            async def attempt() -> PictureReply:
                return PictureReply(await self._watch(call, target, state, bill), Usage(), target.model)

            return await with_retries(attempt, self._policy, lambda _failure, _wait: bill.add_retry())

        reply, usage = await self._billed(call, call.prompt_tokens, work)
        return replace(reply, usage=usage)

    async def _billed[R](
        self,
        call: _Asked,
        prompt_tokens: int,
        work: Callable[[Target, _LoopState, _Bill], Awaitable[R]],
    ) -> tuple[R, Usage]:
        """What ``work`` gives, within the limits on calls in flight and on cost, with its line in the ledger."""
        target = await self._target(call.role)
        state = self._loops.setdefault(asyncio.get_running_loop(), _LoopState())
        slot = state.slots.setdefault(target.key, asyncio.Semaphore(target.concurrency))
        bill = _Bill(target.prices)
        async with slot:
            started, clock = datetime.now(UTC).isoformat(timespec="milliseconds"), time.monotonic()
            with self._budget.reserve(prompt_tokens, call.max_output_tokens, target.prices) as reservation:
                try:
                    result = await work(target, state, bill)
                except ModelFailure as failure:
                    failure.usage = bill.usage
                    self._note(call, target, bill, started, clock, failure.kind.value, failure.message)
                    raise
                finally:
                    # Also for a call that was cancelled between tries: what its tries cost is spent.
                    reservation.settle(bill.usage.cost)
                self._note(call, target, bill, started, clock, OK, "")
        return result, bill.usage

    async def _target(self, role: Role) -> Target:
        """The target of ``role``. Loading the client library or a local model takes seconds; others go on meanwhile."""

        def resolve() -> Target:
            import openai  # noqa: F401

            return self._targets.resolve(role)

        if "openai" in sys.modules and self._targets.is_ready(role):
            return resolve()
        return await in_background(resolve)

    async def _with_retries[T: BaseModel](
        self, call: ModelCall[T], target: Target, state: _LoopState, bill: _Bill
    ) -> ModelReply[T]:
        async def attempt() -> ModelReply[T]:
            # The packaged server may have died since the last try; resolving starts it again.
            current = await self._target(call.role) if target.packaged else target
            completion = await self._ask(call, current, state, bill)
            choice = completion.choices[0]
            text = choice.message.content
            if not text and choice.message.refusal:
                raise ModelFailure(FailureKind.EMPTY, f"the model refused: {choice.message.refusal[:200]}")
            value = read_reply(text, choice.finish_reason, call.reply_type)
            return ModelReply(value, Usage(), target.model, text or "")

        return await with_retries(attempt, self._policy, lambda _failure, _wait: bill.add_retry())

    async def _ask[T: BaseModel](self, call: ModelCall[T], target: Target, state: _LoopState, bill: _Bill) -> Any:
        """One answered request."""

        async def send(phrasing: Phrasing) -> Any:
            body = request_body(
                call,
                target.model,
                phrasing.dialect,
                temperature=self._settings.temperature,
                seed=self._settings.seed,
                token_field=phrasing.token_field,
                without=phrasing.without,
            )
            return await self._send(body, target, state, bill)

        return await self._rephrasing(target, send)

    async def _watch(self, call: PictureCall, target: Target, state: _LoopState, bill: _Bill) -> str:
        """The text of one answered request that shows a picture."""

        async def send(phrasing: Phrasing) -> Streamed:
            body = picture_body(
                call,
                target.model,
                temperature=self._settings.temperature,
                seed=self._settings.seed,
                token_field=phrasing.token_field,
                without=phrasing.without,
            )
            return await self._stream(call, body, target, state, bill)

        return judged(await self._rephrasing(target, send))

    async def _rephrasing[R](self, target: Target, send: Callable[[Phrasing], Awaitable[R]]) -> R:
        """What ``send`` gives. An endpoint that refuses a parameter is asked again without it: no retry, a lesson."""
        phrasing = self._phrasings.get(target.key) or first_phrasing(target)
        for _ in range(MOST_LESSONS):
            try:
                answer = await send(phrasing)
            except ModelFailure as failure:
                following = phrasing.after_refusal(failure.message) if failure.kind is FailureKind.BAD_REQUEST else None
                if following is None:
                    raise
                phrasing = following
            else:
                # Only what worked is remembered: a refusal may have had another reason than the one it seemed to name.
                self._phrasings[target.key] = phrasing
                return answer
        raise ModelFailure(FailureKind.BAD_REQUEST, f"{target.base_url} refuses every way to phrase the request")

    async def _send(self, body: dict[str, Any], target: Target, state: _LoopState, bill: _Bill) -> Any:
        import openai
        from openai.types.chat import ChatCompletion

        client = self._client(target, state)
        grammar = {"grammar": body.pop("grammar")} if "grammar" in body else None
        clock = time.monotonic()
        try:
            async with asyncio.timeout(target.timeout_seconds):
                completion = await client.chat.completions.create(**body, extra_body=grammar)
            if not isinstance(completion, ChatCompletion) or not completion.choices:
                raise ValueError(str(completion)[:200])
        except (openai.OpenAIError, TimeoutError, ValueError) as error:
            bill.add_failed(time.monotonic() - clock)
            raise _without_key(classify(error, target.base_url), target) from error
        bill.add(completion.usage, time.monotonic() - clock)
        return completion

    async def _stream(
        self, call: PictureCall, body: dict[str, Any], target: Target, state: _LoopState, bill: _Bill
    ) -> Streamed:
        import openai

        clock, answer = time.monotonic(), Streamed()
        try:
            async with asyncio.timeout(target.timeout_seconds):
                await stream_answer(self._client(target, state), body, call.guard, answer)
        except (openai.OpenAIError, TimeoutError, ValueError) as error:
            bill.add_failed(time.monotonic() - clock)
            raise _without_key(classify(error, target.base_url), target) from error
        except ModelFailure:
            bill.add_failed(time.monotonic() - clock)
            raise
        # An answer that was cut short is paid for as far as it went, though the server sent no count.
        bill.add(answer.usage, time.monotonic() - clock, (call.prompt_tokens, answer.estimated_tokens))
        return answer

    def _client(self, target: Target, state: _LoopState) -> openai.AsyncOpenAI:
        import openai

        key = f"{target.base_url} {target.api_key.get_secret_value()}"
        if key not in state.clients:
            state.clients[key] = openai.AsyncOpenAI(
                base_url=target.base_url,
                api_key=target.api_key.get_secret_value() or "none",
                max_retries=0,  # retries multiply: there is one layer, above
                timeout=openai.Timeout(target.timeout_seconds, connect=CONNECT_SECONDS),
                # A kept connection may be reset just as it is used again, and outlives its event loop.
                default_headers={"Connection": "close"},
                http_client=openai.DefaultAsyncHttpxClient(trust_env=not target.loopback),
            )
        return state.clients[key]

    def _note(
        self, call: _Asked, target: Target, bill: _Bill, started: str, clock: float, outcome: str, message: str
    ) -> None:
        usage = bill.usage
        self._ledger.write(
            LedgerEntry(
                started_at=started,
                role=call.role.value,
                purpose=call.purpose,
                unit=call.unit,
                model=target.model,
                prompt=call.prompt,
                outcome=outcome,
                message=message,
                prompt_tokens=usage.prompt_tokens,
                completion_tokens=usage.completion_tokens,
                cached_tokens=usage.cached_tokens,
                latency_seconds=round(time.monotonic() - clock, 3),
                cost=usage.cost,
                retries=usage.retries,
            )
        )


def _without_key(failure: ModelFailure, target: Target) -> ModelFailure:
    """Some servers repeat the key they refuse; it must not reach a log."""
    key = target.api_key.get_secret_value()
    if not key or key not in failure.message:
        return failure
    message = failure.message.replace(key, "********")
    return ModelFailure(failure.kind, message, failure.usage, failure.raw, failure.retry_after)
