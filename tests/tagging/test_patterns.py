"""Grammars: variants, trial numbers, microRNA."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.tagging.patterns import canonical, find_patterns


def found(text: str) -> list[tuple[str, str]]:
    return [(text[item.start : item.end], item.entity_type) for item in find_patterns(text)]


@pytest.mark.parametrize(
    "variant",
    [
        "V600E",
        "p.V600E",
        "p.Val600Glu",
        "Val600Glu",
        "p.(Arg97*)",
        "c.35delG",
        "c.1799T>A",
        "c.76_78del",
        "g.12345A>G",
        "rs1801133",
        "R506Q",
        "677C>T",
        "C677T",
        "IVS2+1G>A",
        "c.123+5G>C",
        "p.Gly12Asp",
        "c.5266dupC",
        "p.F508del",
        "W1282X",
        "-308G>A",
    ],
)
def test_variants(variant: str) -> None:
    assert found(f"carriers of {variant} were seen") == [(variant, "GeneVariant")]


@pytest.mark.parametrize(
    "text",
    [
        "H9N",
        "at 37 C for 10 min",
        "Figure 2A",
        "T47D cells",
        "U87 cells",
        "50 mg",
        "HEK293T",
        "vitamin B12",
        "CD4+",
        "pH 7.4",
        "C57BL/6",
        "5-HT2A",
    ],
)
def test_what_is_no_variant(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "trial",
    [
        "NCT01234567",
        "NCT 01234567",
        "ISRCTN12345678",
        "2004-000446-20",
        "ChiCTR2000029308",
        "ACTRN12605000280606",
        "CTRI/2020/05/025022",
    ],
)
def test_trials(trial: str) -> None:
    assert found(f"registered ({trial}).") == [(trial, "ClinicalTrial")]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("miR-21", "miR-21"),
        ("hsa-miR-155-5p", "miR-155-5p"),
        ("microRNA-34a", "miR-34a"),
        ("let-7a", "let-7a"),
        ("mir 122", "miR-122"),
    ],
)
def test_micro_rna(text: str, name: str) -> None:
    (item,) = find_patterns(f"levels of {text} fell")
    assert (item.entity_type, item.canonical) == ("RNA", name)


@pytest.mark.parametrize(
    ("surface", "kind", "expected"),
    [
        ("p.Val600Glu", "GeneVariant", "p.V600E"),
        ("V600E", "GeneVariant", "p.V600E"),
        ("p.(Val600Glu)", "GeneVariant", "p.V600E"),
        ("Arg97Ter", "GeneVariant", "p.R97*"),
        ("R97X", "GeneVariant", "p.R97*"),
        ("c.1799 T→A", "GeneVariant", "c.1799T>A"),
        ("NCT 01234567", "ClinicalTrial", "NCT01234567"),
    ],
)
def test_one_spelling(surface: str, kind: str, expected: str) -> None:
    assert canonical(surface, kind) == expected


@given(st.text(alphabet="ACGTVEp.c>0123456789 ()rsNCT-+_deli*", max_size=60))
def test_spans_lie_inside_any_text(text: str) -> None:
    for item in find_patterns(text):
        assert 0 <= item.start < item.end <= len(text)
        assert item.canonical
