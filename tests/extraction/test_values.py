"""F29 lives in tests/faults, FC-06 in tests/field_cases; here is the rest of the grammar."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starling_assets.extraction.numbers import NUMBER, Ambiguous, Reading, decimal_mark, numbers_in, plain, read_number
from starling_assets.extraction.values import Quantity, column_of, is_absent, read_column, read_quantity


@pytest.mark.parametrize(
    ("text", "value", "low", "high", "qualifier", "unit"),
    [
        ("12.5 nM", 12.5, None, None, "=", "nM"),
        ("at least 80%", None, 80, None, ">=", "%"),
        ("up to 5 mg", None, None, 5, "<=", "mg"),
        ("about 0.2–0.3 ng/kg", None, 0.2, 0.3, "~", "ng/kg"),
        ("between 5 and 10 mg", None, 5, 10, None, "mg"),
        ("5 mg to 10 mg", None, 5, 10, None, "mg"),
        ("10-5 mg", None, 5, 10, None, "mg"),
        ("63.0 ± 6.5 μg/g", 63.0, None, None, "=", "μg/g"),
        ("12 632 ± 132", 12632, None, None, "=", None),
        ("near to 1.00", 1.0, None, None, "~", None),
        ("all over 5000 mg/kg", None, 5000, None, ">", "mg/kg"),
        ("Kp: 0.42", 0.42, None, None, "=", None),
        ("3–7-fold", None, 3, 7, None, "fold"),
        ("−2.51", -2.51, None, None, "=", None),
        (">7.5 g/kg body weight (BW)", None, 7.5, None, ">", "g/kg body weight (BW)"),
        (".5 mg", 0.5, None, None, "=", "mg"),
    ],
)
def test_printed_values(text: str, value: float, low: float, high: float, qualifier: str, unit: str) -> None:
    quantity = read_quantity(text)
    assert (quantity.value, quantity.low, quantity.high) == (value, low, high)
    assert (quantity.qualifier, quantity.unit, quantity.text) == (qualifier, unit, text)


def test_the_unit_given_apart_wins_and_the_spread_is_kept() -> None:
    quantity = read_quantity("135 ± 12", "mg/kg")
    assert (quantity.value, quantity.spread, quantity.unit) == (135, 12, "mg/kg")


@pytest.mark.parametrize("text", ["high", "", "not detected", "IC50", "F3 and B12"])
def test_a_text_without_a_number_gives_none_and_says_so(text: str) -> None:
    quantity = read_quantity(text)
    assert (quantity.value, quantity.low, quantity.high) == (None, None, None)
    assert quantity.flag == "no number in the text"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.2e-3", 0.0012),
        ("1.2 × 10⁻³", 0.0012),
        ("1.2x10^-3", 0.0012),
        ("1.2*10**-3", 0.0012),
        ("3 × 10^(6)", 3e6),
        ("2E5", 2e5),
    ],
)
def test_powers_of_ten(text: str, value: float) -> None:
    assert read_quantity(text).value == value


def test_a_lost_superscript_is_read_and_said() -> None:
    quantity = read_quantity("3 × 106 U/kg")
    assert (quantity.value, quantity.flag) == (3e6, "the exponent lost its superscript")


def test_two_times_a_hundred_is_no_power_of_ten() -> None:
    assert read_quantity("2 x 100 mg").value == 2


@pytest.mark.parametrize("word", [None, "null", "N/A", " n.d. ", "None", "not reported", "—", "NaN", ""])
def test_absence(word: str | None) -> None:
    assert is_absent(word)


@pytest.mark.parametrize("word", [0, 0.0, "0", "nap", False, "no"])
def test_zero_and_no_are_not_absence(word: object) -> None:
    assert not is_absent(word)


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["0,034", "12"], ","),
        (["1,234.5"], "."),
        (["1.234,5"], ","),
        (["1.250"], None),
        (["0,5", "0.5"], None),
        (["1.234.567"], ","),
    ],
)
def test_the_column_tells_its_decimal_mark(cells: list[str], mark: str | None) -> None:
    assert decimal_mark(cells) == mark


def test_a_cell_that_contradicts_its_column_is_flagged() -> None:
    odd, fine = read_column(["1,2,3", "0,5"])
    assert odd.value is None
    assert odd.flag
    assert fine.value == 0.5


TABLE = """Table 1 Toxicity. | Compound: K-11 | LD50 (mg/kg): 236,85 | n: 6
Table 1 Toxicity. | Compound: K-12 | LD50 (mg/kg): 18268,500 | n: 1.250
Table 1 Toxicity. | Compound: K-13 | LD50 (mg/kg): 0,034 | n: 16.000"""


def test_a_column_is_found_by_one_of_its_cells() -> None:
    assert column_of(TABLE, "18268,500") == ["236,85", "18268,500", "0,034"]
    assert column_of(TABLE, "16.000") == ["6", "1.250", "16.000"]
    assert column_of(TABLE, "99") == []


def test_a_number_too_large_for_a_float_is_no_number() -> None:
    assert read_quantity("1e999").flag == "not a finite number"


def test_numbers_in_a_sentence_leave_names_out() -> None:
    assert set(numbers_in("IC50 of compound B12 was 7,5 nM (1.2 × 10−3)")) == {7.5, 0.0012}


@settings(deadline=None)
@given(st.floats(min_value=1e-6, max_value=1e6), st.sampled_from(["", "<", ">", "<=", ">=", "~"]))
def test_a_printed_float_is_read_back(number: float, sign: str) -> None:
    text = f"{sign} {number:.6f} mg/kg"
    quantity = read_quantity(text)
    read = next(found for found in (quantity.value, quantity.low, quantity.high) if found is not None)
    assert math.isclose(read, float(f"{number:.6f}"))
    assert quantity.qualifier == (sign or "=")
    assert quantity.unit == "mg/kg"


@settings(deadline=None)
@given(st.integers(0, 999), st.integers(0, 999))
def test_a_range_is_ordered_and_never_negative(one: int, other: int) -> None:
    quantity = read_quantity(f"{one}–{other} mg/kg")
    assert (quantity.low, quantity.high) == (min(one, other), max(one, other))


@settings(deadline=None)
@given(st.text(max_size=40))
def test_any_text_gives_a_quantity_that_keeps_it(text: str) -> None:
    quantity = read_quantity(text)
    assert isinstance(quantity, Quantity)
    assert quantity.text == text
    numbers = [number for number in (quantity.value, quantity.low, quantity.high) if number is not None]
    assert all(math.isfinite(number) for number in numbers)
    assert bool(numbers) or quantity.flag


@settings(deadline=None)
@given(st.from_regex(NUMBER.pattern.replace("(?<![A-Za-z\\d])", ""), fullmatch=True))
def test_every_match_reads_or_tells_why_not(text: str) -> None:
    match = NUMBER.match(plain(text))
    assert match is not None
    reading = read_number(match)
    assert (isinstance(reading, Reading) and math.isfinite(reading.value)) or isinstance(reading, Ambiguous)
