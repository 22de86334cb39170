"""What the vocabulary knows of the names a model gave: concepts for links, and the species of an organism's name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from starling_assets.ontology.folding import fold
from starling_assets.ontology.lexicon import KIND_RANK
from starling_assets.tagging.choosing import HUMAN, Choice, source_rank
from starling_assets.tagging.entity_types import EntityType

from .merging import Entity

_ORGANISM = EntityType.ORGANISM.value
_WEAK = 3


class ConceptNames:
    """The lexicon rows of the names that occur in a shard, and no others: the whole lexicon would not fit beside it."""

    def __init__(self, lexicon: pl.DataFrame, entities: Iterable[Entity]) -> None:
        wanted: set[tuple[str, str]] = set()
        for entity in entities:
            wanted.update((entity.entity_type, fold(name)) for name in _names(entity))
            if entity.organism:
                wanted.add((_ORGANISM, fold(entity.organism)))
        asked = pl.DataFrame(sorted(wanted), schema={"entity_type": pl.String, "folded": pl.String}, orient="row")
        rows = lexicon.join(asked, on=["entity_type", "folded"], how="semi").unique(
            ["entity_type", "folded", "concept_id", "kind"]
        )
        self._rows: dict[tuple[str, str], list[tuple[str, int, str | None]]] = {}
        columns = ("entity_type", "folded", "concept_id", "kind", "organism")
        for kind, folded, concept_id, name_kind, organism in rows.select(columns).sort(columns).iter_rows():
            rank = KIND_RANK.get(name_kind, _WEAK)
            self._rows.setdefault((kind, folded), []).append((concept_id, rank, organism))

    def taxon(self, name: str | None) -> str | None:
        """The concept of an organism's name where it is the name of one only; human ones are the human species."""
        if not name:
            return None
        ids = self._ranked(_ORGANISM, name, None)
        if HUMAN in ids:
            return HUMAN
        return ids[0] if ids else None

    def choice(self, entity: Entity) -> Choice:
        """The entity as the tag tables want it.

        Concepts are those of its name; else those of a printed form or of a synonym, where that names one concept only.
        A compound that has nothing but the paper's label is left to its structure.
        """
        organism = self.taxon(entity.organism)
        ids = self._ranked(entity.entity_type, entity.name, organism)
        for name in (*entity.forms, *entity.synonyms):
            if ids or name == entity.alias:
                break
            others = self._ranked(entity.entity_type, name, organism)
            ids = others if len(others) == 1 else []
        synonyms = tuple(sorted(set(entity.synonyms)))
        return Choice(
            entity.entity_type, entity.name, tuple(ids), organism, synonyms, entity.alias, entity.resolved_name
        )

    def _ranked(self, entity_type: str, name: str, organism: str | None) -> list[str]:
        rows: Sequence[tuple[str, int, str | None]] = self._rows.get((entity_type, fold(name)), [])
        if organism is not None and any(row[2] == organism for row in rows):
            rows = [row for row in rows if row[2] in {organism, None}]
        ordered = sorted(rows, key=lambda row: (row[1] >= _WEAK, source_rank(row[0]), row[1], row[0]))
        strong = [row for row in ordered if row[1] < _WEAK]
        return list(dict.fromkeys(row[0] for row in strong or ordered))


def _names(entity: Entity) -> list[str]:
    return [name for name in (entity.name, *entity.forms, *entity.synonyms) if name]
