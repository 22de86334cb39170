"""The asset that trains the encoder of the embedded tagger, in an environment of its own. Started by a person only."""

import shutil
import sys
from pathlib import Path

import dagster as dg

from resources.project import ProjectResource

_JOB = Path(__file__).resolve().parents[2] / "training" / "job.py"


class TaggerTraining(dg.Config):
    """Folder of the gold corpora, the interpreter of the training environment, and how long to train."""

    gold: str
    python: str
    epochs: int = 4


@dg.asset(group_name="distillation", pool="cpu", kinds={"pytorch"})
def tagger_model(
    context: dg.AssetExecutionContext, config: TaggerTraining, project: ProjectResource
) -> dg.MaterializeResult:
    """A tagger trained on gold corpora by training/job.py, in an environment of training/requirements.txt."""
    python = shutil.which(config.python)
    if python is None:
        raise dg.Failure(
            f"python is {config.python!r}, no interpreter: make an environment of training/requirements.txt"
        )
    if not _JOB.is_file() or not Path(config.gold).is_dir():
        raise dg.Failure(f"training needs {_JOB} (a checkout) and a folder of gold corpora, not {config.gold}")
    folder = project.store.folder("tagger_model")
    command = [sys.executable, str(_JOB), config.gold, str(folder), "--python", python, "--pipes"]
    invocation = dg.PipesSubprocessClient().run(
        command=[*command, "--epochs", str(config.epochs)], context=context.op_execution_context
    )
    return invocation.get_materialize_result()
