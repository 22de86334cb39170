"""F29: ranges, qualifiers and unit variants: raw text kept; value, bounds and unit read; an unknown unit is flagged."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starling_assets.extraction.unit_conversion import convert
from starling_assets.extraction.values import read_quantity


@pytest.mark.parametrize(
    ("text", "value", "low", "high", "qualifier", "unit"),
    [
        ("<= 5 uM", None, None, 5.0, "<=", "uM"),
        ("≤5 µM", None, None, 5.0, "<=", "µM"),
        ("=< 5 uM", None, None, 5.0, "<=", "uM"),
        ("1-3 mg/kg", None, 1.0, 3.0, None, "mg/kg"),
        ("1 to 3 mg/kg", None, 1.0, 3.0, None, "mg/kg"),
        ("1 mg/kg to 3 mg/kg", None, 1.0, 3.0, None, "mg/kg"),
        ("from 1 to 3 mg/kg", None, 1.0, 3.0, None, "mg/kg"),
        ("1.2x10^-3", 0.0012, None, None, "=", None),
        ("1.2 × 10−3 M", 0.0012, None, None, "=", "M"),
        ("≈ 7 mg", 7.0, None, None, "~", "mg"),
        ("more than 2 g/kg", None, 2.0, None, ">", "g/kg"),
    ],
)
def test_what_is_printed_is_read_and_kept(
    text: str, value: float, low: float, high: float, qualifier: str, unit: str
) -> None:
    quantity = read_quantity(text)
    assert quantity.text == text
    assert (quantity.value, quantity.low, quantity.high, quantity.qualifier, quantity.unit) == (
        value,
        low,
        high,
        qualifier,
        unit,
    )


def test_an_unknown_unit_is_flagged_and_gives_no_number() -> None:
    made = convert(read_quantity("3 smoots/kg"), "mg/kg")
    assert (made.value, made.flag) == (None, "the unit 'smoots/kg' is not understood")


SIGNS = ["<", "<=", "≤", ">", ">=", "≥", "~", "about ", "up to ", "at least ", ""]


@settings(deadline=None)
@given(st.sampled_from(SIGNS), st.decimals(0, 10_000, places=3), st.sampled_from(["mg/kg", "g/kg", "µg/kg", "ng/kg"]))
def test_bounds_keep_their_side_through_conversion(sign: str, number: object, unit: str) -> None:
    quantity = read_quantity(f"{sign}{number} {unit}")
    made = convert(quantity, "mg/kg")
    assert (made.low is None, made.high is None, made.value is None) == (
        quantity.low is None,
        quantity.high is None,
        quantity.value is None,
    )
    assert made.qualifier == quantity.qualifier
    assert [made.value, made.low, made.high].count(None) == 2
