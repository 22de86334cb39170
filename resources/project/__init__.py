"""The project as a Dagster resource: settings, artifact store, shard book."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import polars as pl

from starling_assets.artifacts.store import Store
from starling_assets.literature.shards import ShardBook
from starling_assets.literature.versions import standing
from starling_assets.settings import Settings, load_settings


class ProjectResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Everything below one project folder. ``root`` empty means the folder found from the environment."""

    root: str = ""

    @property
    def settings(self) -> Settings:
        """Effective settings, read anew so that a running code location sees an edited file."""
        return load_settings(Path(self.root) if self.root else None)

    @property
    def store(self) -> Store:
        """The artifact store."""
        return Store(self.settings.store_root)

    @property
    def shards(self) -> ShardBook:
        """The closed shards."""
        return ShardBook(self.settings.home)

    def standing(self) -> pl.DataFrame:
        """Which stored paper versions count, over all shards that have been read (columns STANDING)."""
        read = [key for key in self.shards.in_order() if self.store.exists("papers", key)]
        return standing((key, self.store.read("papers", key)) for key in read)

    @property
    def task_folders(self) -> list[Path]:
        """Folders that hold task folders, own ones first: they win over packaged ones of the same name."""
        packaged = Path(__file__).resolve().parents[2] / "starling_assets" / "tasks"
        own = [self.settings.tasks_dir] if self.settings.tasks_dir else []
        return [*own, self.settings.home / "tasks", packaged]
