"""Collects mentions into the tag tables: one entity per paper, type, name and organism."""

from __future__ import annotations

from collections.abc import Iterable
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


class Collector:
    """Receives the mentions of paragraph after paragraph."""

    def __init__(self, tagger: str) -> None:
        self._tagger = tagger
        self._entities: dict[tuple[int, str], _Entity] = {}
        self._rows: list[tuple[object, ...]] = []
        self._keys: dict[tuple[str, str, str | None, str | None], str] = {}
        self.mentions: list[Mention] = []

    def add(self, block: Block, mentions: Iterable[Mention]) -> None:
        """Add the mentions of one paragraph."""
        for item in mentions:
            self.mentions.append(item)
            surface = block.text[item.start : item.end]
            key = self._key(item.choice, block.paper_id)
            entity = self._entities.setdefault((block.paper_ordinal, key), _Entity(block, item.choice))
            entity.surfaces.add(surface)
            entity.paragraphs.add(block.para_idx)
            entity.concept_ids.update(dict.fromkeys(item.choice.concept_ids))
            entity.synonyms.update(item.choice.synonyms)
            if item.choice.resolved_name:
                entity.resolved.add(item.choice.resolved_name)
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
                entity.block.paper_ordinal, entity.block.paper_id, key, entity.choice.entity_type, entity.choice.canonical,
                sorted(entity.synonyms), sorted(entity.surfaces), sorted(entity.paragraphs), entity.choice.organism,
                entity.choice.alias, min(entity.resolved, default=None), list(entity.concept_ids), self._tagger,
            )
            for (_, key), entity in self._entities.items()
        ]  # fmt: skip
        columns = list(zip(*tags, strict=True)) or [()] * len(TAGS)
        frame = pl.DataFrame(
            [pl.Series(name, values, dtype=dtype) for (name, dtype), values in zip(TAGS.items(), columns, strict=True)]
        ).sort("paper_ordinal", "entity_type", "canonical_name", "entity_key")
        rows = list(zip(*self._rows, strict=True)) or [()] * len(MENTIONS)
        mentions = pl.DataFrame(
            [pl.Series(name, values, dtype=dtype) for (name, dtype), values in zip(MENTIONS.items(), rows, strict=True)]
        )
        return Tagged(frame, mentions.sort("paper_ordinal", "para_idx", "start", "end", "entity_key"))

    def _key(self, choice: Choice, paper_id: str) -> str:
        # The same symbol of another species is another entity; human and unknown share one, as the default does.
        organism = None if choice.organism == HUMAN else choice.organism
        paper = paper_id if choice.alias else None
        slot = (choice.entity_type, choice.canonical, organism, paper)
        key = self._keys.get(slot)
        if key is None:
            parts = [choice.entity_type, fold(choice.canonical) or choice.canonical]
            key = content_key(*parts, *filter(None, (organism, paper)))
            self._keys[slot] = key
        return key
