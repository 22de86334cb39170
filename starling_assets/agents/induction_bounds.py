"""The most that both loops may ask of each role, before they start: from their limits alone, so an upper bound."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from starling_assets.inference.calls import Role

from .indexed_passages import SHOWN
from .induction import InductionLimits
from .tasks import Task

#: Characters of a loop's own state in a prompt (filters, notes, facts); what a long loop writes, not a limit.
_STATE = 12_000
#: Both loops ask once more after an answer that cannot be used.
_TRIES = 2
#: Passages that the investigator is shown at once.
_MISSES = 5
#: Records of one passage that are judged at most.
_RECORDS = 8


@dataclass(frozen=True, slots=True)
class CallBound:
    """At most ``calls`` calls of ``role``, each with about ``characters`` of material and so many output tokens."""

    role: Role
    what: str
    calls: int
    characters: int
    max_output_tokens: int


def call_bounds(task: Task, limits: InductionLimits, chunks: int) -> list[CallBound]:
    """A row per kind of call. ``chunks``: passages in the whole corpus; no loop reads more than there are."""
    loop, schema, filters = limits.probes, limits.schema, task.targets.max_probes
    batches = filters * ceil(min(loop.sample, chunks) / loop.validate_batch)
    batches += ceil(min(loop.gap_papers, chunks) / loop.validate_batch)
    rounds = loop.max_iterations
    passages = min(limits.passages * filters, chunks)
    judged = ceil(_RECORDS / schema.judge_batch)
    batch = loop.validate_batch * SHOWN
    out, long_out = loop.output_tokens, schema.output_tokens
    return [
        CallBound(Role.PROPOSER, "propose filters", rounds, _STATE, out),
        CallBound(Role.VALIDATOR, "judge passages", rounds * batches * _TRIES, batch, out),
        CallBound(Role.INVESTIGATOR, "read the misses", rounds * (filters + 1), _MISSES * SHOWN, out),
        CallBound(Role.EXTRACTOR, "read freely", passages, SHOWN, long_out),
        CallBound(Role.PROPOSER, "unify into a schema", schema.max_rounds * _TRIES, _STATE, long_out),
        CallBound(Role.EXTRACTOR, "try the schema", schema.max_rounds * passages, SHOWN, long_out),
        CallBound(Role.VALIDATOR, "judge its records", schema.max_rounds * passages * judged, 2 * SHOWN, long_out),
    ]
