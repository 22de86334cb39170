"""The matcher against brute force, and whole words only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.ontology.folding import TOKEN, fold_token
from starling_assets.tagging.matching import Hit, TokenMatcher


def found(names: list[str], text: str) -> list[str]:
    return [text[hit.start : hit.end] for hit in TokenMatcher(names).find(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Breast cancer and cancer.", ["Breast cancer", "cancer", "cancer"]),
        ("breast-cancer", ["breast-cancer", "cancer"]),
        ("cancerous precancer", []),
        ("cancer2 2cancer", []),
        ("CANCER", ["CANCER"]),
        ("", []),
        ("...", []),
        ("cancer", ["cancer"]),
    ],
)
def test_whole_words(text: str, expected: list[str]) -> None:
    assert found(["breast cancer", "cancer"], text) == expected


def test_a_name_is_no_part_of_a_code() -> None:
    assert found(["hl 60", "il 6"], "HL60 HL60R IL6R IL-6 IL61") == ["HL60", "IL-6"]


def test_no_names_find_nothing() -> None:
    matcher = TokenMatcher([])
    assert len(matcher) == 0
    assert matcher.find("anything") == []


def brute(names: list[str], text: str) -> list[Hit]:
    tokens = [(match.start(), match.end(), fold_token(match.group())) for match in TOKEN.finditer(text)]
    hits = []
    for first in range(len(tokens)):
        for last in range(first, len(tokens)):
            name = " ".join(token for _, _, token in tokens[first : last + 1])
            start, end = tokens[first][0], tokens[last][1]
            touches = (first > 0 and tokens[first - 1][1] == start) or (
                last + 1 < len(tokens) and tokens[last + 1][0] == end
            )
            if name in names and not touches:
                hits.append(Hit(start, end, names.index(name)))
    return sorted(hits)


WORDS = st.lists(st.sampled_from(["a", "b", "1", "alpha", "cc"]), min_size=1, max_size=4).map(" ".join)


@given(st.lists(WORDS, max_size=8, unique=True), st.text(alphabet="ab1αcC -,.", max_size=40))
def test_equal_to_brute_force(names: list[str], text: str) -> None:
    assert TokenMatcher(names).find(text) == brute(names, text)


def test_a_long_paragraph_of_one_word_ends_soon() -> None:
    names = [" ".join(["a"] * length) for length in range(1, 20)]
    assert len(TokenMatcher(names).find("a " * 5_000)) > 90_000
