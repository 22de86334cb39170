"""The main job as Dagster runs of this process: each stretch of the graph that is not done yet.

Runs go through the project's instance, so the UI shows them. What is already there is not made again; extraction is
always asked, since its journal knows what is missing and pays for nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import dagster as dg

from sensors.drop_folder import ISSUE_TAG, PartitionRegister
from starling_assets.artifacts.store import Store
from starling_assets.definitions import defs
from starling_assets.defs import jobs
from starling_assets.inference.calls import FATAL
from starling_assets.literature.shards import ShardBook
from starling_assets.ontology.releases import RELEASES
from starling_assets.partitions import task_shard_key
from starling_assets.settings import Settings

from .instance import PID_TAG

_FAILURE_REASON, _TERMINATED = "dagster/failure_reason", "UNEXPECTED_TERMINATION"
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


class StageFailed(Exception):
    """A run failed; the message is the innermost cause, in one line, with the partition.

    ``fatal``: the endpoint refuses (key, quota) or the budget is spent, so no further cell can go better.
    """

    def __init__(self, message: str, *, fatal: bool = False) -> None:
        super().__init__(message)
        self.fatal = fatal


@dataclass
class Pipeline:
    """Runs stretches of the graph in this process."""

    settings: Settings
    instance: dg.DagsterInstance

    @property
    def store(self) -> Store:
        """The artifact store."""
        return Store(self.settings.store_root)

    @property
    def book(self) -> ShardBook:
        """The closed shards."""
        return ShardBook(self.settings.home)

    def vocabulary(self, *, again: bool = False) -> None:
        """Import the vocabulary releases and compile the lexicon, unless they are there."""
        if self.store.exists("lexicon") and not again:
            return
        names = sorted(RELEASES)
        span = {"dagster/asset_partition_range_start": names[0], "dagster/asset_partition_range_end": names[-1]}
        self._run(jobs.VOCABULARY.name, None, "vocabulary releases", tags=span)
        self._run(jobs.LEXICON.name, None, "lexicon")

    def plan(self, task: str) -> None:
        """Read the task's folder, resolve its probes, freeze its schema."""
        self.instance.add_dynamic_partitions("task", [task])
        self._run(jobs.PLANNING.name, task, f"plan of {task}")

    def corpus(self, shard: str, *, again: bool = False) -> None:
        """Read, tag and index a shard, unless that is done."""
        register = PartitionRegister(self.book)
        exists = self.instance.has_dynamic_partition("shard", shard)
        if not exists:
            register.withdraw_if_seen(shard)
            self.instance.add_dynamic_partitions("shard", [shard])
        issue = register.issue(shard, exists=True)
        if exists and not again and self.indexed(shard):
            return
        self._run(jobs.CORPUS.name, shard, f"shard {shard}", tags={ISSUE_TAG: str(issue)})

    def indexed(self, shard: str) -> bool:
        """Whether the shard's last corpus assets exist."""
        keys = [dg.AssetKey("entity_index"), dg.AssetKey("vector_index")]
        return all(shard in self.instance.get_materialized_partitions(key) for key in keys)

    def extract(self, task: str, shard: str) -> None:
        """Retrieve, extract and judge one task over one shard; pays only for what is missing."""
        self._run(jobs.EXTRACTION.name, task_shard_key(task, shard), f"{task} over {shard}")

    def retrieve(self, task: str) -> None:
        """Everything before the first model call: vocabulary, plan, corpus, ranked windows of every shard."""
        self.vocabulary()
        self.plan(task)
        for shard in self.book.keys():
            self.corpus(shard)
            self._run(jobs.RETRIEVAL.name, task_shard_key(task, shard), f"retrieval of {task} over {shard}")

    def dataset(self, task: str) -> None:
        """Gather the task's judged records."""
        self._run(jobs.DATASET.name, task, f"dataset {task}")

    def marts(self) -> None:
        """Build the dbt marts. dbt writes its log to standard output; it goes to a file beside the marts."""
        log = self.settings.home / "marts.log"
        with log.open("w", encoding="utf-8") as file, redirect_stdout(file):
            self._run(jobs.MARTS.name, None, "marts")

    def task(self, task: str, shards: Sequence[str] | None = None) -> None:
        """The whole main job for one task over all shards (or some)."""
        self.vocabulary()
        self.plan(task)
        chosen = list(shards) if shards is not None else self.book.keys()
        for shard in chosen:
            self.corpus(shard)
        failures = []
        for shard in chosen:
            try:
                self.extract(task, shard)
            except StageFailed as error:
                if error.fatal:
                    raise
                failures.append(error)
        self.dataset(task)
        self.marts()
        if failures:
            raise StageFailed("; ".join(str(error) for error in failures))

    def _run(self, job: str, partition: str | None, what: str, tags: dict[str, str] | None = None) -> None:
        result = defs.resolve_job_def(job).execute_in_process(
            instance=self.instance,
            partition_key=partition,
            tags={PID_TAG: str(os.getpid()), **(tags or {})},
            run_config=_QUIET,
            raise_on_error=False,
        )
        if result.success:
            return
        if self._interrupted(result.run_id):
            raise KeyboardInterrupt
        cause = _cause(result)
        raise StageFailed(f"{what}: {cause}", fatal=any(cause.startswith(f"{kind.value}:") for kind in FATAL))

    def _interrupted(self, run_id: str) -> bool:
        """Whether Ctrl-C ended the run: Dagster turns the interrupt into a failed or cancelled run."""
        run = self.instance.get_run_by_id(run_id)
        return run is not None and (
            run.status == dg.DagsterRunStatus.CANCELED or run.tags.get(_FAILURE_REASON) == _TERMINATED
        )


def _cause(result: Any) -> str:
    for event in result.all_events:
        if event.is_step_failure:
            error = event.step_failure_data.error
            # Below Dagster's own wrapper lies our error; what lies below that is for developers.
            while error is not None and error.cause is not None and (error.cls_name or "").startswith("Dagster"):
                error = error.cause
            text = error.message if error is not None else "unknown"
            # "pkg.module.Class: message" -> "message"
            return text.strip().split(": ", 1)[-1].strip().splitlines()[0]
    return "the run was stopped"
