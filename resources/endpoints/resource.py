"""The door as a Dagster resource."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
from pydantic import Field

from starling_assets.inference.budget import Budget
from starling_assets.inference.ledger import Ledger
from starling_assets.settings import Settings, load_settings

from .building import build_client
from .client import OpenAiClient


class ModelClientResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Hands out the one door for model calls, with the project's ledger and a bound on cost."""

    project: str = Field("", description="project folder; empty means the one this process runs in")

    def settings(self) -> Settings:
        """The project's settings."""
        return load_settings(Path(self.project) if self.project else None)

    def client(self, max_cost: float | None = None) -> OpenAiClient:
        """A client whose calls together cost at most ``max_cost`` US dollars (``None``: no bound)."""
        settings = self.settings()
        return build_client(settings, Ledger(settings.ledger_dir), Budget(max_cost))
