"""Model endpoints: the one implementation of the door (:class:`starling_assets.inference.calls.ModelClient`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .building import build_client
from .checking import EndpointStatus, check_endpoint
from .client import OpenAiClient
from .targets import EndpointError

if TYPE_CHECKING:
    from .resource import ModelClientResource

__all__ = ["EndpointError", "EndpointStatus", "ModelClientResource", "OpenAiClient", "build_client", "check_endpoint"]


def __getattr__(name: str) -> Any:
    # Whoever only checks an endpoint (`starling doctor`) need not wait for Dagster to load.
    if name == "ModelClientResource":
        from .resource import ModelClientResource

        return ModelClientResource
    raise AttributeError(name)
