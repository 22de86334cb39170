"""Putting the door together from the settings."""

from __future__ import annotations

from resources.local_model.server import LocalServer, acquire
from starling_assets.inference.budget import Budget
from starling_assets.inference.ledger import Ledger
from starling_assets.settings import Settings

from .client import OpenAiClient
from .targets import Targets


def build_client(settings: Settings, ledger: Ledger | None = None, budget: Budget | None = None) -> OpenAiClient:
    """The door for ``settings``. Raises :class:`EndpointError` where an endpoint is half configured.

    Without an endpoint the packaged model answers: its server is started, or found running, at the first call, and is
    held until this process ends (see ``resources.local_model.server``). Ledger and budget default to the project's
    ledger folder and to counting without a bound.
    """

    def local() -> LocalServer:
        return acquire(settings)

    return OpenAiClient(
        settings.llm, Targets(settings, local), ledger or Ledger(settings.ledger_dir), budget or Budget(None)
    )
