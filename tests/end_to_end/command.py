"""The command line as a user starts it: a process of its own, in a project folder of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

STARLING = Path(sys.executable).parent / "starling"


@dataclass
class Project:
    """A project folder and the environment its commands run in."""

    root: Path
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.root / ".starling"

    def environment(self) -> dict[str, str]:
        """The caller's environment without its own settings, plus the project's."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("STARLING_", "OPENAI_", "DAGSTER_"))}
        return {**clean, "STARLING_PROJECT": str(self.root), "COLUMNS": "200", **self.environ}

    def run(self, *arguments: str, check: bool = True, timeout: float = 500) -> subprocess.CompletedProcess[str]:
        """Run one command to its end."""
        done = subprocess.run(
            [str(STARLING), *arguments],
            cwd=self.root,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"{arguments} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start one command and return at once; its output goes to a file."""
        with (self.root / "started.log").open("w") as log:  # the child keeps its own copy of the descriptor
            return subprocess.Popen(
                [str(STARLING), *arguments], cwd=self.root, env=self.environment(), stdout=log, stderr=log, text=True
            )

    def copy(self, root: Path, **environ: str) -> Project:
        """A copy of the whole project folder."""
        shutil.copytree(self.root, root)
        return Project(root, {**self.environ, **environ})


def new_project(root: Path, **environ: str) -> Project:
    """An empty project folder."""
    root.mkdir(parents=True)
    (root / "starling.toml").write_text("")
    return Project(root, environ)
