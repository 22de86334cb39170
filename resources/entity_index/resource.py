"""The entity index as a Dagster resource."""

from __future__ import annotations

from pathlib import Path

import dagster as dg

from starling_assets.retrieval.protocols import EntityIndex
from starling_assets.settings import load_settings


class EntityIndexResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Postings of entities. ``root`` empty means the project's home folder."""

    root: str = ""

    def index(self) -> EntityIndex:
        """The index; cheap to make, opens shards as they are asked for."""
        from .local import LocalEntityIndex

        root = Path(self.root) if self.root else load_settings().home / "index" / "entities"
        return LocalEntityIndex(root)
