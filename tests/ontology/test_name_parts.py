"""Names taken apart: form, strength, salt, hydrate, mixture."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.ontology.name_parts import NameParts, components, split_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("aspirin", NameParts("aspirin", "aspirin", (), None, None, None)),
        ("aspirin tablet", NameParts("aspirin", "aspirin", (), None, "tablet", None)),
        ("aspirin Tablets", NameParts("aspirin", "aspirin", (), None, "tablet", None)),
        ("caffeine 200 mg tablet", NameParts("caffeine", "caffeine", (), None, "tablet", "200 mg")),
        ("caffeine 200 mg oral solution", NameParts("caffeine", "caffeine", (), None, "solution", "200 mg")),
        ("water 991 MG/ML", NameParts("water", "water", (), None, None, "991 MG/ML")),
        (
            "dobutamine lactobionate",
            NameParts("dobutamine lactobionate", "dobutamine", ("lactobionate",), None, None, None),
        ),
        ("docetaxel trihydrate", NameParts("docetaxel trihydrate", "docetaxel", (), "trihydrate", None, None)),
        (
            "tiotropium bromide monohydrate",
            NameParts("tiotropium bromide monohydrate", "tiotropium", ("bromide",), "monohydrate", None, None),
        ),
        ("sodium chloride", NameParts("sodium chloride", "sodium", ("chloride",), None, None, None)),
        ("chloride", NameParts("chloride", "chloride", (), None, None, None)),
    ],
)
def test_parts(name: str, expected: NameParts) -> None:
    assert split_name(name) == expected


def test_what_is_kept_beside_the_substance() -> None:
    assert split_name("caffeine 200 mg tablet").kept == ("form: tablet", "strength: 200 mg")
    assert split_name("caffeine").kept == ()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("trimethoprim/sulfamethoxazole", ["trimethoprim", "sulfamethoxazole"]),
        ("amoxicillin and clavulanate", ["amoxicillin", "clavulanate"]),
        ("1/2 strength", ["1/2 strength"]),
        ("poly(lactic/glycolic)", ["poly(lactic/glycolic)"]),
        ("N/A", ["N/A"]),
        ("aspirin", ["aspirin"]),
    ],
)
def test_components(name: str, expected: list[str]) -> None:
    assert components(name) == expected


@given(st.text(max_size=60))
def test_any_text_is_taken_apart_without_loss_of_the_substance(text: str) -> None:
    parts = split_name(text)
    assert parts.substance.startswith(parts.base)
    assert components(text)
