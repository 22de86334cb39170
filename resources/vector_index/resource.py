"""The vector index as a Dagster resource."""

from __future__ import annotations

from pathlib import Path

import dagster as dg

from starling_assets.retrieval.protocols import VectorIndex
from starling_assets.settings import Settings, load_settings


class VectorIndexResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Vectors of chunks: FAISS files in the embedded profile, Milvus in the cluster profile.

    ``root`` is the folder of the files; empty means the project's home folder.
    """

    root: str = ""

    def index(self, model: str | None = None) -> VectorIndex:
        """The index of the project's profile; ``model`` pins the collection that is read, None = the active one."""
        return vector_index(load_settings(), Path(self.root) if self.root else None, model)


def vector_index(settings: Settings, root: Path | None = None, model: str | None = None) -> VectorIndex:
    """The vector index that ``settings`` describe; ``root`` overrides the folder of the embedded profile."""
    if settings.profile == "cluster":
        from .milvus import MilvusVectorIndex
        from .milvus_door import MilvusDoor

        door = MilvusDoor(settings.cluster.milvus_uri, settings.cluster.milvus_token.get_secret_value())
        return MilvusVectorIndex(door, settings.retrieval, model, index_type="HNSW")
    from .faiss_index import FaissVectorIndex

    return FaissVectorIndex(root or settings.home / "index" / "vectors", settings.retrieval, model)
