"""Collects mentions into the tag tables: one entity per paper, type, name and organism."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from starling_assets.artifacts.keys import content_key
from starling_assets.ontology.folding import fold
from starling_assets.tagging.choosing import HUMAN, Choice
from starling_assets.tagging.tables import MENTIONS, TAGS


class Block(NamedTuple):
    """The columns of a block that tagging needs."""

    paper_ordinal: int
    paper_id: str
    block_key: str
    para_idx: int
    para_ordinal: int
    text: str


class Mention(NamedTuple):
    """``text[start:end]`` is read as ``choice``; a higher ``source`` wins over an equally long mention."""

    start: int
    end: int
    choice: Choice
    source: int = 0


@dataclass(frozen=True)
class Tagged:
    """``tags`` follows TAGS, ``mentions`` follows MENTIONS; both sorted."""

    tags: pl.DataFrame
    mentions: pl.DataFrame


@dataclass
class _Entity:
    block: Block
    choice: Choice
    surfaces: set[str] = field(default_factory=set)
    paragraphs: set[int] = field(default_factory=set)
    concept_ids: dict[str, None] = field(default_factory=dict)
    synonyms: set[str] = field(default_factory=set)
    resolved: set[str] = field(default_factory=set)
    last: Choice | None = None

    def learn(self, choice: Choice) -> None:
        """Take over the concepts and names of one more reading of the entity."""
        self.last = choice
        self.concept_ids.update(dict.fromkeys(choice.concept_ids))
        self.synonyms.update(choice.synonyms)
        if choice.resolved_name:
            self.resolved.add(choice.resolved_name)


class Collector:
    """Receives the mentions of paragraph after paragraph."""

    def __init__(self, tagger: str) -> None:
        self._tagger = tagger
        self._entities: dict[tuple[int, str], _Entity] = {}
        self._rows: list[tuple[object, ...]] = []
        self._recent: dict[int, tuple[Choice, str]] = {}
        self._keys: dict[tuple[str, str, str | None, str | None], str] = {}
        self.mentions: list[Mention] = []

    def add(self, block: Block, mentions: Iterable[Mention]) -> None:
        """Add the mentions of one paragraph."""
        for item in mentions:
            self.mentions.append(item)
            surface = block.text[item.start : item.end]
            key = self._key(item.choice, block.paper_id)
            entity = self._entities.get((block.paper_ordinal, key))
            if entity is None:
                entity = self._entities[block.paper_ordinal, key] = _Entity(block, item.choice)
                entity.learn(item.choice)
            elif entity.last is not item.choice:
                entity.learn(item.choice)
            entity.surfaces.add(surface)
            entity.paragraphs.add(block.para_idx)
            self._rows.append(
                (
                    block.paper_ordinal, block.paper_id, block.block_key, block.para_idx, block.para_ordinal,
                    item.start, item.end, surface, key, item.choice.entity_type,
                )
            )  # fmt: skip

    def finish(self) -> Tagged:
        """The tables of everything added."""
        tags = [
            (
                entity.block.paper_ordinal, entity.block.paper_id, key, entity.choice.entity_type,
                entity.choice.canonical,
                sorted(entity.synonyms), sorted(entity.surfaces), sorted(entity.paragraphs), entity.choice.organism,
                entity.choice.alias, min(entity.resolved, default=None), list(entity.concept_ids), self._tagger,
            )
            for (_, key), entity in self._entities.items()
        ]  # fmt: skip
        frame = _frame(tags, TAGS).sort("paper_ordinal", "entity_type", "canonical_name", "entity_key")
        mentions = _frame(self._rows, MENTIONS)
        return Tagged(frame, mentions.sort("paper_ordinal", "para_idx", "start", "end", "entity_key"))

    def _key(self, choice: Choice, paper_id: str) -> str:
        recent = self._recent.get(id(choice))
        if recent is not None and choice.alias is None:
            return recent[1]
        # The same symbol of another species is another entity; human and unknown share one, as the default does.
        organism = None if choice.organism == HUMAN else choice.organism
        paper = paper_id if choice.alias else None
        slot = (choice.entity_type, choice.canonical, organism, paper)
        key = self._keys.get(slot)
        if key is None:
            parts = [choice.entity_type, fold(choice.canonical) or choice.canonical]
            key = content_key(*parts, *filter(None, (organism, paper)))
            self._keys[slot] = key
        if choice.alias is None:
            self._recent[id(choice)] = choice, key  # the reference keeps the id from being used again
        return key


def _frame(rows: Sequence[tuple[object, ...]], schema: dict[str, pl.DataType | type[pl.DataType]]) -> pl.DataFrame:
    """Rows as a frame. Columns of lists go through Arrow, which is many times faster than polars' own conversion."""
    import pyarrow as pa

    columns: list[Sequence[object]] = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    series = []
    for (name, dtype), values in zip(schema.items(), columns, strict=True):
        if dtype == pl.List(pl.String):
            series.append(pl.Series(name, pa.array(values, pa.large_list(pa.large_string()))))
        elif dtype == pl.List(pl.UInt32):
            series.append(pl.Series(name, pa.array(values, pa.large_list(pa.uint32()))))
        else:
            series.append(pl.Series(name, values, dtype=dtype))
    return pl.DataFrame(series)
