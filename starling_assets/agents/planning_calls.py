"""The typed calls of planning: propose filters, validate passages, investigate misses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from starling_assets.inference.calls import FailureKind, ModelCall, ModelFailure, Role
from starling_assets.tagging.entity_types import EntityType

from .prompting import fence, read_prompt, visible
from .tasks import Task

_TERM = {"type": "string", "maxLength": 80}
_GROUPS = {
    "type": "array",
    "maxItems": 6,
    "items": {"type": "array", "maxItems": 12, "items": _TERM},
}


def _text(limit: int) -> dict[str, object]:
    return {"type": "string", "maxLength": limit}


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Passage(_Reply):
    """A passage of the corpus as validators see it."""

    key: str
    paper_id: str
    text: str


class Action(_Reply):
    """One step of the proposer. ``name`` is the filter's; unused keys are empty."""

    kind: Literal["explore", "add", "revise", "remove", "stop"]
    name: Annotated[str, WithJsonSchema(_text(40))] = ""
    entity_groups: Annotated[list[list[str]], WithJsonSchema(_GROUPS)] = Field(default_factory=list)
    semantic_query: Annotated[str, WithJsonSchema(_text(300))] = ""
    why: Annotated[str, WithJsonSchema(_text(200))] = ""


class Proposal(_Reply):
    """What the proposer wants done, in order."""

    actions: Annotated[list[Action], Field(json_schema_extra={"maxItems": 6})]


class Relevance(_Reply):
    """One passage's verdict."""

    id: Annotated[str, WithJsonSchema(_text(8))]
    relevant: bool
    why: Annotated[str, WithJsonSchema(_text(120))] = ""


class Validation(_Reply):
    """One verdict per passage id."""

    verdicts: Annotated[list[Relevance], Field(json_schema_extra={"maxItems": 24})]


class Suggestions(_Reply):
    """What the investigator advises."""

    suggestions: Annotated[
        list[str], WithJsonSchema({"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 200}})
    ]


class Focus(StrEnum):
    """What the investigator looks at."""

    FALSE_HITS = "passages that pass the filter and are not relevant: how to exclude them without losing relevant ones"
    MISSED = "relevant passages that no filter matches: which term or filter would match them"
    TERMS = "terms of the filter that mean something else than intended, or are too narrow or too wide"
    OVERLAP = "filters that match the same passages: which could be dropped or narrowed"


def propose_call(task: Task, state: str, unit: str, max_output_tokens: int) -> ModelCall[Proposal]:
    """Ask the proposer for actions; ``state`` is what is known so far, as text."""
    system = read_prompt("propose").fill(
        {
            "sentence": task.sentence,
            "types": ", ".join(kind.value for kind in EntityType),
            "precision": f"{task.targets.precision:.0%}",
            "gap": f"{task.targets.recall_gap:.0%}",
            "max_probes": str(task.targets.max_probes),
        }
    )
    return ModelCall(
        Role.PROPOSER,
        f"{task.name}/propose",
        unit,
        system,
        fence("STATE", state),
        Proposal,
        read_prompt("propose").reference,
        max_output_tokens,
    )


def validate_call(task: Task, passages: Sequence[Passage], unit: str, max_output_tokens: int) -> ModelCall[Validation]:
    """Ask the validator about some passages, by the ids p1, p2, …"""
    shown = "\n\n".join(f"id: p{n}\n{visible(passage.text)}" for n, passage in enumerate(passages, start=1))
    return ModelCall(
        Role.VALIDATOR,
        f"{task.name}/validate",
        unit,
        read_prompt("validate").fill({"sentence": task.sentence}),
        fence("PASSAGES", shown),
        Validation,
        read_prompt("validate").reference,
        max_output_tokens,
    )


def investigate_call(
    task: Task, focus: Focus, subject: str, passages: Sequence[Passage], unit: str, max_output_tokens: int
) -> ModelCall[Suggestions]:
    """Ask the investigator why ``passages`` go wrong under the filter described by ``subject``."""
    shown = "\n\n".join([subject, *(visible(passage.text) for passage in passages)])
    system = read_prompt("investigate").fill({"sentence": task.sentence, "focus": focus.value})
    return ModelCall(
        Role.INVESTIGATOR,
        f"{task.name}/investigate",
        unit,
        system,
        fence("MATERIAL", shown),
        Suggestions,
        read_prompt("investigate").reference,
        max_output_tokens,
    )


def relevance_of(reply: Validation, passages: Sequence[Passage]) -> list[bool]:
    """The verdicts in the order of ``passages``; a missing, unknown or repeated id refuses the reply."""
    expected = [f"p{n}" for n in range(1, len(passages) + 1)]
    counts = Counter(verdict.id for verdict in reply.verdicts)
    if sorted(counts) != sorted(expected) or any(count != 1 for count in counts.values()):
        raise ModelFailure(FailureKind.SCHEMA_MISMATCH, f"verdicts for {sorted(counts)}, asked for {expected}")
    found = {verdict.id: verdict.relevant for verdict in reply.verdicts}
    return [found[name] for name in expected]
