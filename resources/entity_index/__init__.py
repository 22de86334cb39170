"""Entity indexes: memory-mapped bitmaps on one machine, ClickHouse in a cluster."""
