"""The reading of a mention among the rows that fit it."""

from __future__ import annotations

from collections import Counter

import pytest

from starling_assets.tagging.choosing import believable, choose, needs_context, source_rank
from starling_assets.tagging.context import SpeciesMention
from starling_assets.tagging.vocabulary import Entry

HUMAN, MOUSE = "NCBITaxon:9606", "NCBITaxon:10090"


def entry(kind_of: str, concept_id: str, name: str, kind: str = "exact", organism: str | None = None) -> Entry:
    return Entry(name, concept_id, kind_of, f"{name}-preferred", kind, False, organism)


def read(
    text: str, name: str, *entries: Entry, species: list[SpeciesMention] | None = None
) -> tuple[str, list[str]] | None:
    start = text.index(name)
    choice = choose(list(entries), text, start, start + len(name), species or [], Counter())
    return None if choice is None else (choice.entity_type, list(choice.concept_ids))


def test_a_strong_name_beats_a_loose_synonym_of_another_type() -> None:
    loose = entry("SmallMolecule", "CHEBI:1", "depression", "related")
    strong = entry("Disease", "MONDO:1", "depression", "preferred")
    assert read("a depression", "depression", loose, strong) == ("Disease", ["MONDO:1"])


def test_vocabularies_of_one_type_come_in_order() -> None:
    entries = [entry("Disease", "MESH:D1", "asthma"), entry("Disease", "MONDO:1", "asthma")]
    assert read("asthma", "asthma", *entries) == ("Disease", ["MONDO:1", "MESH:D1"])
    assert source_rank("CHEBI:1") < source_rank("DrugBank:1") < source_rank("MESH:1") < source_rank("OTHER:1")


def test_all_concepts_of_a_molecule_stay_for_the_structures_to_decide() -> None:
    entries = [
        entry("SmallMolecule", "MESH:D1", "aspirin", "preferred"),
        entry("SmallMolecule", "CHEBI:1", "aspirin", "related"),
    ]
    assert read("aspirin", "aspirin", *entries) == ("SmallMolecule", ["MESH:D1", "CHEBI:1"])


@pytest.mark.parametrize(
    ("text", "kind"), [("the KRASX gene", "Gene"), ("the KRASX protein", "Protein"), ("KRASX", "Protein")]
)
def test_gene_or_protein(text: str, kind: str) -> None:
    entries = [
        entry("Gene", "HGNC:1", "KRASX", "symbol", HUMAN),
        entry("Protein", "UniProt:1", "KRASX", "symbol", HUMAN),
    ]
    found = read(text, "KRASX", *entries)
    assert found is not None
    assert found[0] == kind


def test_species_choose_among_genes_and_without_one_the_human_leads() -> None:
    entries = [entry("Gene", "MGI:1", "Abcdx1", "symbol", MOUSE), entry("Gene", "HGNC:1", "ABCDX1", "symbol", HUMAN)]
    mouse = [SpeciesMention(0, 5, MOUSE)]
    assert read("mouse Abcdx1", "Abcdx1", *entries, species=mouse) == ("Gene", ["MGI:1"])
    assert read("the Abcdx1", "Abcdx1", *entries) == ("Gene", ["HGNC:1", "MGI:1"])


@pytest.mark.parametrize(
    ("text", "name", "kind_of", "kind", "expected"),
    [
        ("HEL cells", "HEL", "CellLine", "exact", True),
        ("HEL", "HEL", "CellLine", "exact", False),
        ("SH-SY5Y", "SH-SY5Y", "CellLine", "exact", True),
        ("patients with ABC", "ABC", "Gene", "related", False),
        ("ABC expression", "ABC", "Gene", "related", True),
        ("ABC", "ABC", "Gene", "symbol", True),
        ("α-SMA", "SMA", "Disease", "related", False),
        ("the SMA", "SMA", "Disease", "related", True),
    ],
)
def test_short_codes_need_a_reason(text: str, name: str, kind_of: str, kind: str, expected: bool) -> None:
    start = text.index(name)
    assert believable(entry(kind_of, "X:1", name, kind), text, start, start + len(name)) is expected


def test_nothing_believable_is_no_mention() -> None:
    assert read("the HEL of it", "HEL", entry("CellLine", "Cellosaurus:1", "HEL")) is None


def test_only_readings_that_neighbours_cannot_change_are_remembered() -> None:
    assert not needs_context([entry("Disease", "MONDO:1", "asthma")], "asthma")
    assert needs_context([entry("Disease", "MONDO:1", "SMA")], "SMA")
    assert needs_context([entry("Gene", "HGNC:1", "RAD51", organism=HUMAN)], "RAD51")
