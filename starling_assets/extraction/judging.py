"""Judging of one shard and task: batches of records of one window, ids checked, every verdict kept (F9)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import polars as pl

from starling_assets.agents.judge import MAX_VERDICTS, Candidate, Verdict, check_ids, judge_call, system_prompt
from starling_assets.agents.prompting import read_prompt, visible
from starling_assets.agents.tasks import Task
from starling_assets.artifacts.journal import Journal, Outcome, Tally
from starling_assets.artifacts.keys import content_key
from starling_assets.artifacts.store import conform, empty
from starling_assets.inference.calls import UNUSABLE, FailureKind, ModelClient, ModelFailure, Role, Usage
from starling_assets.inference.stopping import Stop
from starling_assets.journalled import OnProgress, failed_outcome, run_journalled
from starling_assets.settings import Settings

from .tables import AXES, VERDICTS

#: Characters of the paper shown on each side of the quote.
CONTEXT = 320
#: What the judge sees of a record, besides its fields.
_SHOWN = ("entity", "concept_name", "label", "value_text", "unit_text")


@dataclass(frozen=True)
class Batch:
    """Some records of one window, judged in one call. ``unit`` is the journal unit."""

    unit: str
    record_ids: tuple[str, ...]
    candidates: tuple[Candidate, ...]


def judge_batches(
    task: Task, records: pl.DataFrame, blocks: pl.DataFrame, papers: pl.DataFrame, model: str, size: int
) -> list[Batch]:
    """Batches of at most ``size`` records that were read from the same window, in the order of RECORDS.

    The unit key is made of the records, the judge's whole system prompt (task and rubric in it) and the model. A batch
    never spans windows, so a window that is read again changes no other batch.
    """
    texts = {(paper, key): text for paper, key, text in blocks.select("paper_id", "block_key", "text").iter_rows()}
    titles = dict(papers.select("paper_id", "title").iter_rows())
    question = content_key(system_prompt(task), read_prompt("judge").reference, model)
    by_window: dict[str, list[dict[str, Any]]] = {}
    for row in records.iter_rows(named=True):
        by_window.setdefault(row["unit"], []).append(row)
    batches = []
    size = min(size, MAX_VERDICTS)
    for rows in by_window.values():
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            shown = tuple(_candidate(f"r{n}", row, texts, titles) for n, row in enumerate(part, start=1))
            ids = tuple(row["record_id"] for row in part)
            batches.append(Batch(content_key(question, ids, [item.context for item in shown]), ids, shown))
    return batches


def judge_shard(
    task: Task,
    records: pl.DataFrame,
    blocks: pl.DataFrame,
    papers: pl.DataFrame,
    client: ModelClient,
    journal: Journal,
    settings: Settings,
    on_progress: OnProgress | None = None,
    stop: Stop | None = None,
) -> Tally:
    """Judge every batch that has no outcome yet. Fatal failures are raised as in :func:`run_journalled`."""
    batches = judge_batches(
        task, records, blocks, papers, client.model_name(Role.JUDGE), settings.extraction.judge_batch
    )

    async def judge(batch: Batch) -> tuple[Outcome, Usage]:
        return await judge_batch(task, batch, client, settings.extraction.judge_output_tokens)

    return run_journalled(batches, judge, journal, settings.llm.in_flight(Role.JUDGE.value), on_progress, stop)


async def judge_batch(task: Task, batch: Batch, client: ModelClient, max_output_tokens: int) -> tuple[Outcome, Usage]:
    """The outcome of one batch. An unusable reply, or one whose ids are wrong, is refused and asked for once more."""
    paid = Usage()
    complaint: str | None = None
    failure = ModelFailure(FailureKind.SCHEMA_MISMATCH, "no answer")
    for _ in range(2):
        try:
            reply = await client.complete(judge_call(task, batch.unit, batch.candidates, max_output_tokens, complaint))
            paid += reply.usage
            verdicts = check_ids(reply.value, batch.candidates)
        except ModelFailure as error:
            paid += error.usage
            if error.kind not in UNUSABLE:
                raise ModelFailure(error.kind, error.message, paid, error.raw) from error
            failure, complaint = error, error.message
        else:
            return _outcome(batch, verdicts, reply.model, paid), paid
    refused = failed_outcome(batch.unit, failure, paid)
    payload = {**refused.payload, "record_ids": list(batch.record_ids)}
    return refused.model_copy(update={"payload": payload}), paid


def verdicts(records: pl.DataFrame, outcomes: Mapping[str, Outcome], batches: Iterable[Batch]) -> pl.DataFrame:
    """VERDICTS frame: one row per record, in the order of ``records``.

    A record is kept only when all five axes pass. One whose batch failed or has no answer yet has status ``failed`` and
    is not kept; nothing is dropped.
    """
    rows: dict[str, dict[str, Any]] = {}
    for batch in batches:
        outcome = outcomes.get(batch.unit)
        for position, record_id in enumerate(batch.record_ids):
            rows[record_id] = _row(record_id, position, outcome)
    ordered = [rows.get(record_id) or _row(record_id, 0, None) for record_id in records["record_id"].to_list()]
    return conform(pl.DataFrame(ordered, schema=VERDICTS), VERDICTS) if ordered else empty(VERDICTS)


def agreement(first: pl.DataFrame, second: pl.DataFrame) -> dict[str, float | None]:
    """Share of records on which two judges agree, per axis and on keeping; None where no record has both verdicts."""
    judged = first.filter(pl.col("status") == "ok").join(
        second.filter(pl.col("status") == "ok"), on="record_id", suffix="_second"
    )
    shares: dict[str, float | None] = {}
    for name in (*AXES, "kept"):
        shares[name] = (
            None if judged.is_empty() else float((judged[name] == judged[f"{name}_second"]).cast(pl.Float64).mean())  # type: ignore[arg-type]
        )
    return shares


def _candidate(
    name: str, row: Mapping[str, Any], texts: Mapping[tuple[str, str], str], titles: Mapping[str, str]
) -> Candidate:
    first = row["evidence"][0]
    text = texts[(first["paper_id"], first["block_key"])]
    fields = {key: value for key, value in orjson.loads(row["fields"]).items() if value is not None}
    shown = {key: row[key] for key in _SHOWN if row[key] is not None}
    record = {**shown, **fields, "quote": visible(first["quote"])}
    return Candidate(
        name, visible(titles.get(row["paper_id"]) or ""), record, _around(text, first["start"], first["end"])
    )


def _around(text: str, start: int, end: int) -> str:
    left, right = max(0, start - CONTEXT), min(len(text), end + CONTEXT)
    if left:  # begin and end at a blank, so that no word is shown in half
        left = text.find(" ", left, start) + 1 or left
    if right < len(text):
        right = max(text.rfind(" ", end, right), end)
    before, after = ("… " if left else ""), (" …" if right < len(text) else "")
    return re.sub(r"\s+", " ", f"{before}{visible(text[left:right])}{after}")


def _outcome(batch: Batch, found: Mapping[str, Verdict], model: str, paid: Usage) -> Outcome:
    payload = {
        "record_ids": list(batch.record_ids),
        "verdicts": [found[candidate.id].model_dump(mode="json") for candidate in batch.candidates],
        "model": model,
        "prompt": read_prompt("judge").reference,
    }
    return Outcome(unit=batch.unit, status="ok", payload=payload, usage=paid.as_dict())


def _row(record_id: str, position: int, outcome: Outcome | None) -> dict[str, Any]:
    if outcome is None or outcome.status != "ok":
        reason = (
            "not judged yet" if outcome is None else f"{outcome.reason}: {(outcome.payload or {}).get('message', '')}"
        )
        return {
            "record_id": record_id,
            **dict.fromkeys(AXES),
            "reasons": "{}",
            "kept": False,
            "judge_model": None,
            "judge_prompt": None,
            "status": "failed",
            "failure": reason.rstrip(": "),
        }
    verdict = outcome.payload["verdicts"][position]
    failing = [axis for axis in AXES if not verdict[axis]]
    return {
        "record_id": record_id,
        **{axis: verdict[axis] for axis in AXES},
        "reasons": orjson.dumps(dict.fromkeys(failing, verdict.get("why") or "")).decode(),
        "kept": not failing,
        "judge_model": outcome.payload["model"],
        "judge_prompt": outcome.payload["prompt"],
        "status": "ok",
        "failure": None,
    }


def rejected_by_axis(frames: Sequence[pl.DataFrame]) -> dict[str, int]:
    """How many judged records failed on each axis (a record can fail on several), and how many were not judged."""
    counts = dict.fromkeys((*AXES, "not_judged"), 0)
    for frame in frames:
        judged = frame.filter(pl.col("status") == "ok")
        for axis in AXES:
            counts[axis] += int((~judged[axis]).sum())
        counts["not_judged"] += frame.height - judged.height
    return counts
