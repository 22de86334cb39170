"""Validated names as an overlay: they replace a teacher's names and may join the vocabulary; releases stay as they are.

An overlay has a version, the hash of its rows and of what decided them. The lexicon with an overlay is a new table in
memory; the stored lexicon and the releases it was compiled from are never edited.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from starling_assets.artifacts.keys import content_key
from starling_assets.artifacts.store import Store, conform
from starling_assets.ontology.folding import fold, spell
from starling_assets.ontology.lexicon import is_case_sensitive
from starling_assets.ontology.tables import LEXICON

ASSET = "vocabulary_validation"
KIND = "related"
#: Shorter printed forms stay out: two papers rarely mean the same by three letters.
_LEAST_LETTERS = 4


@dataclass(frozen=True)
class Overlay:
    """LEXICON rows that the ontology lacks, and their version."""

    version: str
    rows: pl.DataFrame


def build_overlay(decisions: pl.DataFrame, lexicon: pl.DataFrame) -> Overlay:
    """The names of all chosen entities (DECISIONS) that ``lexicon`` does not have for their concept."""
    known = set(lexicon.select("folded", "concept_id").iter_rows())
    preferred = dict(lexicon.select("concept_id", "preferred").unique("concept_id").iter_rows())
    organisms = dict(lexicon.select("concept_id", "organism").unique("concept_id").iter_rows())
    rows: dict[tuple[str, str], dict[str, object]] = {}
    for row in decisions.filter(pl.col("status") == "chosen").iter_rows(named=True):
        concept, kind = row["concept_id"], row["entity_type"]
        for name in (row["canonical_name"], *row["forms"]):
            folded = fold(name)
            if not folded or len(spell(name)) < _LEAST_LETTERS or (folded, concept) in known:
                continue
            rows[folded, concept] = {
                "name": name,
                "folded": folded,
                "concept_id": concept,
                "entity_type": kind,
                "preferred": preferred.get(concept, row["concept_name"]),
                "kind": KIND,
                "case_sensitive": is_case_sensitive(name, kind, KIND),
                "organism": organisms.get(concept),
            }
    frame = pl.DataFrame([rows[key] for key in sorted(rows)], schema=LEXICON)
    decided = decisions.select("entity_key", "status", "concept_id", "model", "prompt").rows()
    return Overlay(content_key(frame.rows(), sorted(decided, key=str)), frame)


def with_overlay(lexicon: pl.DataFrame, overlays: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """``lexicon`` with the rows of ``overlays``, sorted as a lexicon is; the given frame is not changed."""
    frames = [conform(frame, LEXICON) for frame in overlays if frame.height]
    if not frames:
        return lexicon
    return (
        pl.concat([conform(lexicon, LEXICON), *frames])
        .unique(subset=["folded", "concept_id", "name"], keep="first", maintain_order=True)
        .sort("folded", "entity_type", "concept_id", "name")
    )


def lexicon_in_use(store: Store, *, overlay: bool) -> pl.DataFrame:
    """The compiled lexicon, with the overlays of all types that were validated where ``overlay`` says so.

    Tags lead to the overlay and the overlay leads to tags, so the asset graph cannot show this edge: a shard that was
    tagged before a validation keeps its tags until it is made again.
    """
    lexicon = store.read("lexicon")
    if not overlay:
        return lexicon
    keys = store.partitions(ASSET, table="overlay")
    return with_overlay(lexicon, [store.read(ASSET, *key, table="overlay") for key in keys])


def replace_names(tags: pl.DataFrame, decisions: pl.DataFrame) -> pl.DataFrame:
    """TAGS with the ontology's name and synonyms where an entity was validated; keys and forms stay as they are."""
    chosen = (
        decisions.filter(pl.col("status") == "chosen")
        .select(
            "entity_key",
            pl.col("concept_name").alias("_name"),
            pl.col("names").alias("_names"),
            pl.col("concept_id").alias("_concept"),
        )
        .unique("entity_key", keep="first", maintain_order=True)
    )
    found = pl.col("_name").is_not_null()
    return (
        tags.join(chosen, on="entity_key", how="left", maintain_order="left")
        .with_columns(
            pl.when(found).then("_name").otherwise("canonical_name").alias("canonical_name"),
            pl.when(found).then("_names").otherwise("synonyms").alias("synonyms"),
            pl.when(found).then(pl.concat_list("_concept")).otherwise("concept_ids").alias("concept_ids"),
        )
        .drop("_name", "_names", "_concept")
    )
