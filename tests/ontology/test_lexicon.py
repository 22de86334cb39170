"""What becomes a name of the lexicon, and what does not."""

from __future__ import annotations

import polars as pl
import pytest

from starling_assets.ontology.lexicon import compile_lexicon, is_case_sensitive
from starling_assets.ontology.rows import Rows
from starling_assets.ontology.stop_list import parse_stop_list, stop_list
from starling_assets.ontology.tables import LEXICON

from .vocabulary import lexicon, releases


def rows(folded: str) -> pl.DataFrame:
    return lexicon().filter(pl.col("folded") == folded)


def made(*names: tuple[str, str]) -> pl.DataFrame:
    """Lexicon of one concept per (type, name)."""
    rows = Rows("made")
    for number, (entity_type, name) in enumerate(names):
        rows.concept(f"X:{number}", entity_type, name)
    return compile_lexicon([rows.release("1", "CC0", "nobody")])


def test_schema_and_order() -> None:
    frame = lexicon()
    assert dict(frame.schema) == LEXICON
    assert frame.equals(frame.sort("folded", "entity_type", "concept_id", "name"))
    assert frame.equals(compile_lexicon(list(releases())))
    assert compile_lexicon([]).height == 0


def test_an_ambiguous_name_keeps_all_its_concepts() -> None:
    assert set(rows("rad 51")["concept_id"]) == {
        "HGNC:9817",
        "MGI:97890",
        "UniProt:Q06609",
        "UniProt:P25454",
        "UniProt:Q08297",
    }


def test_the_name_of_a_substance_is_not_a_name_of_its_hydrate() -> None:
    assert set(rows("docetaxel")["concept_id"]) == {"CHEBI:4672"}
    assert set(rows("docetaxel trihydrate")["concept_id"]) == {"CHEBI:59809"}


def test_a_product_with_a_strength_is_no_name() -> None:
    assert set(rows("water")["concept_id"]) == {"CHEBI:15377"}
    assert rows("water 991 mg ml").is_empty()


@pytest.mark.parametrize(
    ("folded", "found"),
    [
        ("alzheimer diseases", True),
        ("mice", True),
        ("cancers", True),
        ("rad 51s", False),  # symbols have no plural
        ("m musculus", True),
        ("cell", False),
    ],
)
def test_inflected_and_short_forms(folded: str, found: bool) -> None:
    assert rows(folded).is_empty() is not found


@pytest.mark.parametrize(
    ("entity_type", "name"),
    [
        ("Disease", "disease"),
        ("Protein", "protein"),
        ("SmallMolecule", "C"),
        ("SmallMolecule", "NO"),
        ("Organism", "12"),
        ("Disease", "--"),
        ("SmallMolecule", "alpha"),
        ("Gene", "impact"),
        ("Anatomy", "x" * 400),
        ("SmallMolecule", "him"),
        ("CellType", "cell type"),
    ],
)
def test_names_that_are_left_out(entity_type: str, name: str) -> None:
    assert made((entity_type, name)).is_empty()


def test_elements_match_only_as_written() -> None:
    frame = made(("SmallMolecule", "Zn"), ("SmallMolecule", "As"))
    assert frame["name"].to_list() == ["Zn"]
    assert frame["case_sensitive"].to_list() == [True]


@pytest.mark.parametrize(
    ("name", "entity_type", "kind", "expected"),
    [
        ("CAT", "Protein", "symbol", True),
        ("ABCB1", "Gene", "symbol", False),
        ("IMPACT", "Gene", "symbol", True),
        ("breast cancer resistance protein", "Protein", "preferred", False),
        ("HL-60", "CellLine", "preferred", True),
        ("SK-N-SH1", "CellLine", "preferred", False),
        ("HeLa", "CellLine", "preferred", True),
        ("rat", "Organism", "exact", False),
        ("COPD", "Disease", "exact", True),
        ("asthma", "Disease", "exact", False),
        ("C2H6O", "SmallMolecule", "exact", True),
    ],
)
def test_case_sensitivity(name: str, entity_type: str, kind: str, expected: bool) -> None:
    assert is_case_sensitive(name, entity_type, kind) is expected


def test_obsolete_concepts_and_types_that_tag_nothing_have_no_names() -> None:
    rows = Rows("made")
    rows.concept("X:1", "Disease", "old fever", obsolete=True)
    rows.name("X:1", "older fever")
    rows.concept("X:2", "", "upper level")
    assert compile_lexicon([rows.release("1", "CC0", "nobody")]).is_empty()


def test_the_stop_list_has_whole_names_and_types() -> None:
    parsed = parse_stop_list('# comment\nthe cell\n"cell line" lone\nkit | Gene, Protein\n')
    assert parsed.stops("cell line", "CellLine")
    assert parsed.stops("the", "Gene")
    assert parsed.stops("kit", "Gene")
    assert not parsed.stops("kit", "Disease")
    assert not parsed.stops("line", "Gene")


def test_the_packaged_stop_list_stops_common_words_but_no_entities() -> None:
    packaged = stop_list()
    assert all(packaged.stops(word, "Gene") for word in ("was", "impact", "rest", "mg", "cells"))
    assert not any(packaged.stops(word, "Disease") for word in ("cancer", "asthma", "brain", "caffeine", "mouse"))
