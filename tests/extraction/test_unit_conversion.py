from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starling_assets.extraction.unit_conversion import UnknownUnit, convert, unit_expression
from starling_assets.extraction.values import read_quantity


@pytest.mark.parametrize(
    ("text", "target", "value"),
    [
        ("135 mg/kg b.wt.", "mg/kg", 135),
        ("414 mg a.i./kg bw", "mg/kg", 414),
        ("5 mg kg-1", "mg/kg", 5),
        ("5 mg kg⁻¹", "mg/kg", 5),
        ("5 mg·kg−1", "mg/kg", 5),
        ("1 ng/kg", "mg/kg", 1e-6),
        ("51 mg a.i./kg-bw", "mg/kg", 51),
        ("15 g of Maca-GO per kg body weight (BW)", "mg/kg", 15_000),
        ("12 μg∙h mL−1", "mg*h/L", 12),
        ("7 pg/mouse", "pg/animal", 7),
        ("0.4 g/L", "mg/mL", 0.4),
        ("2 h", "min", 120),
        ("12 percent", "%", 12),
        ("3 nmol/mL", "uM", 3),
        ("10 micromolar", "nM", 10_000),
    ],
)
def test_units_that_say_the_same(text: str, target: str, value: float) -> None:
    made = convert(read_quantity(text), target)
    assert made.flag is None
    assert made.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("5 mg/g", "mg/kg"),  # a mass fraction is no dose
        ("5.95 mg/L", "mg/kg"),
        ("3 U/kg", "mg/kg"),
        ("7 pg/mouse", "mg/kg"),
        ("80 %", "mg/kg"),
        ("5 mg/kg diet", "mg/kg"),
        ("5 furlong", "mg/kg"),
        ("5", "mg/kg"),
        ("high", "mg/kg"),
    ],
)
def test_what_cannot_be_converted_is_flagged_and_has_no_number(text: str, target: str) -> None:
    made = convert(read_quantity(text), target)
    assert made.flag
    assert (made.value, made.low, made.high) == (None, None, None)


def test_amount_to_mass_needs_the_molar_mass_in_both_directions() -> None:
    assert convert(read_quantity("1 mmol/kg"), "mg/kg", 200.0).value == 200
    assert convert(read_quantity("320 mg/kg"), "mmol/kg", 160.0).value == 2
    flagged = convert(read_quantity("320 mg/kg"), "mmol/kg")
    assert (flagged.value, "molar mass" in str(flagged.flag)) == (None, True)


def test_a_logarithm_of_zero_has_no_value() -> None:
    made = convert(read_quantity("0 nM"), "pIC50")
    assert made.value is None
    assert made.flag


def test_a_range_on_a_p_scale_changes_its_ends() -> None:
    made = convert(read_quantity("1–10 nM"), "pIC50")
    assert (made.low, made.high) == (8, 9)


def test_log_units_are_read_back() -> None:
    made = convert(read_quantity("-2.5", "log10(mol/kg)"), "mg/kg", 100.0)
    assert made.value == pytest.approx(10**-2.5 * 100_000)


@pytest.mark.parametrize("text", ["", "/", "mg//kg", "μ", "x", "mg/kg/", "3", "kg kg kg!"])
def test_nonsense_is_an_unknown_unit(text: str) -> None:
    with pytest.raises(UnknownUnit):
        unit_expression(text)


@settings(deadline=None)
@given(
    st.floats(min_value=1e-3, max_value=1e3), st.sampled_from(["pM", "nM", "uM", "mM"]), st.sampled_from(["nM", "uM"])
)
def test_there_and_back_is_the_same(number: float, source: str, target: str) -> None:
    there = convert(read_quantity(f"{number:.6f}", source), target)
    back = convert(read_quantity(f"{there.value:.15g}", target), source)
    assert math.isclose(back.value or 0, float(f"{number:.6f}"), rel_tol=1e-9)


@settings(deadline=None)
@given(st.text(max_size=12))
def test_any_unit_text_is_understood_or_refused(text: str) -> None:
    try:
        expression = unit_expression(text)
    except UnknownUnit as error:
        expression = str(error)
        assert repr(text) in expression
    assert expression
