"""The most frequent entities of a type, and for each the vocabulary entries it may be: spelled alike or meant alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from starling_assets.ontology.folding import fold
from starling_assets.ontology.lexicon import KIND_RANK
from starling_assets.ontology.normalising import normalised
from starling_assets.tagging.choosing import source_rank

from .name_search import NameSearch

#: Texts to unit vectors (n, d), as ``retrieval.protocols.Embedder.embed`` gives them.
type Embed = Callable[[Sequence[str]], np.ndarray]
#: Up to so many entries of a type are embedded; of larger vocabularies only those spelled somewhat alike.
EMBEDDED = 20_000
#: Entries looked at by spelling, and by meaning, before the best are taken.
_LOOKED_AT = 30
#: Constant of reciprocal rank fusion: how slowly a lower rank loses weight.
_FUSION = 20.0
_EXACT = 1.0
_MOST_FORMS = 8
_MOST_NAMES = 6
#: Characters shown on each side of a mention.
_AROUND = 110


@dataclass(frozen=True, slots=True)
class Frequent:
    """An entity over all papers: how it is written, most frequent form first, and in how many papers it stands."""

    entity_key: str
    name: str
    organism: str | None
    forms: tuple[str, ...]
    synonyms: tuple[str, ...]
    papers: int
    paragraphs: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A vocabulary entry with its own name and others, strongest first."""

    concept_id: str
    name: str
    names: tuple[str, ...]


def most_frequent(tags: Iterable[pl.DataFrame], entity_type: str, most: int) -> list[Frequent]:
    """The ``most`` entities of ``entity_type`` that stand in most papers; ties by paragraphs, then by name.

    ``tags``: TAGS of each shard. A paper's own labels (``alias``) are no vocabulary and are left out.
    """
    columns = ["paper_id", "entity_key", "canonical_name", "organism", "surface_forms", "synonyms", "paragraphs"]
    frames = [
        frame.filter(pl.col("entity_type") == entity_type, pl.col("alias").is_null()).select(columns) for frame in tags
    ]
    rows = pl.concat(frames) if frames else pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
    if rows.is_empty():
        return []
    counted = (
        rows.group_by("entity_key")
        .agg(
            pl.col("paper_id").n_unique().alias("papers"),
            pl.col("paragraphs").list.len().sum().alias("n"),
            pl.col("canonical_name").mode().sort().first(),
            pl.col("organism").drop_nulls().sort().first(),
            pl.col("surface_forms").list.explode(keep_nulls=False, empty_as_null=False),
            pl.col("synonyms").list.explode(keep_nulls=False, empty_as_null=False),
        )
        .sort(["papers", "n", "canonical_name", "entity_key"], descending=[True, True, False, False])
        .head(most)
    )
    return [
        Frequent(
            row["entity_key"],
            row["canonical_name"],
            row["organism"],
            _by_count(row["surface_forms"])[:_MOST_FORMS],
            _by_count(row["synonyms"])[:_MOST_FORMS],
            row["papers"],
            row["n"],
        )
        for row in counted.iter_rows(named=True)
    ]


class Candidates:
    """Entries of one type's part of the lexicon, looked up by spelling and by meaning."""

    def __init__(self, lexicon: pl.DataFrame, entity_type: str, embed: Embed | None = None) -> None:
        rows = lexicon.filter(pl.col("entity_type") == entity_type).sort("folded", "concept_id", "name")
        self._names: dict[str, list[tuple[int, str]]] = {}
        for concept, kind, name in rows.select("concept_id", "kind", "name").iter_rows():
            self._names.setdefault(concept, []).append((KIND_RANK.get(kind, 3), name))
        shown = rows.unique("concept_id", keep="first", maintain_order=True)
        self._preferred = dict(shown.select("concept_id", "preferred").iter_rows())
        self._organism = dict(shown.select("concept_id", "organism").iter_rows())
        by_name = rows.group_by("folded", maintain_order=True).agg(pl.col("concept_id").unique(maintain_order=True))
        self._folded: list[str] = by_name["folded"].to_list()
        self._concepts: list[list[str]] = by_name["concept_id"].to_list()
        self._search = NameSearch(self._folded)
        self._normalised: dict[str, list[int]] = {}
        for place, folded in enumerate(self._folded):
            self._normalised.setdefault(normalised(folded), []).append(place)
        self._embed = embed

    def of(self, entities: Sequence[Frequent], most: int) -> list[list[Entry]]:
        """Up to ``most`` entries for each entity, best first; another species' genes are no candidates."""
        spelled = [self._spelled(entity) for entity in entities]
        meant = self._meant(entities, spelled)
        return [
            [self._entry(concept) for concept in self._fused(entity, first, second)[:most]]
            for entity, first, second in zip(entities, spelled, meant, strict=True)
        ]

    def _spelled(self, entity: Frequent) -> dict[str, float]:
        """Concepts with the best similarity of any of their names to any name of the entity."""
        found: dict[str, float] = {}
        for name in dict.fromkeys((entity.name, *entity.forms, *entity.synonyms)):
            places = [(place, _EXACT) for place in self._normalised.get(normalised(name), [])]
            places += [(alike.position, alike.similarity) for alike in self._search.alike(fold(name), _LOOKED_AT)]
            for place, similarity in places:
                for concept in self._concepts[place]:
                    found[concept] = max(found.get(concept, 0.0), similarity)
        return found

    def _meant(self, entities: Sequence[Frequent], spelled: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
        """Concepts with the cosine of their own name to the entity's name; empty without an embedder."""
        everything = len(self._preferred) <= EMBEDDED
        pool = sorted(self._preferred if everything else {concept for one in spelled for concept in one})
        if self._embed is None or not pool or not entities:
            return [{} for _ in entities]
        vectors = self._embed([self._preferred[concept] for concept in pool])
        cosines = self._embed([entity.name for entity in entities]) @ vectors.T
        best = np.argsort(-np.round(cosines, 5), axis=1, kind="stable")[:, :_LOOKED_AT]
        return [{pool[place]: float(row[place]) for place in places} for row, places in zip(cosines, best, strict=True)]

    def _fused(self, entity: Frequent, spelled: Mapping[str, float], meant: Mapping[str, float]) -> list[str]:
        """Concepts whose name is the entity's first, then by both rankings together."""
        scores: dict[str, float] = {}
        for ranking in (spelled, meant):
            order = sorted(ranking, key=lambda concept: (-round(ranking[concept], 5), source_rank(concept), concept))
            for rank, concept in enumerate(order[:_LOOKED_AT]):
                scores[concept] = scores.get(concept, 0.0) + 1.0 / (_FUSION + rank)
        usable = [concept for concept in scores if self._fits(entity, concept)]
        exact = {concept for concept in usable if spelled.get(concept, 0.0) >= _EXACT}
        return sorted(
            usable, key=lambda concept: (concept not in exact, -scores[concept], source_rank(concept), concept)
        )

    def _fits(self, entity: Frequent, concept: str) -> bool:
        organism = self._organism.get(concept)
        return organism is None or entity.organism is None or organism == entity.organism

    def _entry(self, concept: str) -> Entry:
        own = self._preferred[concept]
        others = dict.fromkeys(name for _, name in sorted(self._names[concept]) if fold(name) != fold(own))
        return Entry(concept, own, tuple(others)[:_MOST_NAMES])


def _by_count(values: Sequence[str]) -> tuple[str, ...]:
    counts: dict[str, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return tuple(sorted(counts, key=lambda value: (-counts[value], value)))


def words_around(mentions: pl.DataFrame, blocks: pl.DataFrame, wanted: set[str]) -> dict[str, str]:
    """For each entity of ``wanted`` that is mentioned: the words around its first mention (MENTIONS, BLOCKS)."""
    first = (
        mentions.filter(pl.col("entity_key").is_in(sorted(wanted)))
        .sort("paper_ordinal", "para_idx", "start", "end")
        .unique("entity_key", keep="first", maintain_order=True)
        .join(blocks.select("paper_ordinal", "para_idx", "text"), on=["paper_ordinal", "para_idx"])
    )
    columns = first.select("entity_key", "start", "end", "text").iter_rows()
    return {key: text[max(0, start - _AROUND) : end + _AROUND].strip() for key, start, end, text in columns}
