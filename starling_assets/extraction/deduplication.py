"""One record per reported fact of a paper, with every place where it stands.

Windows overlap, and abstract, body and tables restate each other. Two findings are one fact when entity, label and
value agree and no field contradicts; the fuller one gives the record, the others give further evidence.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson

from .entities import Identity
from .grounding import fold
from .objects import Draft


@dataclass(frozen=True, slots=True)
class Found:
    """A finished row with what it was made of."""

    row: dict[str, Any]
    identity: Identity
    draft: Draft


def merge(findings: Iterable[Found]) -> list[dict[str, Any]]:
    """Rows of one paper, each fact once, in reading order. The answer does not depend on the order of the findings."""
    clusters: dict[tuple[Any, ...], list[list[Found]]] = {}
    for finding in sorted(findings, key=_fullest_first):
        groups = clusters.setdefault(_fact(finding), [])
        group = next((group for group in groups if all(_agree(finding, other) for other in group)), None)
        if group is None:
            groups.append([finding])
        else:
            group.append(finding)
    rows = [_joined(group) for groups in clusters.values() for group in groups]
    return sorted(rows, key=_reading_order)


def _fact(finding: Found) -> tuple[Any, ...]:
    row = finding.row
    who = finding.identity.concept_id or fold(row["entity"]).text
    number = (row["value"], row["value_low"], row["value_high"], row["qualifier"], fold(row["unit_text"] or "").text)
    return who, row["label"], number


def _agree(one: Found, other: Found) -> bool:
    """No field that both state differs."""
    for name, value in one.draft.fields.items():
        counterpart = other.draft.fields.get(name)
        if value is not None and counterpart is not None and _plain(value) != _plain(counterpart):
            return False
    return True


def _plain(value: Any) -> Any:
    return fold(value).text if isinstance(value, str) else value


def _fullest_first(finding: Found) -> tuple[Any, ...]:
    stated = sum(value is not None for value in finding.draft.fields.values())
    quality = ("exact", "folded", "fuzzy").index(finding.draft.alignment)
    return (-stated, quality, *_reading_order(finding.row), orjson.dumps(finding.row, option=orjson.OPT_SORT_KEYS))


def _reading_order(row: dict[str, Any]) -> tuple[Any, ...]:
    first = row["evidence"][0]
    return first["para_idx"], first["start"], first["end"], row["entity"], row["label"], row["value_text"] or ""


def _joined(group: list[Found]) -> dict[str, Any]:
    """The first finding's row with the evidence places of all, its own first, none twice."""
    row = dict(group[0].row)
    seen: dict[tuple[str, int, int], dict[str, Any]] = {}
    later = sorted((finding.row for finding in group[1:]), key=_reading_order)
    for item in [*row["evidence"], *(item for other in later for item in other["evidence"])]:
        seen.setdefault((item["block_key"], item["start"], item["end"]), item)
    row["evidence"] = list(seen.values())
    row["probes"] = sorted({probe for finding in group for probe in finding.row["probes"]})
    row["retracted"] = any(finding.row["retracted"] for finding in group)
    return row
