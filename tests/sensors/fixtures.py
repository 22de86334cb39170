"""A project with a drop folder and an instance in memory."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from .daemon import Daemon


class Inbox:
    """The drop folder; files are as old as if they had settled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)

    def drop(self, name: str, text: str, age_seconds: float = 60) -> Path:
        """Put a file into the folder."""
        path = self.folder / name
        path.write_text(text)
        then = time.time() - age_seconds
        os.utime(path, (then, then))
        return path


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    (tmp_path / "starling.toml").write_text("")
    return Inbox(tmp_path / ".starling" / "inbox")


@pytest.fixture
def daemon(tmp_path: Path, inbox: Inbox) -> Iterator[Daemon]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield Daemon(instance, str(tmp_path))
