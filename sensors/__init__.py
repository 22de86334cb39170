"""Sensors: new papers in the drop folder become shards."""
