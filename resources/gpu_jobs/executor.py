"""Where steps run: in the run's own process on one machine, each in a pod of its own in the cluster."""

from __future__ import annotations

import dagster as dg

from starling_assets.settings import Settings

#: Step pods of one run at a time. Pools bound what all runs together do.
STEPS_PER_RUN = 4


def executor_for(settings: Settings) -> dg.ExecutorDefinition:
    """The executor of the code location for the profile in ``settings``.

    In the cluster this is ``k8s_job_executor``: the only executor under which a step's ``dagster-k8s/config`` op tag
    reaches its pod. Image, volumes, secrets and service account come from the run launcher (k8s/dagster-values.yaml).
    """
    if settings.profile == "embedded":
        return dg.in_process_executor
    from dagster_k8s import k8s_job_executor

    configured: dg.ExecutorDefinition = k8s_job_executor.configured(
        {
            "job_namespace": settings.cluster.namespace,
            "max_concurrent": STEPS_PER_RUN,
            # Step jobs go when the pod of their run goes: a run that is deleted leaves no GPU behind.
            "enable_owner_references": True,
            # A step that asks no model has the same limits on time and retries as one that does.
            "step_k8s_config": {
                "job_spec_config": {
                    "backoff_limit": 0,
                    "active_deadline_seconds": settings.cluster.job_deadline_seconds,
                }
            },
        },
        name="k8s_job_executor",
    )
    return configured
