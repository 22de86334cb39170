"""Entity indexes: memory-mapped bitmaps on one machine, ClickHouse in a cluster."""

from .resource import EntityIndexResource, entity_index

__all__ = ["EntityIndexResource", "entity_index"]
