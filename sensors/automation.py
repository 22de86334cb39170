"""Automation by kind: a slow stage cannot hold up the rest."""

from __future__ import annotations

import dagster as dg

_SECONDS = 10

automation_sensors = [
    dg.AutomationConditionSensorDefinition(
        "extract_from_new_shards",
        target=dg.AssetSelection.groups("retrieval", "extraction"),
        default_status=dg.DefaultSensorStatus.RUNNING,
        minimum_interval_seconds=_SECONDS,
    ),
    dg.AutomationConditionSensorDefinition(
        "rebuild_datasets",
        target=dg.AssetSelection.groups("datasets", "marts"),
        default_status=dg.DefaultSensorStatus.RUNNING,
        minimum_interval_seconds=_SECONDS,
    ),
]
