"""Training examples for the student: windows that the teacher read for all 19 types, as chats in JSON lines.

An example is what the student will be asked and should answer: its system prompt, the passage, and one joint reply
that holds only printed forms. A passage with a pass that failed is left out, since what it lacks would be taught too.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
import polars as pl

from starling_assets.inference.prompting import fence, visible
from starling_assets.inference.tokens import estimate_tokens
from starling_assets.literature.licences import REDISTRIBUTABLE
from starling_assets.tagging.entity_types import EntityType
from starling_assets.tagging.llm.prompts import student_prompt
from starling_assets.tagging.llm.replies import MAX_FORMS, MAX_JOINT, MAX_SYNONYMS, OF_SPECIES, JointEntity, JointReply
from starling_assets.tagging.llm.surfaces import occurrences

#: One paper in so many is for choosing a model, not for training it.
DEV_ONE_IN = 20
ENTITIES_TOO_MANY = "more entities than a reply may hold"
NOT_COMPLETE = "a pass failed"


@dataclass
class Counts:
    """What went into the set, and what did not with the reason."""

    examples: Counter[str] = field(default_factory=Counter)  # by split
    papers: dict[str, set[str]] = field(default_factory=dict)  # by split
    licences: dict[str, set[str]] = field(default_factory=dict)  # papers by licence
    types: Counter[str] = field(default_factory=Counter)  # entities
    left_out: Counter[str] = field(default_factory=Counter)  # passages by reason
    empty: int = 0
    tokens: int = 0
    taggers: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Shard:
    """The teacher's tables of one shard; ``tags`` with validated names already in place."""

    tags: pl.DataFrame
    mentions: pl.DataFrame
    passages: pl.DataFrame
    blocks: pl.DataFrame
    papers: pl.DataFrame


def split_of(paper_id: str) -> str:
    """``train`` or ``dev``, by the paper alone: the same in every set."""
    return "dev" if _hash(paper_id) % DEV_ONE_IN == 0 else "train"


def sample(papers: Iterable[tuple[str, str]], most: int) -> frozenset[str]:
    """At most ``most`` paper ids of (id, licence) pairs whose text may be passed on; the same choice every time."""
    usable = {paper for paper, licence in papers if licence in REDISTRIBUTABLE}
    return frozenset(sorted(usable, key=lambda paper: (_hash(paper), paper))[:most])


def examples(shard: Shard, wanted: frozenset[str], taxa: Mapping[str, str], counts: Counts) -> Iterator[bytes]:
    """JSON lines of the passages of ``wanted`` papers, in the order of the shard; ``counts`` is filled on the way.

    ``taxa``: names of organism concepts. Every line is checked against the student's reply type before it is given.
    """
    texts = {(paper, para): text for paper, para, text in _paragraphs(shard.blocks)}
    licences = dict(shard.papers.select("paper_ordinal", "licence").iter_rows())
    entities = _entities(shard.tags)
    mentions = _mentions(shard.mentions)
    seen: set[str] = set()
    for row in shard.passages.iter_rows(named=True):
        if row["paper_id"] not in wanted:
            continue
        if row["ok"] + row["empty"] < row["passes"]:
            counts.left_out[NOT_COMPLETE] += 1
            continue
        paper = row["paper_ordinal"]
        parts = [(part["number"], part["para_idx"], part["start"], part["end"]) for part in row["parts"]]
        shown = [(number, para, texts[paper, para][start:end], start) for number, para, start, end in parts]
        answer = _answer(paper, shown, entities, mentions, taxa)
        if len(answer) >= MAX_JOINT:
            counts.left_out[ENTITIES_TOO_MANY] += 1
            continue
        passage = "\n".join(f"[{number}] {visible(text)}" for number, _, text, _ in shown)
        if passage in seen:  # a paper stored twice teaches once
            continue
        seen.add(passage)
        split = split_of(row["paper_id"])
        line = _line(passage, answer, row["paper_id"], licences[paper], split)
        _count(counts, row["paper_id"], licences[paper], split, answer, line)
        yield line


def _answer(
    paper: int,
    shown: list[tuple[int, int, str, int]],
    entities: Mapping[tuple[int, str], Mapping[str, Any]],
    mentions: Mapping[tuple[int, int], list[tuple[int, int, str]]],
    taxa: Mapping[str, str],
) -> list[JointEntity]:
    """The entities of a passage in the order in which they first stand there; validated names join what they unite."""
    found: dict[tuple[str, str], tuple[Mapping[str, Any], dict[str, None], dict[int, None]]] = {}
    for number, para, text, shift in shown:
        for start, end, key in mentions.get((paper, para), []):
            if shift <= start and end <= shift + len(text):
                tag = entities[paper, key]
                _, forms, numbers = found.setdefault((tag["entity_type"], tag["canonical_name"]), (tag, {}, {}))
                forms[visible(text[start - shift : end - shift])] = None
                numbers[number] = None
    passage = "\n".join(text for _, _, text, _ in shown)
    return [
        _entity(tag, list(forms)[: MAX_FORMS - 1], list(numbers), passage, taxa)
        for tag, forms, numbers in found.values()
    ]


def _entity(
    tag: Mapping[str, Any], forms: list[str], numbers: list[int], passage: str, taxa: Mapping[str, str]
) -> JointEntity:
    kind = EntityType(tag["entity_type"])
    alias, resolved = tag["alias"], tag["resolved_name"]
    return JointEntity(
        type=kind,
        name=tag["canonical_name"],
        synonyms=list(tag["synonyms"] or [])[:MAX_SYNONYMS],
        forms=forms,
        paragraphs=numbers,
        organism=taxa.get(tag["organism"]) if kind in OF_SPECIES and tag["organism"] else None,
        alias=alias if alias and occurrences(alias, passage) else None,
        resolved_name=resolved if resolved and occurrences(resolved, passage) else None,
    )


def _line(passage: str, answer: list[JointEntity], paper_id: str, licence: str, split: str) -> bytes:
    reply = JointReply(entities=answer).model_dump(mode="json")
    record = {
        "messages": [
            {"role": "system", "content": student_prompt().text},
            {"role": "user", "content": fence("PASSAGE", passage)},
            {"role": "assistant", "content": orjson.dumps(reply).decode()},
        ],
        "paper_id": paper_id,
        "licence": licence,
        "split": split,
    }
    return orjson.dumps(record) + b"\n"


def _count(counts: Counts, paper_id: str, licence: str, split: str, answer: list[JointEntity], line: bytes) -> None:
    counts.examples[split] += 1
    counts.papers.setdefault(split, set()).add(paper_id)
    counts.licences.setdefault(licence, set()).add(paper_id)
    counts.types.update(entity.type.value for entity in answer)
    counts.empty += not answer
    counts.tokens += estimate_tokens(line.decode())


def _paragraphs(blocks: pl.DataFrame) -> Iterable[tuple[int, int, str]]:
    rows = blocks.filter(pl.col("para_idx").is_not_null()).select("paper_ordinal", "para_idx", "text")
    return rows.iter_rows()


def _entities(tags: pl.DataFrame) -> dict[tuple[int, str], dict[str, Any]]:
    return {(row["paper_ordinal"], row["entity_key"]): row for row in tags.iter_rows(named=True)}


def _mentions(mentions: pl.DataFrame) -> dict[tuple[int, int], list[tuple[int, int, str]]]:
    found: dict[tuple[int, int], list[tuple[int, int, str]]] = {}
    columns = ("paper_ordinal", "para_idx", "start", "end", "entity_key")
    for paper, para, start, end, key in mentions.select(columns).sort(columns).iter_rows():
        found.setdefault((paper, para), []).append((start, end, key))
    return found


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
