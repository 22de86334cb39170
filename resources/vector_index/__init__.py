"""Vector indexes: memory-mapped FAISS on one machine, Milvus in a cluster."""

from .resource import VectorIndexResource, vector_index

__all__ = ["VectorIndexResource", "vector_index"]
