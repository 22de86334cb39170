"""One record per reported fact of a paper, with every place where it stands.

Two records state one fact when entity, label and value agree and no field contradicts. It is done twice. Before judging
only what was read from the same words is joined (windows overlap; abstract and body repeat a sentence). After judging
the kept records of one fact are joined, wherever they stand: a wrong record can then neither hide behind a right one
nor take it along.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import orjson

from .grounding import fold

type Row = dict[str, Any]
_QUALITY = {"exact": 0, "folded": 1, "fuzzy": 2}


def same_words(one: Row, other: Row) -> bool:
    """Some evidence of both overlaps in one block, or reads the same but for case, dashes and white space."""
    return any(
        (a["block_key"] == b["block_key"] and a["start"] < b["end"] and b["start"] < a["end"])
        or fold(a["quote"]).text == fold(b["quote"]).text
        for a in one["evidence"]
        for b in other["evidence"]
    )


def group_facts(rows: Iterable[Row], related: Callable[[Row, Row], bool] = lambda _a, _b: True) -> list[list[Row]]:
    """RECORDS rows of one paper in groups of one fact each, the fullest row of a group first.

    ``related`` narrows what may be joined. Groups come in reading order, and do not depend on the order of ``rows``.
    """
    facts: dict[tuple[Any, ...], list[list[Row]]] = {}
    for row in sorted(rows, key=_fullest_first):
        groups = facts.setdefault(_fact(row), [])
        group = next((group for group in groups if _fits(row, group, related)), None)
        if group is None:
            groups.append([row])
        else:
            group.append(row)
    return sorted((group for groups in facts.values() for group in groups), key=lambda group: _reading_order(group[0]))


def joined(group: list[Row]) -> Row:
    """The first row with the evidence places of all, its own first, none twice, and the probes of all."""
    row = dict(group[0])
    seen: dict[tuple[str, int, int], Row] = {}
    later = sorted(group[1:], key=_reading_order)
    for item in [*row["evidence"], *(item for other in later for item in other["evidence"])]:
        seen.setdefault((item["block_key"], item["start"], item["end"]), item)
    row["evidence"] = list(seen.values())
    row["probes"] = sorted({probe for other in group for probe in other["probes"] or ()})
    return row


def _fits(row: Row, group: list[Row], related: Callable[[Row, Row], bool]) -> bool:
    return all(_agree(row, other) for other in group) and any(related(row, other) for other in group)


def _fact(row: Row) -> tuple[Any, ...]:
    who = row["concept_id"] or fold(row["entity"]).text
    number = (row["value"], row["value_low"], row["value_high"], row["qualifier"], fold(row["unit_text"] or "").text)
    return who, row["label"], number


def _agree(one: Row, other: Row) -> bool:
    """No field that both state differs."""
    mine, theirs = orjson.loads(one["fields"]), orjson.loads(other["fields"])
    return all(
        _plain(value) == _plain(theirs[name])
        for name, value in mine.items()
        if value is not None and theirs.get(name) is not None
    )


def _plain(value: Any) -> Any:
    return fold(value).text if isinstance(value, str) else value


def _fullest_first(row: Row) -> tuple[Any, ...]:
    stated = sum(value is not None for value in orjson.loads(row["fields"]).values())
    whole = orjson.dumps(row, option=orjson.OPT_SORT_KEYS, default=str)
    return (-stated, _QUALITY[row["alignment"]], *_reading_order(row), whole)


def _reading_order(row: Row) -> tuple[Any, ...]:
    first = row["evidence"][0]
    return first["para_idx"], first["start"], first["end"], row["entity"], row["label"] or "", row["value_text"] or ""
