"""Extraction of one shard and task: plan the windows, read those that are missing, keep every outcome."""

from __future__ import annotations

from typing import Any

import polars as pl

from starling_assets.agents.extractor import extract_call
from starling_assets.agents.prompting import read_prompt
from starling_assets.agents.tasks import Task, schema_hash
from starling_assets.artifacts.journal import Journal, Outcome, Tally
from starling_assets.inference.calls import UNUSABLE, ModelClient, ModelFailure, Role, Usage
from starling_assets.inference.stopping import Stop
from starling_assets.journalled import OnProgress, failed_outcome, run_journalled
from starling_assets.settings import Settings

from .windows import Window, plan_windows


def shard_windows(
    task: Task, subcorpus: pl.DataFrame, blocks: pl.DataFrame, papers: pl.DataFrame, model: str, settings: Settings
) -> list[Window]:
    """The extraction windows of a shard, in rank order; the same inputs give the same units."""
    limits = [limit for limit in (settings.extraction.max_windows, task.budget.max_windows) if limit is not None]
    return plan_windows(
        subcorpus,
        blocks,
        papers,
        prompt=read_prompt("extract").reference,
        schema=schema_hash(task),
        model=model,
        max_tokens=settings.extraction.max_window_tokens,
        max_windows=min(limits, default=None),
    )


def extract_shard(
    task: Task,
    subcorpus: pl.DataFrame,
    blocks: pl.DataFrame,
    papers: pl.DataFrame,
    client: ModelClient,
    journal: Journal,
    settings: Settings,
    on_progress: OnProgress | None = None,
    stop: Stop | None = None,
) -> Tally:
    """Read every window of the SUBCORPUS frame that has no outcome yet; see :func:`run_journalled` for what is raised.

    An outcome's payload is ``{"records": [...], "model": …, "prompt": …}`` with the objects as the model gave them;
    ``assemble`` turns them into records. A window whose reply is unusable is read again in two halves, once (F6).
    """
    model = client.model_name(Role.EXTRACTOR)
    windows = shard_windows(task, subcorpus, blocks, papers, model, settings)

    async def read(window: Window) -> tuple[Outcome, Usage]:
        return await read_window(task, window, client, settings.extraction.max_output_tokens)

    return run_journalled(windows, read, journal, settings.llm.in_flight(Role.EXTRACTOR.value), on_progress, stop)


async def read_window(task: Task, window: Window, client: ModelClient, max_output_tokens: int) -> tuple[Outcome, Usage]:
    """The outcome of one window. Fatal failures are raised; an unusable reply is retried once in halves."""
    try:
        objects, usage, model = await _ask(task, window, client, max_output_tokens)
        return _outcome(window, objects, usage, model, split=False), usage
    except ModelFailure as failure:
        halves = window.halves()
        if failure.kind not in UNUSABLE:
            raise
        paid = failure.usage
        if halves is None:
            return failed_outcome(window.unit, failure, paid), paid
    objects = []
    model = client.model_name(Role.EXTRACTOR)
    for half in halves:
        try:
            found, usage, model = await _ask(task, half, client, max_output_tokens)
        except ModelFailure as failure:
            total = paid + failure.usage
            if failure.kind not in UNUSABLE:
                raise ModelFailure(failure.kind, failure.message, total, failure.raw) from failure
            return failed_outcome(window.unit, failure, total), total
        objects += found
        paid += usage
    return _outcome(window, objects, paid, model, split=True), paid


async def _ask(
    task: Task, window: Window, client: ModelClient, max_output_tokens: int
) -> tuple[list[dict[str, Any]], Usage, str]:
    reply = await client.complete(extract_call(task, window.unit, window.text, max_output_tokens))
    return reply.value.objects(), reply.usage, reply.model


def _outcome(window: Window, objects: list[dict[str, Any]], usage: Usage, model: str, *, split: bool) -> Outcome:
    return Outcome(
        unit=window.unit,
        status="ok" if objects else "empty",
        payload={"records": objects, "model": model, "prompt": read_prompt("extract").reference, "split": split},
        usage=usage.as_dict(),
    )
