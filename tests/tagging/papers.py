"""Blocks for taggers, and a tagger over the invented vocabulary."""

from __future__ import annotations

from functools import lru_cache

import polars as pl

from starling_assets.settings.model import TaggingSettings
from starling_assets.tagging.dictionary import DictionaryTagger, Tagged
from tests.ontology.vocabulary import lexicon


def blocks(*texts: str, paper: int = 0) -> pl.DataFrame:
    """One paper; a text that starts with ``# `` is a heading."""
    rows = []
    paragraph = 0
    for text in texts:
        heading = text.startswith("# ")
        rows.append(
            (
                paper,
                f"pmid:{paper}",
                f"key-{paper}-{len(rows)}",
                None if heading else paragraph,
                None if heading else paper * 100 + paragraph,
                text,
            )
        )
        paragraph += not heading
    schema = {
        "paper_ordinal": pl.UInt32,
        "paper_id": pl.String,
        "block_key": pl.String,
        "para_idx": pl.UInt32,
        "para_ordinal": pl.UInt32,
        "text": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


@lru_cache(maxsize=1)
def tagger() -> DictionaryTagger:
    return DictionaryTagger(lexicon(), TaggingSettings())


def tag(*texts: str) -> Tagged:
    return tagger().tag(blocks(*texts))


def spans(*texts: str) -> list[tuple[str, str]]:
    """(surface, type) of all mentions in order."""
    return [(row["surface"], row["entity_type"]) for row in tag(*texts).mentions.iter_rows(named=True)]


def check_offsets(tagged: Tagged, frame: pl.DataFrame) -> None:
    """``text[start:end] == surface`` for every mention."""
    texts = dict(frame.select("block_key", "text").iter_rows())
    for row in tagged.mentions.iter_rows(named=True):
        assert texts[row["block_key"]][row["start"] : row["end"]] == row["surface"]
