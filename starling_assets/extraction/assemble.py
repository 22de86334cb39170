"""From journal outcomes to records: grounding, identity, numbers, de-duplication. Pure and deterministic.

Every object that a model returned ends as a record, as a further evidence of one, or in REJECTED with its reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import polars as pl

from starling_assets.agents.tasks import Task, schema_hash
from starling_assets.artifacts.journal import Outcome
from starling_assets.artifacts.keys import content_key
from starling_assets.artifacts.store import conform, empty
from starling_assets.settings import Settings

from .deduplication import group_facts, joined, same_words
from .entities import Entities, Identity
from .objects import Draft, Refused, check_object
from .tables import RECORDS, REJECTED
from .unit_conversion import Converted, convert
from .windows import Window


@dataclass(frozen=True)
class Counts:
    """``objects`` = ``records`` + ``merged`` + the sum of ``rejected``; unanswered windows are ``unfinished``."""

    objects: int
    records: int
    merged: int
    rejected: dict[str, int] = field(default_factory=dict)
    unfinished: int = 0


@dataclass(frozen=True)
class Assembled:
    """Frames RECORDS and REJECTED with their counts."""

    records: pl.DataFrame
    rejected: pl.DataFrame
    counts: Counts


def assemble(
    task: Task,
    windows: Sequence[Window],
    outcomes: Mapping[str, Outcome],
    papers: pl.DataFrame,
    tags: pl.DataFrame,
    mentions: pl.DataFrame,
    links: pl.DataFrame,
    settings: Settings,
) -> Assembled:
    """Records of a shard from its windows (``shard_windows``) and their journal ``outcomes``.

    ``papers``, ``tags``, ``mentions`` and ``links`` are the shard's tables. The answer depends on nothing else.
    """
    entities = Entities(tags, mentions, links, task.entity_types)
    facts = {row["paper_id"]: row for row in papers.iter_rows(named=True)}
    masses = _Masses()
    found: dict[str, list[dict[str, Any]]] = {}
    rejected: list[dict[str, Any]] = []
    objects = unfinished = 0
    for window in windows:
        outcome = outcomes.get(window.unit)
        if outcome is None or outcome.status == "failed":
            unfinished += 1
            continue
        payload = outcome.payload or {}
        items: list[Mapping[str, Any]] = payload.get("records", [])
        objects += len(items)
        used: dict[tuple[str, int, int], str] = {}
        for item in items:
            try:
                draft = check_object(task, window, item, entities, settings.extraction.fuzzy_quote, used)
            except Refused as refusal:
                rejected.append(_rejection(task, window, item, refusal))
                continue
            used.setdefault((draft.segment.block_key, draft.start, draft.end), draft.entity)
            identity = entities.identity(window, draft.entity, draft.spots)
            row = _row(task, window, draft, identity, payload, facts.get(window.paper_id, {}), masses)
            found.setdefault(window.paper_id, []).append(row)
    rows = [joined(group) for paper in sorted(found) for group in group_facts(found[paper], same_words)]
    for row in rows:
        row["record_id"] = _record_id(row)
    records = pl.DataFrame(rows, schema=RECORDS, strict=False) if rows else empty(RECORDS)
    refused = pl.DataFrame(rejected, schema=REJECTED) if rejected else empty(REJECTED)
    reasons = Counter(item["reason"] for item in rejected)
    merged = objects - len(rejected) - len(rows)
    return Assembled(
        conform(records, RECORDS),
        conform(refused, REJECTED),
        Counts(objects, len(rows), merged, dict(sorted(reasons.items())), unfinished),
    )


def evidence_holds(records: pl.DataFrame, blocks: pl.DataFrame) -> list[str]:
    """Record ids whose evidence is not the stored text: ``text[start:end] != quote``. Empty when all is well."""
    texts = {(paper, key): text for paper, key, text in blocks.select("paper_id", "block_key", "text").iter_rows()}
    wrong = []
    for record, evidences in records.select("record_id", "evidence").iter_rows():
        for item in evidences:
            text = texts.get((item["paper_id"], item["block_key"]), "")
            if text[item["start"] : item["end"]] != item["quote"] or not item["quote"]:
                wrong.append(record)
                break
    return wrong


def _rejection(task: Task, window: Window, item: Mapping[str, Any], refusal: Refused) -> dict[str, Any]:
    return {
        "task": task.name,
        "paper_id": window.paper_id,
        "unit": window.unit,
        "reason": refusal.reason,
        "detail": refusal.detail,
        "object": orjson.dumps(item, option=orjson.OPT_SORT_KEYS).decode(),
    }


def _row(
    task: Task,
    window: Window,
    draft: Draft,
    identity: Identity,
    payload: Mapping[str, Any],
    paper: Mapping[str, Any],
    masses: _Masses,
) -> dict[str, Any]:
    quantity = draft.quantity
    normalised = _normalised(task, draft, identity, masses)
    return {
        "record_id": "",
        "task": task.name,
        "paper_id": window.paper_id,
        "pmid": paper.get("pmid"),
        "unit": window.unit,
        "evidence": [
            {
                "paper_id": window.paper_id,
                "block_key": draft.segment.block_key,
                "para_idx": draft.segment.para_idx,
                "start": draft.start,
                "end": draft.end,
                "quote": draft.quote,
            }
        ],
        "alignment": draft.alignment,
        "entity": draft.entity,
        "entity_type": identity.entity_type,
        "concept_id": identity.concept_id,
        "concept_name": identity.concept_name,
        "smiles": identity.smiles,
        "inchikey": identity.inchikey,
        "parent_inchikey": identity.parent_inchikey,
        "sequence": identity.sequence,
        "label": draft.label,
        "value_text": quantity.text if quantity else None,
        "value": quantity.value if quantity else None,
        "value_low": quantity.low if quantity else None,
        "value_high": quantity.high if quantity else None,
        "qualifier": quantity.qualifier if quantity else None,
        "unit_text": quantity.unit if quantity else None,
        "normalised_value": normalised.value if normalised else None,
        "normalised_low": normalised.low if normalised else None,
        "normalised_high": normalised.high if normalised else None,
        "normalised_qualifier": normalised.qualifier if normalised else None,
        "normalised_unit": normalised.unit if normalised and _has_number(normalised) else None,
        "unit_flag": draft.note or (normalised.flag if normalised else (quantity.flag if quantity else None)),
        "fields": orjson.dumps(draft.fields | _derived(task, draft, identity, masses)).decode(),
        "probes": list(window.probes),
        "prompt": payload.get("prompt"),
        "model": payload.get("model"),
        "schema_hash": schema_hash(task),
        "licence": paper.get("licence"),
        "retracted": bool(paper.get("retracted")),
    }


def _normalised(task: Task, draft: Draft, identity: Identity, masses: _Masses) -> Converted | None:
    target = task.record.value.target_unit
    if target is None or draft.quantity is None:
        return None
    if not draft.unit_in_text:
        # A unit that the source does not print may be the model's own: the number is kept, its unit is not believed.
        return Converted(target, flag=f"the unit {draft.quantity.unit!r} is not printed in the paragraph")
    return convert(draft.quantity, target, masses.of(identity.smiles))


def _derived(task: Task, draft: Draft, identity: Identity, masses: _Masses) -> dict[str, float | None]:
    """The exact value in the task's further units; None for a bound, a range, or where a structure is missing."""
    if draft.quantity is None or not draft.unit_in_text:
        return dict.fromkeys(task.record.value.derived)
    mass = masses.of(identity.smiles)
    return {name: convert(draft.quantity, unit, mass).value for name, unit in task.record.value.derived.items()}


def _has_number(normalised: Converted) -> bool:
    return any(number is not None for number in (normalised.value, normalised.low, normalised.high))


def _record_id(row: Mapping[str, Any]) -> str:
    first = row["evidence"][0]
    place = [first["block_key"], first["start"], first["end"]]
    what = [
        row[key] for key in ("task", "paper_id", "entity", "concept_id", "label", "value_text", "unit_text", "fields")
    ]
    return content_key(place, what, row["schema_hash"])


class _Masses:
    """Molar masses in g/mol from SMILES, each computed once."""

    def __init__(self) -> None:
        self._known: dict[str, float | None] = {}

    def of(self, smiles: str | None) -> float | None:
        if not smiles:
            return None
        if smiles not in self._known:
            self._known[smiles] = _molar_mass(smiles)
        return self._known[smiles]


def _molar_mass(smiles: str) -> float | None:
    from rdkit import Chem, rdBase
    from rdkit.Chem import Descriptors

    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(smiles)
    return None if molecule is None else float(Descriptors.MolWt(molecule))  # type: ignore[attr-defined]


def rejected_counts(frames: Iterable[pl.DataFrame]) -> dict[str, int]:
    """Rejections by reason over several REJECTED frames, sorted by reason."""
    total: Counter[str] = Counter()
    for frame in frames:
        total.update(frame["reason"].to_list())
    return dict(sorted(total.items()))
