"""Embedders: texts to unit vectors."""

from .resource import EmbedderResource

__all__ = ["EmbedderResource"]
