"""A busy machine is no failure: property tests of this room have no deadline per example."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
