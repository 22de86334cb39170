"""The vector index as a Dagster resource."""

from __future__ import annotations

from pathlib import Path

import dagster as dg

from starling_assets.retrieval.protocols import VectorIndex
from starling_assets.settings import load_settings


class VectorIndexResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Vectors of chunks. ``root`` empty means the project's home folder."""

    root: str = ""

    def index(self, model: str | None = None) -> VectorIndex:
        """The index; ``model`` pins the collection that is read, None = the active one."""
        from .faiss_index import FaissVectorIndex

        settings = load_settings()
        root = Path(self.root) if self.root else settings.home / "index" / "vectors"
        return FaissVectorIndex(root, settings.retrieval, model)
