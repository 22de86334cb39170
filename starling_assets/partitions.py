"""Partitions of the house: paper shards, tasks, their product, ontologies, and entity types.

Shards and tasks are dynamic; multi-partition keys order their dimensions by name, so they are always built with
:func:`task_shard_key`, never by hand.
"""

from __future__ import annotations

import dagster as dg

from starling_assets.ontology.releases import RELEASES
from starling_assets.tagging.entity_types import EntityType

#: A batch of at most 10,000 papers. A shard never changes after it is closed.
shards = dg.DynamicPartitionsDefinition(name="shard")
#: One per task folder.
tasks = dg.DynamicPartitionsDefinition(name="task")
#: Retrieval sets, extractions and judgments: a new shard is one new column of small partitions.
task_shards = dg.MultiPartitionsDefinition({"task": tasks, "shard": shards})
#: Vocabulary releases.
ontologies = dg.StaticPartitionsDefinition(sorted(RELEASES))
#: Validation of vocabularies: one per entity type.
entity_types = dg.StaticPartitionsDefinition(sorted(item.value for item in EntityType))


def task_shard_key(task: str, shard: str) -> dg.MultiPartitionKey:
    """Key of one cell of the task × shard grid."""
    return dg.MultiPartitionKey({"task": task, "shard": shard})


def task_and_shard(context: dg.AssetExecutionContext) -> tuple[str, str]:
    """Task and shard of a step over :data:`task_shards`."""
    key = context.partition_key
    if not isinstance(key, dg.MultiPartitionKey):
        raise TypeError(f"partition key {key!r} has one dimension, two are needed: task and shard")
    return key.keys_by_dimension["task"], key.keys_by_dimension["shard"]
