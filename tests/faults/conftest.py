"""Fixtures these tests share with others."""

from tests.sensors.fixtures import daemon, inbox

__all__ = ["daemon", "inbox"]
