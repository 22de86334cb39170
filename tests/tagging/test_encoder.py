"""The packaged network, and the decoding of its scores."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from starling_assets.tagging.encoder import _NEXT, Encoder, best_labels
from starling_assets.tagging.encoder_features import FeatureReader, Features
from starling_assets.tagging.gold_corpora import HEADS

TEXT = "Treatment with pentostatin caused severe hypotension in rats."
OTHER = "Expression of the BRCA1 gene was lower in HeLa cells."


@lru_cache(maxsize=1)
def encoder() -> Encoder:
    return Encoder.packaged(threads=1)


def features(text: str) -> Features:
    return FeatureReader.packaged().read(text, ())


def legal(labels: tuple[int, ...]) -> bool:
    inside = all(after in _NEXT[before] for before, after in pairwise(labels))
    return inside and labels[0] in (0, 1, 4) and labels[-1] in (0, 3, 4)


@settings(max_examples=25)
@given(st.lists(st.lists(st.floats(-9, 0), min_size=5, max_size=5), min_size=1, max_size=3))
def test_the_labels_are_the_best_of_all_legal_ones(scores: list[list[float]]) -> None:
    def total(labels: tuple[int, ...]) -> float:
        return sum(row[label] for row, label in zip(scores, labels, strict=True))

    found = tuple(best_labels(scores))
    assert legal(found)
    best = max(total(labels) for labels in product(range(5), repeat=len(scores)) if legal(labels))
    assert total(found) >= best - 1e-9


def test_the_network_has_the_heads_that_the_tagger_knows() -> None:
    assert encoder().heads == HEADS


def test_mentions_no_vocabulary_was_asked_for_are_found_with_their_offsets() -> None:
    (read,) = encoder().read([features(TEXT)])
    found = {(TEXT[span.start : span.end], span.head) for span in read.spans}
    assert {("pentostatin", "Chemical"), ("hypotension", "Disease")} <= {
        (surface.removeprefix("severe "), head) for surface, head in found
    }


def test_a_paragraph_reads_the_same_in_any_company() -> None:
    alone = encoder().read([features(TEXT)])[0]
    together = encoder().read([features(OTHER), features(TEXT), features(""), features(OTHER)])
    assert [span[:3] for span in together[1].spans] == [span[:3] for span in alone.spans]
    np.testing.assert_allclose(together[1].outside, alone.outside, atol=1e-4)
    assert together[2].spans == []
    assert together[0].spans == together[3].spans


def test_two_runs_give_the_same_bytes() -> None:
    once = encoder().read([features(TEXT), features(OTHER)])
    again = Encoder.packaged(threads=1).read([features(TEXT), features(OTHER)])
    assert [read.spans for read in once] == [read.spans for read in again]
    assert all(np.array_equal(a.outside, b.outside) for a, b in zip(once, again, strict=True))


def test_a_long_paragraph_is_read_to_its_end() -> None:
    text = "Nothing happened in the control group at all. " * 60 + TEXT
    (read,) = encoder().read([features(text)])
    assert "pentostatin" in {text[span.start : span.end] for span in read.spans}
