"""The whole training job: prepare, train, export. Started by the asset ``tagger_model`` through Dagster Pipes.

    python training/job.py GOLD FOLDER --python TRAINING_PYTHON [--epochs 4]

The first step runs in the project's environment, the others in that of ``requirements.txt``. A model is left in FOLDER;
putting it into the package is a person's decision.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from dagster_pipes import PipesContext, open_dagster_pipes

HERE = Path(__file__).resolve().parent


def run(python: str, script: str, *arguments: str) -> list[str]:
    """Run a step; its lines are shown as they come. Ends the job with the step's own message when it fails."""
    lines: list[str] = []
    command = [python, str(HERE / script), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            lines.append(line.rstrip("\n"))
    if process.returncode:
        raise SystemExit(f"{script} ended with status {process.returncode}")
    return lines


def job(gold: Path, folder: Path, python: str, epochs: int) -> dict[str, Any]:
    """Metadata of the model that was made."""
    folder.mkdir(parents=True, exist_ok=True)
    data, weights, model = folder / "data.npz", folder / "weights.npz", folder / "tagger.onnx"
    run(sys.executable, "prepare.py", str(gold), str(data))
    lines = run(python, "train.py", str(data), str(weights), "--epochs", str(epochs))
    run(python, "export.py", str(weights), str(data), str(model))
    last = json.loads([line for line in lines if line.startswith("{")][-1])
    content = model.read_bytes()
    return {
        "model": str(model),
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "seconds": last["seconds"],
        "development_f1": last["f1"],
    }


def main() -> None:
    """Run the job; report to Dagster when it was started by it, else print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", required=True)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--pipes", action="store_true", help="report to the Dagster run that started this")
    options = parser.parse_args()
    with open_dagster_pipes() if options.pipes else nullcontext() as context:
        result = job(options.gold, options.folder, options.python, options.epochs)
        if isinstance(context, PipesContext):
            figures = {"raw_value": result.pop("development_f1"), "type": "json"}
            context.report_asset_materialization(metadata={**result, "development_f1": figures})
        else:
            print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
