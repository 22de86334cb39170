"""Vector indexes: memory-mapped FAISS on one machine, Milvus in a cluster."""

from .resource import VectorIndexResource

__all__ = ["VectorIndexResource"]
