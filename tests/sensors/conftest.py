"""Fixtures of the sensor tests."""

from .fixtures import daemon, inbox

__all__ = ["daemon", "inbox"]
