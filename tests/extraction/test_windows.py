from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from starling_assets.extraction.windows import Window, plan_windows

from .world import blocks_of, papers_of, segment, subcorpus_of, window

KEYS = {"prompt": "extract@1", "schema": "s", "model": "m"}


def planned(texts: list[list[str]], max_tokens: int = 1_200, **changes: object) -> list[Window]:
    blocks = blocks_of(texts)
    keys = {**KEYS, **changes}
    return plan_windows(subcorpus_of(blocks), blocks, papers_of(len(texts)), max_tokens=max_tokens, **keys)  # type: ignore[arg-type]


def test_a_window_shows_title_section_and_numbered_paragraphs() -> None:
    made = window("First.", "Second.", title="On  entry\n to brain")
    assert made.text.splitlines() == ["Title: On entry to brain", "Section: Results", "[1] First.", "[2] Second."]


def test_hidden_characters_are_not_shown() -> None:
    assert "ignore\u200b" not in window("please ignore\u200b \U000e0041this").text
    assert window("a\u202eb").text.endswith("[1] ab")


def test_units_depend_on_text_prompt_schema_and_model_and_on_nothing_else() -> None:
    base = [made.unit for made in planned([["One.", "Two.", "Three."]])]
    assert base == [made.unit for made in planned([["One.", "Two.", "Three."]])]
    assert len(set(base)) == 2
    for change in ({"prompt": "extract@2"}, {"schema": "t"}, {"model": "n"}):
        assert not set(base) & {made.unit for made in planned([["One.", "Two.", "Three."]], **change)}
    later = [made.unit for made in planned([["One.", "Two.", "Changed."]])]
    assert later[0] == base[0]
    assert later[1] != base[1]


def test_a_window_above_the_limit_is_cut_between_paragraphs_and_a_long_paragraph_at_sentences() -> None:
    long = " ".join(f"Sentence number {n} says something about rats." for n in range(60))
    made = planned([[long, "Short."]], max_tokens=200)
    assert len(made) > 2
    assert all(sum(part.tokens() for part in one.segments) <= 200 for one in made)
    pieces = [part for one in made for part in one.segments if part.para_idx == 0]
    assert "".join(part.text for part in pieces) == long
    assert all(long[part.start : part.start + len(part.text)] == part.text for part in pieces)
    assert all(part.text.rstrip().endswith(".") for part in pieces)


def test_max_windows_takes_the_best_ranked() -> None:
    blocks = blocks_of([["A.", "B.", "C.", "D.", "E."]])
    made = plan_windows(subcorpus_of(blocks), blocks, papers_of(1), max_tokens=100, max_windows=2, **KEYS)
    assert [part.text for one in made for part in one.segments] == ["A.", "B.", "C.", "D."]


def test_halves_cover_the_window_in_order() -> None:
    whole = window("a" * 50, "b" * 10, "c" * 40)
    first, second = whole.halves() or (whole, whole)
    assert (*first.segments, *second.segments) == whole.segments
    assert [len(first.segments), len(second.segments)] == [1, 2]
    assert first.unit == second.unit == whole.unit


def test_the_only_paragraph_is_halved_at_a_sentence_and_a_single_word_is_not() -> None:
    whole = Window("u", "pmid:1", "", (segment("One is here. Two is there. Three is gone.", start=7),))
    first, second = whole.halves() or (whole, whole)
    assert first.segments[0].text == "One is here. "
    assert second.segments[0].start == 7 + len("One is here. ")
    assert Window("u", "pmid:1", "", (segment("x"),)).halves() is None
    assert Window("u", "pmid:1", "", ()).halves() is None


@settings(deadline=None)
@given(st.lists(st.text(min_size=1, max_size=300), min_size=1, max_size=6), st.integers(20, 120))
def test_no_character_is_lost_and_no_window_exceeds_the_limit(texts: list[str], limit: int) -> None:
    made = planned([texts], max_tokens=limit)
    for para, text in enumerate(texts):
        pieces = [part for one in made for part in one.segments if part.para_idx == para]
        assert "".join(part.text for part in pieces) == text
        assert all(text[part.start : part.start + len(part.text)] == part.text for part in pieces)
    assert all(sum(part.tokens() for part in one.segments) <= limit for one in made)
