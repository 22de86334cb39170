"""Table schemas of tags. An entity is one (paper, type, canonical name); a mention is one span of it."""

from __future__ import annotations

import polars as pl

#: One row per entity of a paper. `entity_key` = content_key(entity_type, folded canonical name[, paper_id if an alias]).
TAGS: dict[str, pl.DataType | type[pl.DataType]] = {
    "paper_ordinal": pl.UInt32,
    "paper_id": pl.String,
    "entity_key": pl.String,
    "entity_type": pl.String,
    "canonical_name": pl.String,
    "synonyms": pl.List(pl.String),
    "surface_forms": pl.List(pl.String),
    "paragraphs": pl.List(pl.UInt32),  # para_idx
    "organism": pl.String,
    "alias": pl.String,  # medicinal-chemistry label such as 6f, valid in this paper only
    "resolved_name": pl.String,  # e.g. IUPAC
    "concept_ids": pl.List(pl.String),  # what the tagger already knows; links decide
    "tagger": pl.String,
}

#: One row per mention; text[start:end] == surface for the block's stored text.
MENTIONS: dict[str, pl.DataType | type[pl.DataType]] = {
    "paper_ordinal": pl.UInt32,
    "paper_id": pl.String,
    "block_key": pl.String,
    "para_idx": pl.UInt32,
    "para_ordinal": pl.UInt32,
    "start": pl.UInt32,
    "end": pl.UInt32,
    "surface": pl.String,
    "entity_key": pl.String,
    "entity_type": pl.String,
}
