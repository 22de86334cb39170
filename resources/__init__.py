"""Dagster resources: whatever has a connection, a device or a bill. One folder per kind."""
