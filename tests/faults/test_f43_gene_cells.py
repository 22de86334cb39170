"""F43: gene symbols turned into dates, and the same symbol in three species: the right gene, or candidates."""

from __future__ import annotations

from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.ontology.gene_cells import GeneCells, spreadsheet_date
from starling_assets.ontology.linking import link_entities
from starling_assets.ontology.rows import Rows
from tests.ontology.vocabulary import concepts, lexicon
from tests.tagging.papers import tag


@lru_cache(maxsize=1)
def cells() -> GeneCells:
    rows = Rows("hgnc")
    for concept_id, symbol, previous, alias in (
        ("HGNC:26077", "MARCHF1", "MARCH1", ""),
        ("HGNC:26189", "MTARC1", "MARC1", ""),
        ("HGNC:23658", "DELEC1", "DEC1", ""),
        ("HGNC:1", "BHLHX", "", "DEC1"),
        ("HGNC:2", "ONLY7", "OCT7", ""),
    ):
        rows.concept(concept_id, "Gene", symbol)
        rows.name(concept_id, symbol, "symbol")
        rows.name(concept_id, previous, "previous")
        rows.name(concept_id, alias, "related")
    rows.name("HGNC:26077", "NCBIGene:55016", "xref")
    rows.name("HGNC:26189", "NCBIGene:64757", "xref")
    release = rows.release("1", "CC0", "invented")
    return GeneCells(release.concepts, release.names)


@pytest.mark.parametrize(
    ("cell", "symbols"),
    [
        ("1-Mar", ["MARCH1", "MARC1", "MAR1"]),
        ("Mar-1", ["MARCH1", "MARC1", "MAR1"]),
        ("01-Mar-2019", ["MARCH1", "MARC1", "MAR1"]),
        ("2019-03-01", ["MARCH1", "MARC1", "MAR1"]),
        ("2019-03-01 00:00:00", ["MARCH1", "MARC1", "MAR1"]),
        ("2-Sep", ["SEPT2", "SEP2"]),
        ("September 2", ["SEPT2", "SEP2"]),
        ("10-Dec", ["DEC10"]),
        ("MARCH1", []),
        ("3-Foo", []),
        ("2019-13-01", []),
        ("", []),
        ("12", []),
    ],
)
def test_dates_and_the_symbols_behind_them(cell: str, symbols: list[str]) -> None:
    assert spreadsheet_date(cell) == symbols


def test_a_date_alone_is_never_chosen_even_with_one_candidate() -> None:
    reading = cells().read("7-Oct")
    assert [item.symbol for item in reading.candidates] == ["ONLY7"]
    assert reading.chosen is None
    assert "date" in reading.reason


def test_identifiers_decide_disagree_or_are_unknown() -> None:
    assert cells().read("1-Mar", ["GeneID 64757"]).chosen == cells().read("1-Mar", ["chr1:5"]).chosen
    clash = cells().read("1-Mar", ["GeneID 64757", "Entrez: 55016"])
    assert clash.chosen is None
    assert len(clash.conflicts) == 2
    assert cells().read("1-Mar", ["GeneID 999"]).chosen is None


def test_a_symbol_that_is_not_a_date_is_read_plainly() -> None:
    assert cells().read("DEC1").chosen == cells().read("DELEC1").candidates[0].__class__(
        "HGNC:23658", "DELEC1", "previous"
    )
    assert [item.symbol for item in cells().read("DEC1").candidates] == ["DELEC1", "BHLHX"]
    nothing = cells().read("NOSUCH1")
    assert (nothing.chosen, nothing.candidates) == (None, ())


@given(st.text(max_size=30), st.lists(st.text(max_size=30), max_size=3))
def test_the_raw_cell_is_kept_whatever_it_holds(cell: str, others: list[str]) -> None:
    reading = cells().read(cell, others)
    assert reading.raw == cell
    if spreadsheet_date(cell) and not others:
        assert reading.chosen is None


def test_one_symbol_in_three_species() -> None:
    tagged = tag("In Saccharomyces cerevisiae RAD51 acts; human RAD51 and mouse Rad51 differ.")
    proteins = tagged.tags.filter(tagged.tags["entity_type"] == "Protein")
    assert set(proteins["organism"]) == {"NCBITaxon:4932", "NCBITaxon:9606", "NCBITaxon:10090"}
    assert proteins["entity_key"].n_unique() == 3


def test_without_a_species_the_choice_is_marked_as_a_default() -> None:
    tags = tag("RAD51 protein was measured.").tags
    assert tags["organism"].to_list() == [None]
    row = link_entities(tags, lexicon(), concepts(), None).to_dicts()[0]
    assert row["method"] == "default"
    assert {item["concept_id"] for item in row["candidates"]} == {"UniProt:Q06609", "UniProt:P25454", "UniProt:Q08297"}
