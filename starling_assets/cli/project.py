"""What every command needs: settings, folders, the resources of this process."""

from __future__ import annotations

from pathlib import Path

from resources.project import ProjectResource
from starling_assets.agents.tasks import task_names
from starling_assets.artifacts.store import Store
from starling_assets.literature.shards import ShardBook
from starling_assets.settings import Settings, load_settings, project_root

from .errors import UserError


class Project:
    """The project of the current folder."""

    def __init__(self) -> None:
        self.root = project_root()
        self.settings: Settings = load_settings(self.root)
        self.store = Store(self.settings.store_root)
        self.book = ShardBook(self.settings.home)

    @property
    def task_folders(self) -> list[Path]:
        """Where tasks are looked for, own ones first."""
        return ProjectResource(root=str(self.root)).task_folders

    def check_task(self, name: str) -> None:
        """Raise UserError naming the tasks there are when ``name`` is not one."""
        names = task_names(self.task_folders)
        if name not in names:
            raise UserError(
                f"there is no task {name!r}. Tasks: {', '.join(names)}. `starling task copy` makes a new one."
            )

    def dataset_tasks(self) -> list[str]:
        """Tasks whose dataset has been made."""
        return [key[0] for key in self.store.partitions("judged_dataset")]
