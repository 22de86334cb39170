"""FC-06: numbers and units, row by row."""

from __future__ import annotations

import pytest

from starling_assets.extraction.unit_conversion import Converted, convert
from starling_assets.extraction.values import read_column, read_quantity


def wanted(text: str, target: str, molar_mass: float | None = None) -> Converted:
    return convert(read_quantity(text), target, molar_mass)


def test_a_bound_turns_round_on_a_p_scale() -> None:
    made = wanted("IC50 < 1 nM", "pIC50")
    assert (made.qualifier, made.low, made.high, made.value) == (">", 9.0, None, None)


def test_a_hundred_nanomolar_is_seven() -> None:
    assert wanted("Ki = 100 nM", "pKi").value == 7.0


def test_a_logarithm_with_a_typographic_minus() -> None:
    assert wanted("log IC50 (M) = \u22127.0", "nM").value == 100


@pytest.mark.parametrize("text", ["2 \u00b5M", "2 \u03bcM", "2 uM"])
def test_three_ways_to_write_micro(text: str) -> None:
    assert wanted(text, "mol/L").value == 2e-6


def test_a_length_is_no_concentration() -> None:
    made = wanted("2 \u00b5m", "mol/L")
    assert made.value is None
    assert "dimensions differ" in str(made.flag)


@pytest.mark.parametrize("text", ["250 mcg/kg", "250 \u00b5g/kg"])
def test_micrograms(text: str) -> None:
    assert wanted(text, "mg/kg").value == 0.25


def test_an_amount_needs_a_structure() -> None:
    assert wanted("0.5 mmol/kg", "mg/kg", 194.19).value == pytest.approx(97.1, abs=0.05)
    made = wanted("0.5 mmol/kg", "mg/kg")
    assert (made.value, made.low, made.high) == (None, None, None)
    assert made.flag


def test_a_dose_per_several_kilograms() -> None:
    assert wanted("2 mg per 5 kg body weight", "mg/kg").value == 0.4


@pytest.mark.parametrize("text", ["3 ppm in diet", "3 ppm in air"])
def test_parts_per_million_stay_as_written(text: str) -> None:
    made = wanted(text, "mg/kg")
    assert made.value is None
    assert "kept as written" in str(made.flag)
    assert read_quantity(text).text == text


def test_a_mass_concentration_is_no_percentage() -> None:
    assert wanted("0.5 mg/mL", "%").value is None


def test_a_limit_is_a_bound_and_enters_no_mean() -> None:
    quantities = [read_quantity(">2000 mg/kg"), read_quantity("1800 mg/kg")]
    made = [convert(quantity, "mg/kg") for quantity in quantities]
    assert (made[0].low, made[0].value, made[0].qualifier) == (2000, None, ">")
    exact = [item.value for item in made if item.value is not None]
    assert sum(exact) / len(exact) == 1800


def test_a_dash_between_numbers_is_a_range() -> None:
    made = wanted("1\u20133 mg/kg", "mg/kg")
    assert (made.low, made.high, made.value) == (1, 3, None)


def test_the_column_decides_that_commas_are_decimal() -> None:
    assert [item.value for item in read_column(["236,85", "18268,500", "0,034"])] == [236.85, 18268.5, 0.034]


def test_a_column_that_does_not_decide_is_flagged_and_never_sixteen() -> None:
    read = read_column(["1.250", "16.000", "980"])
    assert [item.value for item in read] == [None, None, 980]
    assert all(item.flag for item in read[:2])
    assert [item.text for item in read] == ["1.250", "16.000", "980"]
