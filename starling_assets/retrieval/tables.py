"""Table schemas of retrieval."""

from __future__ import annotations

import polars as pl

#: One row per posting id and scope. `bitmap` is pyroaring's portable serialisation, made here and read only here (F37).
BITMAPS: dict[str, pl.DataType | type[pl.DataType]] = {
    "scope": pl.String,  # paragraph | chunk | paper
    "posting_id": pl.String,  # `type:<EntityType>` or a concept CURIE, or `name:<entity_key>` for unlinked entities
    "entity_type": pl.String,  # null for `type:` ids
    "units": pl.UInt32,
    "bitmap": pl.Binary,
}

#: The same as rows, for stores that build their own bitmaps.
POSTINGS: dict[str, pl.DataType | type[pl.DataType]] = {
    "scope": pl.String,
    "posting_id": pl.String,
    "entity_type": pl.String,  # null for `type:` ids
    "ordinal": pl.UInt32,
}

#: One row per chunk with a vector.
EMBEDDINGS: dict[str, pl.DataType | type[pl.DataType]] = {
    "ordinal": pl.UInt32,
    "window_key": pl.String,
    "vector": pl.List(pl.Float32),
}

#: One row per paper that any probe matches, in rank order.
RETRIEVAL_SET: dict[str, pl.DataType | type[pl.DataType]] = {
    "rank": pl.UInt32,
    "paper_ordinal": pl.UInt32,
    "paper_id": pl.String,
    "probes": pl.List(pl.String),
    "chunks": pl.UInt32,  # matching chunks
    "hit_share": pl.Float64,
    "mean_similarity": pl.Float64,  # null when the paper has no vectors
    "max_similarity": pl.Float64,
    "score": pl.Float64,
}

#: One row per extraction window of the retrieval set, in reading order of payment.
SUBCORPUS: dict[str, pl.DataType | type[pl.DataType]] = {
    "position": pl.UInt32,
    "rank": pl.UInt32,  # of the paper
    "unit": pl.String,  # journal unit: window key
    "paper_ordinal": pl.UInt32,
    "paper_id": pl.String,
    "extraction_id": pl.String,
    "first_para": pl.UInt32,
    "n": pl.UInt32,
    "similarity": pl.Float64,
    "probes": pl.List(pl.String),
}
