"""What the encoder is told of a text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starling_assets.tagging.encoder_features import (
    BITS,
    HASH_ROWS,
    HASHES,
    PIECES,
    STRETCH,
    FeatureReader,
    Features,
    Found,
    spans_of,
    word_pieces,
)

VOCABULARY = {"[PAD]": 0, "[UNK]": 1, "caf": 2, "##feine": 3, "caffeine": 4, "brain": 5, "##s": 6, "(": 7}
TYPES = (BITS - 1) // 3


def read(text: str, *found: Found) -> Features:
    return FeatureReader(VOCABULARY).read(text, found)


def tokens(text: str) -> list[str]:
    features = read(text)
    return [text[start:end] for start, end in zip(features.starts, features.ends, strict=True)]


def test_letters_digits_and_signs_are_tokens_of_their_own() -> None:
    assert tokens("BRCA1-null p.Val600Glu, α2") == [
        "BRCA", "1", "-", "null", "p", ".", "Val", "600", "Glu", ",", "α", "2",
    ]  # fmt: skip


@settings(max_examples=40)
@given(st.text(max_size=300))
def test_tokens_cover_everything_but_white_space_in_order(text: str) -> None:
    features = read(text)
    assert "".join(tokens(text)) == "".join(text.split())
    assert (features.starts[1:] >= features.ends[:-1]).all()
    assert features.pieces.shape == (len(features.starts), PIECES)
    assert features.hashes.shape == (len(features.starts), HASHES)
    assert ((features.hashes > 0) & (features.hashes < HASH_ROWS)).all()


@settings(max_examples=25)
@given(st.lists(st.sampled_from(["word " * 70, "Next", "end. ", "10 " * 199, "(a)"]), max_size=12))
def test_stretches_cover_the_text_once_and_are_bounded(words: list[str]) -> None:
    features = read(" ".join(words))
    borders = [0] + [end for _, end in features.stretches]
    assert [begin for begin, _ in features.stretches] == borders[:-1]
    assert borders[-1] == len(features.starts)
    assert all(0 < end - begin <= STRETCH for begin, end in features.stretches)


def test_a_long_text_is_cut_between_sentences() -> None:
    text = "One two three four five six seven eight nine ten. " * 40
    features = read(text)
    for _, end in features.stretches:
        assert text[features.ends[end - 1] - 1] == "."


@pytest.mark.parametrize(
    ("word", "pieces"),
    [("caffeine", [4]), ("caffeines", [4, 6]), ("brains", [5, 6]), ("caffeinex", [1]), ("unknown", [1]), ("", [])],
)
def test_word_pieces_are_the_longest_from_the_left(word: str, pieces: list[int]) -> None:
    assert word_pieces(word, VOCABULARY) == pieces


def test_what_the_dictionary_found_reaches_the_tokens_under_it() -> None:
    text = "the blood brain barrier (BBB)"
    bits = read(text, Found(4, 23, "Anatomy", True), Found(4, 9, "Anatomy", False)).bits
    first, inside, fits = bits[:, 0], bits[:, TYPES], bits[:, 2 * TYPES]
    assert first.tolist() == [0, 1, 0, 0, 0, 0, 0]
    assert inside.tolist() == [0, 0, 1, 1, 0, 0, 0]
    assert fits.tolist() == [0, 1, 0, 0, 0, 0, 0]
    assert bits[:, -1].tolist() == [1, 1, 1, 1, 1, 0, 0]


def test_a_spelling_has_the_same_row_wherever_it_stands() -> None:
    features = read("Caffeine, brain; caffeine")
    assert (features.hashes[0, :1] == features.hashes[4, :1]).all()
    assert not np.array_equal(features.hashes[0], features.hashes[4])  # the shape differs


def test_equal_texts_have_equal_features_in_any_company() -> None:
    reader = FeatureReader(VOCABULARY)
    alone = reader.read("brains of mice", ())
    reader.read("caffeine and many other words", ())
    again = reader.read("brains of mice", ())
    assert np.array_equal(alone.hashes, again.hashes)
    assert np.array_equal(alone.pieces, again.pieces)


@pytest.mark.parametrize(
    ("labels", "spans"),
    [
        ([0, 4, 0], [(1, 2)]),
        ([1, 2, 3], [(0, 3)]),
        ([1, 3, 4], [(0, 2), (2, 3)]),
        ([2, 3, 0], []),
        ([1, 2, 0, 3], []),
        ([1, 4, 3], [(1, 2)]),
        ([], []),
    ],
)
def test_labels_become_spans(labels: list[int], spans: list[tuple[int, int]]) -> None:
    assert spans_of(labels) == spans
