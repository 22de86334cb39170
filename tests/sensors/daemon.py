"""What the Dagster daemon does with a sensor's result, as far as these tests need it: partitions first, then runs,
one run per run key, ever."""

from __future__ import annotations

import uuid

import dagster as dg

from resources.project import ProjectResource
from sensors.drop_folder import new_papers

RUN_KEY = "dagster/run_key"


class Daemon:
    """Ticks the drop-folder sensor against one instance and submits what it asks for."""

    def __init__(self, instance: dg.DagsterInstance, root: str) -> None:
        self.instance, self.root = instance, root

    def tick(
        self,
        *,
        finish: dg.DagsterRunStatus | None = dg.DagsterRunStatus.SUCCESS,
        crash_before_runs: bool = False,
        cursor: str | None = None,
    ) -> list[str]:
        """One tick; returns the partitions of the runs that were really started."""
        context = dg.build_sensor_context(instance=self.instance, cursor=cursor)
        result = new_papers(context, project=ProjectResource(root=self.root))
        if isinstance(result, dg.SkipReason):
            return []
        assert isinstance(result, dg.SensorResult)
        for request in result.dynamic_partitions_requests or []:
            assert isinstance(request, dg.AddDynamicPartitionsRequest)
            self.instance.add_dynamic_partitions(request.partitions_def_name, list(request.partition_keys))
        if crash_before_runs:
            return []
        return [key for request in result.run_requests or [] if (key := self._submit(request, finish)) is not None]

    def _submit(self, request: dg.RunRequest, finish: dg.DagsterRunStatus | None) -> str | None:
        assert request.run_key is not None
        assert request.partition_key is not None
        if self.instance.get_runs(dg.RunsFilter(tags={RUN_KEY: request.run_key})):
            return None
        assert request.partition_key in self.instance.get_dynamic_partitions("shard")
        self.instance.add_run(
            dg.DagsterRun(
                job_name="corpus",
                run_id=str(uuid.uuid4()),
                status=finish or dg.DagsterRunStatus.STARTED,
                tags={**request.tags, RUN_KEY: request.run_key, "dagster/partition": request.partition_key},
            )
        )
        return request.partition_key
