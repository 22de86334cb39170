"""The project's Dagster instance: its home folder, its configuration, runs left behind by dead processes."""

from __future__ import annotations

import os

import dagster as dg

from starling_assets.artifacts.files import write_text
from starling_assets.settings import Settings

PID_TAG = "starling/pid"

_DAGSTER_YAML = """\
# Written once by Starling; edits are kept.
telemetry:
  enabled: false
nux:
  # no sign-up dialog in a self-hosted UI
  enabled: false
run_retries:
  enabled: false
concurrency:
  runs:
    max_concurrent_runs: 2
  pools:
    # Slots are freed when the run ends, also when it died: otherwise a pool can wait for ever.
    default_limit: 2
    granularity: run
run_monitoring:
  enabled: true
  free_slots_after_run_end_seconds: 30
"""


def open_instance(settings: Settings) -> dg.DagsterInstance:
    """The instance under ``<home>/dagster``; created on first use. Dead runs of the command line are closed."""
    home = settings.dagster_home
    home.mkdir(parents=True, exist_ok=True)
    config = home / "dagster.yaml"
    if not config.exists():
        write_text(config, _DAGSTER_YAML)
    os.environ["DAGSTER_HOME"] = str(home)
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "yes")
    instance = dg.DagsterInstance.get()
    close_dead_runs(instance)
    return instance


def close_dead_runs(instance: dg.DagsterInstance) -> list[str]:
    """Mark runs as failed whose process (tag ``starling/pid``) is gone: a kill -9 leaves them `started` for ever."""
    active = dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.STARTING])
    closed = []
    for run in instance.get_runs(active):
        pid = run.tags.get(PID_TAG, "")
        if pid.isdigit() and not _alive(int(pid)):
            instance.report_run_failed(run, f"its process {pid} ended without a word; run the command again")
            closed.append(run.run_id)
    return closed


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
