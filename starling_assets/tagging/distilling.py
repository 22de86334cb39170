"""From the tag tables of all shards to what is validated and what a student learns from, by way of the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from starling_assets.artifacts.files import StoreError, write_atomically, write_text
from starling_assets.artifacts.store import Store
from starling_assets.literature.versions import standing
from starling_assets.settings.model import TaggingSettings

from .candidates import Candidates, Embed, most_frequent, words_around
from .entity_types import EntityType
from .overlay import ASSET as VALIDATION
from .overlay import replace_names
from .training_card import Source, training_card
from .training_set import Counts, Shard, examples, sample
from .validation import DECISIONS
from .validation_calls import Question

_TAGS = "tag_shards"
EXAMPLES = "examples.jsonl"
CARD = "card.md"


def questions(
    store: Store, shards: Sequence[str], kind: EntityType, settings: TaggingSettings, embed: Embed | None
) -> list[Question]:
    """The frequent entities of ``kind`` over all tagged shards, each with its candidates and a sentence."""
    tagged = [shard for shard in shards if store.exists(_TAGS, shard)]
    entities = most_frequent((store.read(_TAGS, shard) for shard in tagged), kind.value, settings.validated_entities)
    found = Candidates(store.read("lexicon"), kind.value, embed).of(entities, settings.validation_candidates)
    shown = _sentences(store, tagged, {entity.entity_key for entity in entities})
    return [
        Question(entity, tuple(entries), shown.get(entity.entity_key, ""))
        for entity, entries in zip(entities, found, strict=True)
    ]


def write_training_set(store: Store, shards: Sequence[str], folder: Path, most_papers: int) -> tuple[Counts, str]:
    """Write the examples and their card into ``folder``; the counts and the card's text.

    Only shards that a teacher tagged are read, and of them only papers that count (newest version, not retracted) under
    a licence that allows redistribution. Raises :class:`StoreError` when no shard was tagged by a teacher.
    """
    taught = [shard for shard in shards if _is_taught(store, shard)]
    if not taught:
        raise StoreError(
            "no shard was tagged by a teacher: set tagging.engine to teacher and materialise tag_shards again"
        )
    decisions, validated = _decisions(store)
    counts, taxa = Counts(), _taxa(store)
    current = _current(store, shards)
    wanted = sample(current.select("paper_id", "licence").iter_rows(), most_papers)

    def lines() -> Iterator[bytes]:
        for shard in taught:
            ordinals = current.filter(pl.col("shard") == shard).select("paper_ordinal")
            yield from examples(_shard(store, shard, ordinals, decisions, counts), wanted, taxa, counts)

    write_atomically(folder / EXAMPLES, lambda handle: handle.writelines(lines()))
    card = training_card(counts, validated, _sources(store))
    write_text(folder / CARD, card)
    return counts, card


def _is_taught(store: Store, shard: str) -> bool:
    if not store.exists(_TAGS, shard, table="passages"):
        return False
    taggers = store.read(_TAGS, shard, columns=["tagger"])["tagger"].unique().to_list()
    return bool(taggers) and all(name.startswith("teacher:") for name in taggers)


def _sentences(store: Store, shards: Sequence[str], wanted: set[str]) -> dict[str, str]:
    """For each entity the words around one of its mentions; shards are read only until every entity has some."""
    found: dict[str, str] = {}
    for shard in shards:
        if len(found) == len(wanted):
            break
        mentions = store.read(_TAGS, shard, table="mentions")
        found |= words_around(mentions, store.read("papers", shard, table="blocks"), wanted - found.keys())
    return found


def _decisions(store: Store) -> tuple[pl.DataFrame, list[tuple[str, int, int, str]]]:
    """All decisions, and per validated type: entities, chosen ones, overlay version."""
    frames, rows = [pl.DataFrame(schema=DECISIONS)], []
    for (kind,) in store.partitions(VALIDATION):
        frame = store.read(VALIDATION, kind)
        version = store.read(VALIDATION, kind, table="about")["version"].item()
        frames.append(frame)
        rows.append((kind, frame.height, frame.filter(pl.col("status") == "chosen").height, version))
    return pl.concat(frames), rows


def _shard(store: Store, shard: str, ordinals: pl.DataFrame, decisions: pl.DataFrame, counts: Counts) -> Shard:
    tags = store.read(_TAGS, shard)
    counts.taggers.update(tags["tagger"].unique())
    passages = store.read(_TAGS, shard, table="passages")
    return Shard(
        replace_names(tags, decisions),
        store.read(_TAGS, shard, table="mentions"),
        passages.join(ordinals, on="paper_ordinal", how="semi", maintain_order="left"),
        store.read("papers", shard, table="blocks"),
        store.read("papers", shard),
    )


def _current(store: Store, shards: Sequence[str]) -> pl.DataFrame:
    """Shard, ordinal, id and licence of the paper versions that count and were not retracted."""
    frames = [(shard, store.read("papers", shard)) for shard in shards if store.exists("papers", shard)]
    licences = [
        frame.select(pl.lit(shard).alias("shard"), "paper_ordinal", pl.col("licence").fill_null("UNKNOWN"))
        for shard, frame in frames
    ]
    rows = standing(frames).filter(pl.col("current") & ~pl.col("retracted"))
    return rows.select("shard", "paper_ordinal", "paper_id").join(
        pl.concat(licences), on=["shard", "paper_ordinal"], maintain_order="left"
    )


def _taxa(store: Store) -> dict[str, str]:
    concepts = store.read("lexicon", table="concepts", columns=["concept_id", "entity_type", "name"])
    return dict(concepts.filter(pl.col("entity_type") == "Organism").select("concept_id", "name").iter_rows())


def _sources(store: Store) -> list[Source]:
    found = []
    for (name,) in store.partitions("ontology_release", table="about"):
        about = store.read("ontology_release", name, table="about").row(0, named=True)
        if about["version"] != "absent":
            found.append(Source(name, about["version"], about["licence"], about["attribution"]))
    return found
