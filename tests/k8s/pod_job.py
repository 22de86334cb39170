"""A job whose steps end in every way a pod can end. Step pods import this module in processes of their own."""

import json
import os
import signal
import time
import urllib.request
from pathlib import Path
from typing import Any

import dagster as dg

from resources.gpu_jobs import CONFIG_TAG, executor_for, op_tags
from starling_assets.settings import Settings, load_settings

#: The deadline that steps which never start run into.
DEADLINE = 3
PORT = os.environ.get("POD_JOB_PORT", "8000")
_CLUSTER = Settings.model_validate({"profile": "cluster", "cluster": {"job_deadline_seconds": 600}})


def _tags(role: str, deadline: int | None = None, gpus: int = 1) -> dict[str, Any]:
    """The tag as the assets carry it, with a free port, and a deadline that a test can wait for."""
    text = json.dumps(
        op_tags(role, _CLUSTER.model_copy(update={"cluster": _CLUSTER.cluster.model_copy(update={"gpus": gpus})}))
    )
    tags: dict[str, Any] = json.loads(text.replace("8000", PORT))
    if deadline is not None:
        tags[CONFIG_TAG]["job_spec_config"]["active_deadline_seconds"] = deadline
    return tags


def _note(context: dg.OpExecutionContext, what: str) -> None:
    folder = Path(os.environ["POD_JOB_NOTES"])
    folder.joinpath(f"{context.op.name}-{time.time_ns()}").write_text(what)


@dg.op(tags=_tags("judge"))
def asks_model(context: dg.OpExecutionContext) -> None:
    """Ask the server in the own pod, by nothing but the settings."""
    endpoint = load_settings().llm.for_role("judge")
    with urllib.request.urlopen(f"{endpoint.base_url}/models", timeout=5) as reply:  # noqa: S310
        served = json.load(reply)["data"][0]["id"]
    assert served == endpoint.model
    _note(context, served)


@dg.op(retry_policy=dg.RetryPolicy(max_retries=1))
def runs_out_of_memory(context: dg.OpExecutionContext) -> None:
    """End as the kernel's out-of-memory killer ends a process: without a word."""
    _note(context, "started")
    os.kill(os.getpid(), signal.SIGKILL)


def _runs_until_ended(context: dg.OpExecutionContext) -> None:
    _note(context, "started")
    time.sleep(600)


@dg.op
def is_deleted(context: dg.OpExecutionContext) -> None:
    """Run until someone deletes the pod."""
    _runs_until_ended(context)


@dg.op
def is_evicted(context: dg.OpExecutionContext) -> None:
    """Run until the node has to get rid of the pod."""
    _runs_until_ended(context)


@dg.op(tags=_tags("extractor", deadline=DEADLINE, gpus=8))
def finds_no_node(context: dg.OpExecutionContext) -> None:
    """Ask for more GPUs than there are."""
    _note(context, "started")


_EXECUTOR = executor_for(_CLUSTER)


@dg.job(executor_def=_EXECUTOR)
def good_pods() -> None:
    """One step that asks its model."""
    asks_model()


@dg.job(executor_def=_EXECUTOR)
def bad_pods() -> None:
    """Steps that end badly, beside each other."""
    runs_out_of_memory()
    is_deleted()
    is_evicted()
    finds_no_node()
