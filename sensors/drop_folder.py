"""The drop folder: new files close into a shard, every shard without data gets a run, nothing is lost or doubled.

The sensor looks at states, not at events (F13): a file is new when no shard holds its bytes; a shard needs a run when
its partition exists and no run of it succeeded or is under way. A lost cursor, a crash between two steps or a repeated
event therefore changes nothing. The run key holds the attempt, since Dagster starts one run per run key, ever.
"""

import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg

from resources.project import ProjectResource
from starling_assets.artifacts.files import StoreError, write_text
from starling_assets.artifacts.keys import safe_name
from starling_assets.defs.jobs import CORPUS
from starling_assets.literature.shards import ShardBook
from starling_assets.partitions import shards

_UNDER_WAY = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
#: Tag of corpus runs: how often an operator has withdrawn and asked again for the partition.
ISSUE_TAG = "starling/issue"


@dg.sensor(job=CORPUS, minimum_interval_seconds=5, default_status=dg.DefaultSensorStatus.RUNNING)
def new_papers(context: dg.SensorEvaluationContext, project: ProjectResource) -> dg.SensorResult | dg.SkipReason:
    """Close settled new files of the drop folder into shards and start the runs that are missing."""
    settings = project.settings
    book = project.shards
    files = settled_files(settings.inbox, settings.automation.settle_seconds)
    try:
        closed = book.close(files)
    except StoreError as error:
        return dg.SkipReason(str(error))
    existing = set(context.instance.get_dynamic_partitions("shard"))
    register = PartitionRegister(book)
    added = [key for key in book.keys() if key not in existing and not register.withdraw_if_seen(key)]
    requests, exhausted = [], []
    for key in sorted([*added, *(existing & set(book.keys()))]):
        issue = register.issue(key, exists=key in existing)
        attempt = next_attempt(context.instance, key, issue, settings.automation.attempts)
        if attempt is None:
            continue
        if attempt >= settings.automation.attempts:
            exhausted.append(key)
            continue
        requests.append(
            dg.RunRequest(
                run_key=f"{key}:{book.shard(key).digest}:{issue}:{attempt}",
                partition_key=key,
                tags={ISSUE_TAG: str(issue)},
            )
        )
    if exhausted:
        context.log.warning("shards %s failed %s times; see `starling status`", exhausted, settings.automation.attempts)
    if not requests and not added:
        return dg.SkipReason(f"nothing new in {settings.inbox}")
    context.log.info("closed %s, runs for %s", [s.key for s in closed], [r.partition_key for r in requests])
    return dg.SensorResult(
        run_requests=requests, dynamic_partitions_requests=[shards.build_add_request(added)] if added else []
    )


def settled_files(inbox: Path, settle_seconds: float) -> list[Path]:
    """Files whose last change is at least ``settle_seconds`` ago; hidden and temporary names are left alone."""
    if not inbox.is_dir():
        return []
    now = time.time()
    return sorted(
        path
        for path in inbox.rglob("*")
        if path.is_file()
        and not path.name.startswith((".", "~"))
        and not path.name.endswith((".part", ".tmp", ".crdownload"))
        and now - path.stat().st_mtime >= settle_seconds
    )


def next_attempt(instance: dg.DagsterInstance, shard: str, issue: int, limit: int) -> int | None:
    """Number of the run to start for a shard; None while one is under way or after one succeeded."""
    runs = list(_runs(instance, shard, issue))
    if any(run.status == dg.DagsterRunStatus.SUCCESS or run.status in _UNDER_WAY for run in runs):
        return None
    return min(len(runs), limit)


def _runs(instance: dg.DagsterInstance, shard: str, issue: int) -> Iterator[dg.DagsterRun]:
    tags = {"dagster/partition": shard, ISSUE_TAG: str(issue)}
    yield from instance.get_runs(dg.RunsFilter(job_name=CORPUS.name, tags=tags))


class PartitionRegister:
    """Which shards' partitions have been seen in Dagster, and how often an operator deleted one.

    A partition that was seen and is gone was deleted on purpose: it is not brought back by itself. When it appears
    again its issue number has grown, so that the wish gets a run of its own.
    """

    def __init__(self, book: ShardBook) -> None:
        self._book = book

    def withdraw_if_seen(self, key: str) -> bool:
        """True when the partition of ``key`` existed before and was deleted; counts the deletion once."""
        state, issue = self._read(key)
        if state == "seen":
            self._write(key, "withdrawn", issue + 1)
        return state in {"seen", "withdrawn"}

    def issue(self, key: str, *, exists: bool) -> int:
        """Current issue number; notes that the partition has been seen when it ``exists``."""
        state, issue = self._read(key)
        if exists and state != "seen":
            self._write(key, "seen", issue)
        return issue

    def _path(self, key: str) -> Path:
        return self._book.root / safe_name(key) / "partition.txt"

    def _read(self, key: str) -> tuple[str, int]:
        try:
            state, issue = self._path(key).read_text(encoding="utf-8").split()
        except (FileNotFoundError, ValueError):
            return "new", 0
        return state, int(issue)

    def _write(self, key: str, state: str, issue: int) -> None:
        write_text(self._path(key), f"{state} {issue}\n")
