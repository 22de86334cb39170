"""Offline batches: the same calls as files, for OpenAI's batch service (half the price) or ``vllm run-batch``.

One JSON line per request, named by its unit; the answers come back in any order, in files of the same form. Reading
them gives the same typed values and the same failures as the live door.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from .budget import Prices
from .calls import FailureKind, ModelCall, ModelFailure, ModelReply, Usage
from .ledger import OK, Ledger, LedgerEntry, read_ledger
from .replies import read_reply
from .requests import request_body
from .schemas import Dialect
from .statuses import failure_of_status
from .strict_json import StrictJsonError, parse

#: Bounds of one request file at OpenAI; others take more.
MOST_REQUESTS = 50_000
MOST_BYTES = 190_000_000
URL = "/v1/chat/completions"


class BatchError(Exception):
    """A batch cannot be written or read; the message names the file and what to do."""


@dataclass(frozen=True, slots=True)
class BatchReplies[T: BaseModel]:
    """What the answer files hold: every asked unit is in ``replies`` or in ``failures``.

    ``unknown`` are answers to units that were not asked; ``torn`` are lines that cannot be read.
    """

    replies: dict[str, ModelReply[T]] = field(default_factory=dict)
    failures: dict[str, ModelFailure] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    torn: int = 0


def write_requests[T: BaseModel](
    calls: Iterable[ModelCall[T]],
    folder: Path,
    model: str,
    *,
    dialect: Dialect = Dialect.STRICT,
    temperature: float = 0.0,
    seed: int = 7,
    most_requests: int = MOST_REQUESTS,
    most_bytes: int = MOST_BYTES,
) -> list[Path]:
    """Write ``requests-00001.jsonl`` and on into ``folder``, each within the bounds; the paths, in order.

    Each file appears whole. Raises :class:`BatchError` when a unit is asked twice or the disk refuses a file.
    """
    seen: set[str] = set()
    paths: list[Path] = []
    lines: list[bytes] = []
    size = 0
    for call in calls:
        if call.unit in seen:
            raise BatchError(f"the unit {call.unit!r} is asked twice in one batch")
        seen.add(call.unit)
        body = request_body(call, model, dialect, temperature=temperature, seed=seed)
        asked = {"custom_id": call.unit, "method": "POST", "url": URL, "body": body}
        line = json.dumps(asked, ensure_ascii=False).encode() + b"\n"
        if lines and (len(lines) >= most_requests or size + len(line) > most_bytes):
            paths.append(_write(folder, len(paths) + 1, lines))
            lines, size = [], 0
        lines.append(line)
        size += len(line)
    if lines:
        paths.append(_write(folder, len(paths) + 1, lines))
    return paths


def read_replies[T: BaseModel](
    calls: Sequence[ModelCall[T]],
    files: Iterable[Path],
    model: str,
    prices: Prices,
    ledger: Ledger | None = None,
) -> BatchReplies[T]:
    """The outcome of every call, from the answer (and error) files of a batch.

    A unit that is answered twice with different outcomes is refused as malformed: neither the first nor the last one is
    taken. A unit without an answer failed with ``connection``: it is still to be done. With a ``ledger`` each answer is
    noted once, however often the files are read.
    """
    asked = {call.unit: call for call in calls}
    given: dict[str, list[ModelReply[T] | ModelFailure]] = {unit: [] for unit in asked}
    created: dict[str, float] = {}
    unknown: list[str] = []
    torn = 0
    for line in _lines(files):
        if line is None or not isinstance(line.get("custom_id"), str):
            torn += 1
            continue
        unit = line["custom_id"]
        if unit not in asked:
            unknown.append(unit)
            continue
        outcome, when = _outcome(line, asked[unit], model, prices)
        given[unit].append(outcome)
        created[unit] = max(when, created.get(unit, 0.0))
    found = {unit: _settle(unit, outcomes) for unit, outcomes in given.items()}
    if ledger is not None:
        _note(ledger, asked, found, created, model)
    return BatchReplies(
        replies={unit: outcome for unit, outcome in found.items() if isinstance(outcome, ModelReply)},
        failures={unit: outcome for unit, outcome in found.items() if isinstance(outcome, ModelFailure)},
        unknown=tuple(unknown),
        torn=torn,
    )


def _outcome[T: BaseModel](
    line: Mapping[str, Any], call: ModelCall[T], model: str, prices: Prices
) -> tuple[ModelReply[T] | ModelFailure, float]:
    response = line.get("response") or {}
    body = response.get("body") or {}
    status = response.get("status_code", 200 if body else 0)
    if line.get("error") or status != 200:
        error = body.get("error") or line.get("error") or {}
        told = error if isinstance(error, Mapping) else {"message": str(error)}
        marks = f"{told.get('code')} {told.get('type')}"
        return failure_of_status(status or 500, str(told.get("message", "no message")), marks, "the batch"), 0.0
    try:
        choice, used = body["choices"][0], body.get("usage") or {}
        prompt, output = int(used.get("prompt_tokens") or 0), int(used.get("completion_tokens") or 0)
        cached = int((used.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)
        text, finish = choice["message"].get("content"), choice.get("finish_reason")
        when = float(body.get("created") or 0.0)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        return ModelFailure(FailureKind.SERVER_ERROR, f"the batch's answer is no completion: {error!r}"), 0.0
    usage = Usage(prompt, output, cached, calls=1, cost=prices.cost(prompt, output))
    try:
        return ModelReply(read_reply(text, finish, call.reply_type, usage), usage, model, text or ""), when
    except ModelFailure as failure:
        return failure, when


def _settle[T: BaseModel](unit: str, outcomes: Sequence[ModelReply[T] | ModelFailure]) -> ModelReply[T] | ModelFailure:
    """One outcome of all that came for ``unit``: an answer before a failure, and no choice between two answers."""
    if not outcomes:
        return ModelFailure(FailureKind.CONNECTION, "the batch brought no answer to this unit")
    paid = sum((outcome.usage for outcome in outcomes), Usage())
    replies = [outcome for outcome in outcomes if isinstance(outcome, ModelReply)]
    if any(reply.value != replies[0].value for reply in replies):
        return ModelFailure(FailureKind.MALFORMED, f"{unit} is answered {len(replies)} times, differently", paid)
    if replies:
        return replace(replies[0], usage=paid)
    last = outcomes[-1]
    return ModelFailure(last.kind, last.message, paid, last.raw) if isinstance(last, ModelFailure) else last


def _note[T: BaseModel](
    ledger: Ledger,
    asked: Mapping[str, ModelCall[T]],
    found: Mapping[str, ModelReply[T] | ModelFailure],
    created: Mapping[str, float],
    model: str,
) -> None:
    noted = set(read_ledger(ledger.folder).select("started_at", "purpose", "unit", "model").rows())
    for unit, call in asked.items():
        if unit not in created:
            continue
        outcome, started = found[unit], datetime.fromtimestamp(created[unit], UTC).isoformat(timespec="milliseconds")
        if (started, call.purpose, unit, model) in noted:
            continue
        ledger.write(
            LedgerEntry(
                started_at=started,
                role=call.role.value,
                purpose=call.purpose,
                unit=unit,
                model=model,
                prompt=call.prompt,
                outcome=outcome.kind.value if isinstance(outcome, ModelFailure) else OK,
                message=outcome.message if isinstance(outcome, ModelFailure) else "",
                prompt_tokens=outcome.usage.prompt_tokens,
                completion_tokens=outcome.usage.completion_tokens,
                cached_tokens=outcome.usage.cached_tokens,
                cost=outcome.usage.cost,
            )
        )


def _lines(files: Iterable[Path]) -> Iterator[dict[str, Any] | None]:
    """The objects of all lines; ``None`` for a line that is none."""
    seen: set[str] = set()  # a file given twice, or a copy of it, is read once
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BatchError(f"{path} cannot be read: {error}. Download the batch's output again.") from error
        for line in text.split("\n"):
            if not line.strip() or line in seen:
                continue
            seen.add(line)
            try:
                value = parse(line)
            except StrictJsonError:
                value = None
            yield value if isinstance(value, dict) else None


def _write(folder: Path, number: int, lines: Sequence[bytes]) -> Path:
    path = folder / f"requests-{number:05d}.jsonl"
    draft = path.with_suffix(".new")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as handle:
            handle.writelines(lines)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(draft, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise BatchError(f"cannot write {path}: {error.strerror or error}. Free space, then try again.") from error
    return path
