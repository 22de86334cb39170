"""FC-03: offsets in text that changes length when it is folded."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from starling_assets.artifacts.store import Store
from starling_assets.ontology.folding import fold
from tests.tagging.papers import blocks, tagger

SUPPLIED = (
    "\u0130zmir cohort: TNF-\u03b1 and IL-1\u03b2 rose after 5 \u00b5M JQ1; cafe\u0301-au-lait spots and "
    "\U0001d6fc-SMA were scored."
)
STORED = unicodedata.normalize("NFC", SUPPLIED)
EXPECTED = {"TNF-α": (14, 19), "IL-1β": (24, 29), "JQ1": (46, 49), "𝛼-SMA": (74, 79)}


def test_the_lengths_of_the_case() -> None:
    assert (len(SUPPLIED), len(STORED), len(STORED.lower())) == (93, 92, 93)
    assert STORED[43:45] == "µM"
    assert STORED[51:63] == "café-au-lait"


@pytest.mark.parametrize("text", [STORED, STORED.upper().replace("İZMIR", "İzmir").replace("ΜM", "µM")])
def test_offsets_are_code_points_of_the_stored_text(text: str, tmp_path: Path) -> None:
    frame = blocks(text)
    store = Store(tmp_path)
    store.write(tagger().tag(frame).mentions, "mentions", "shard")
    rows = store.read("mentions", "shard").to_dicts()
    assert all(text[row["start"] : row["end"]] == row["surface"] for row in rows)
    if text == STORED:
        found = {row["surface"]: (row["start"], row["end"]) for row in rows}
        assert EXPECTED.items() <= found.items()
        assert found["café-au-lait spots"] == (51, 69)


def test_the_shorter_name_where_only_it_is_written() -> None:
    text = STORED.replace(" spots", "")
    rows = tagger().tag(blocks(text)).mentions.to_dicts()
    assert ("café-au-lait", 51, 63) in [(row["surface"], row["start"], row["end"]) for row in rows]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("TNF-α", "TNF-alpha"),
        ("\U0001d6fc-SMA", "α-SMA"),
        ("\u00b5M", "\u03bcM"),
        ("café-au-lait spots", "cafe\u0301-au-lait spots"),
    ],
)
def test_forms_find_the_same_concepts_and_the_text_stays(left: str, right: str) -> None:
    assert fold(left) == fold(right)
    one, two = tagger().tag(blocks(f"a {left} b")), tagger().tag(blocks(f"a {right} b"))
    assert one.tags["concept_ids"].to_list() == two.tags["concept_ids"].to_list()
    assert two.mentions["surface"].to_list() in ([right], [])
