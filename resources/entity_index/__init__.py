"""Entity indexes: memory-mapped bitmaps on one machine, ClickHouse in a cluster."""

from .resource import EntityIndexResource

__all__ = ["EntityIndexResource"]
