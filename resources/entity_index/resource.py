"""The entity index as a Dagster resource."""

from __future__ import annotations

from pathlib import Path

import dagster as dg

from starling_assets.retrieval.protocols import EntityIndex
from starling_assets.settings import Settings, load_settings


class EntityIndexResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Postings of entities: memory-mapped files in the embedded profile, ClickHouse in the cluster profile.

    ``root`` is the folder of the files; empty means the project's home folder.
    """

    root: str = ""

    def index(self) -> EntityIndex:
        """The index of the project's profile; connects and opens only when it is asked something."""
        return entity_index(load_settings(), Path(self.root) if self.root else None)


def entity_index(settings: Settings, root: Path | None = None) -> EntityIndex:
    """The entity index that ``settings`` describe; ``root`` overrides the folder of the embedded profile."""
    if settings.profile == "cluster":
        from .clickhouse import ClickHouseEntityIndex
        from .clickhouse_door import ClickHouseDoor, http_connection

        password = settings.cluster.clickhouse_password.get_secret_value()
        return ClickHouseEntityIndex(ClickHouseDoor(http_connection(settings.cluster.clickhouse_url, password)))
    from .local import LocalEntityIndex

    return LocalEntityIndex(root or settings.home / "index" / "entities")
