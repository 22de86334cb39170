"""Model endpoints: the one implementation of the door (:class:`starling_assets.inference.calls.ModelClient`)."""

from .building import build_client
from .checking import EndpointStatus, check_endpoint
from .client import OpenAiClient
from .resource import ModelClientResource

__all__ = ["EndpointStatus", "ModelClientResource", "OpenAiClient", "build_client", "check_endpoint"]
