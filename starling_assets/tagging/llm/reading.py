"""One pass over one passage: the call, its reply, and the second try in halves where the reply is of no use (F6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starling_assets.artifacts.journal import Outcome
from starling_assets.artifacts.keys import content_key
from starling_assets.inference.calls import (
    UNUSABLE,
    FailureKind,
    ModelCall,
    ModelClient,
    ModelFailure,
    ModelReply,
    Role,
    Usage,
)
from starling_assets.inference.prompting import fence
from starling_assets.journalled import failed_outcome
from starling_assets.tagging.entity_types import EntityType

from .passages import Passage
from .prompts import system_prompt
from .replies import Named, Reply, is_full, named, reply_type


@dataclass(frozen=True, slots=True)
class Pass:
    """One passage read for one type, or for all types at once (``entity_type`` None). ``unit`` is its journal key."""

    unit: str
    passage: Passage
    entity_type: EntityType | None


def role_of(entity_type: EntityType | None) -> Role:
    """Who is asked: the teacher for one type, the student for all."""
    return Role.TAGGER if entity_type is None else Role.TEACHER


def plan_passes(passages: Sequence[Passage], types: Sequence[EntityType | None], model: str) -> list[Pass]:
    """All passes in the order in which they are paid for: type by type, passage by passage.

    Calls of one type share their long system prompt: one after the other, even a server with a single slot reads it
    once. The unit key is made of the passage's content, the prompt and the model.
    """
    found = []
    for entity_type in types:
        reference = system_prompt(entity_type).reference
        found += [
            Pass(content_key(passage.key, reference, model), passage, entity_type) for passage in passages
        ]  # fmt: skip
    return found


def tag_call(
    unit: str, passage: Passage, entity_type: EntityType | None, max_output_tokens: int, purpose: str
) -> ModelCall[Any]:
    """The call that reads ``passage`` for one type or for all."""
    prompt = system_prompt(entity_type)
    return ModelCall(
        role=role_of(entity_type),
        purpose=purpose,
        unit=unit,
        system=prompt.text,
        user=fence("PASSAGE", passage.text),
        reply_type=reply_type(entity_type),
        prompt=prompt.reference,
        max_output_tokens=max_output_tokens,
    )


def purpose_of(entity_type: EntityType | None) -> str:
    """What the ledger and the estimates call a pass."""
    return "tagging/joint" if entity_type is None else f"tagging/{entity_type.name.lower()}"


async def read_pass(item: Pass, client: ModelClient, max_output_tokens: int) -> tuple[Outcome, Usage]:
    """The outcome of one pass. Fatal and passing failures are raised; an unusable reply is retried once in halves.

    The payload is ``{"entities": [...], "model": …, "prompt": …, "split": bool}`` with the entities as the model gave
    them; nothing in it is checked against the text, so a better rule of grounding needs no new call.
    """
    try:
        entities, usage = await _ask(item, item.passage, client, max_output_tokens)
        return _outcome(item, entities, usage, client, split=False), usage
    except ModelFailure as failure:
        halves = item.passage.halves()
        if failure.kind not in UNUSABLE:
            raise
        paid = failure.usage
        if halves is None:
            return failed_outcome(item.unit, failure, paid), paid
    entities = []
    for half in halves:
        try:
            found, usage = await _ask(item, half, client, max_output_tokens)
        except ModelFailure as failure:
            total = paid + failure.usage
            if failure.kind not in UNUSABLE:
                raise ModelFailure(failure.kind, failure.message, total, failure.raw) from failure
            return failed_outcome(item.unit, failure, total), total
        entities += found
        paid += usage
    return _outcome(item, entities, paid, client, split=True), paid


def entities_of(outcome: Outcome) -> list[Named]:
    """The entities of a journalled outcome; none for a failed one."""
    payload = outcome.payload if outcome.status != "failed" and isinstance(outcome.payload, dict) else {}
    return [Named.from_dict(values) for values in payload.get("entities", [])]


async def _ask(item: Pass, passage: Passage, client: ModelClient, max_output_tokens: int) -> tuple[list[Named], Usage]:
    reply: ModelReply[Reply] = await client.complete(
        tag_call(item.unit, passage, item.entity_type, max_output_tokens, purpose_of(item.entity_type))
    )
    if is_full(reply.value):
        message = "a list of the reply is as long as it may be: entities may be missing"
        raise ModelFailure(FailureKind.TRUNCATED, message, reply.usage, reply.raw)
    return named(reply.value, item.entity_type), reply.usage


def _outcome(item: Pass, entities: list[Named], usage: Usage, client: ModelClient, *, split: bool) -> Outcome:
    return Outcome(
        unit=item.unit,
        status="ok" if entities else "empty",
        payload={
            "entities": [entity.as_dict() for entity in entities],
            "model": client.model_name(role_of(item.entity_type)),
            "prompt": system_prompt(item.entity_type).reference,
            "split": split,
        },
        usage=usage.as_dict(),
    )
