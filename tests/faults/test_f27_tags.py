"""F27 for mentions: Greek, combining marks, astral code points, sub- and superscripts, ligatures, hyphenation."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.artifacts.store import Store
from starling_assets.tagging.tables import MENTIONS
from tests.tagging.papers import blocks, check_offsets, tag, tagger

TEXTS = [
    "TNF-α, TNF-alpha and TNFα rose",
    "𝛼-SMA and α-SMA beside 𝔸𝔹 and 🧠 caffeine",
    "cafe\u0301-au-lait spots, café-au-lait",
    "caffeine² and caffeine₂ and caﬀeine",
    "the blood-\nbrain barrier and caf\u00adfeine",
    "İ caffeine ß caffeine ŉ caffeine",
    "\ufeffcaffeine\u200b brain",
]


@pytest.mark.parametrize("text", TEXTS)
def test_every_mention_is_a_slice_of_the_text(text: str) -> None:
    frame = blocks(text)
    tagged = tagger().tag(frame)
    assert tagged.mentions.height >= 1
    check_offsets(tagged, frame)


def test_forms_of_one_name_are_one_entity() -> None:
    tagged = tag(TEXTS[0])
    assert tagged.mentions["surface"].to_list() == ["TNF-α", "TNF-alpha", "TNFα"]
    assert tagged.tags.height == 1


def test_soft_hyphens_and_line_ends_inside_a_name() -> None:
    assert tag(TEXTS[4]).mentions["surface"].to_list() == ["blood-\nbrain barrier", "caf\u00adfeine"]


def test_offsets_survive_the_disk(tmp_path: Path) -> None:
    frame = blocks(*TEXTS)
    store = Store(tmp_path)
    store.write(tagger().tag(frame).mentions, "tags", "shard", table="mentions", schema=MENTIONS)
    texts = dict(frame.select("block_key", "text").iter_rows())
    for row in store.read("tags", "shard", table="mentions").iter_rows(named=True):
        assert texts[row["block_key"]][row["start"] : row["end"]] == row["surface"]


@given(st.text(max_size=30), st.text(max_size=30))
def test_planted_mentions_are_found_between_any_characters(left: str, right: str) -> None:
    text = unicodedata.normalize("NFC", f".{left} . caffeine . {right}")
    frame = blocks(text)
    tagged = tagger().tag(frame)
    check_offsets(tagged, frame)
    assert tagged.mentions.filter(pl.col("surface") == "caffeine").height >= 1
