"""Policy applied once, by mapping over all asset specs: owners, tags, automation.

Automation is level-triggered: a missing partition whose inputs exist is requested, whatever event was lost. A failed
one waits for a person (or `starling retry`), so a broken shard cannot spend money in a loop.
"""

from __future__ import annotations

import dagster as dg

_OWNER = "team:starling"
_CONDITION = dg.AutomationCondition

#: Made as soon as everything it needs is there; not again by itself once it exists or has failed.
FILL_GAPS = (
    _CONDITION.missing()
    & ~_CONDITION.any_deps_missing()
    & ~_CONDITION.any_deps_in_progress()
    & ~_CONDITION.in_progress()
    & ~_CONDITION.execution_failed()
).with_label("fill_gaps")

#: Made again when an input changed; other shards may still be missing.
FOLLOW_INPUTS = (
    (_CONDITION.any_deps_updated() | _CONDITION.missing()).since_last_handled()
    & ~_CONDITION.any_deps_in_progress()
    & ~_CONDITION.in_progress()
).with_label("follow_inputs")

#: Groups filled cell by cell. Shards are started by the drop-folder sensor, plans by a person.
_FILLED = frozenset({"retrieval", "extraction"})
_FOLLOWING = frozenset({"datasets", "marts"})


def with_policy(spec: dg.AssetSpec) -> dg.AssetSpec:
    """The spec with owner, stage tag and automation condition."""
    condition = spec.automation_condition
    if spec.group_name in _FILLED:
        condition = FILL_GAPS
    elif spec.group_name in _FOLLOWING:
        condition = FOLLOW_INPUTS
    return spec.replace_attributes(
        owners=[_OWNER], tags={**spec.tags, "starling/stage": spec.group_name or ""}, automation_condition=condition
    )
