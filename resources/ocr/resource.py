"""The Dagster face of the OCR engines."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
from pydantic import Field

from starling_assets.settings import load_settings

from .choosing import Choice, choose_engine


class OcrResource(dg.ConfigurableResource[Choice]):
    """Hands out the engine that the project's settings name."""

    project: str = Field("", description="project folder; empty means the one this process runs in")

    def choice(self) -> Choice:
        """The engine, or why there is none."""
        return choose_engine(load_settings(Path(self.project) if self.project else None))
