"""FC-05: gene names that became dates, and genes of the wrong species, with the bundled vocabularies."""

from __future__ import annotations

from functools import lru_cache

import polars as pl
import pytest

from starling_assets.ontology.gene_cells import GeneCells, GeneReading
from starling_assets.ontology.lexicon import compile_lexicon
from starling_assets.ontology.linking import link_entities
from starling_assets.ontology.releases import Release, bundled_dir, import_release
from starling_assets.settings.model import TaggingSettings
from starling_assets.tagging.dictionary import DictionaryTagger
from tests.tagging.papers import blocks

SENTENCE = (
    "In Saccharomyces cerevisiae, deletion of RAD51 impaired repair; expression of human RAD51 in mouse "
    "Rad51-null cells restored it."
)


@lru_cache(maxsize=1)
def releases() -> dict[str, Release]:
    return {name: import_release(name, bundled_dir()) for name in ("hgnc", "mgi", "uniprot", "ncbitaxon")}


@lru_cache(maxsize=1)
def lexicon() -> pl.DataFrame:
    return compile_lexicon(releases().values())


@lru_cache(maxsize=1)
def tagger() -> DictionaryTagger:
    return DictionaryTagger(lexicon(), TaggingSettings())


def concepts() -> pl.DataFrame:
    return pl.concat([release.concepts for release in releases().values()])


def read(cell: str, *others: str) -> GeneReading:
    genes = releases()["hgnc"]
    return GeneCells(genes.concepts, genes.names).read(cell, others)


def ids(reading: GeneReading) -> list[str]:
    return [item.concept_id for item in reading.candidates]


def test_row_1_the_chromosome_decides() -> None:
    reading = read("1-Mar", "GRCh37 chr4:164534558 G>C, p.N33K")
    assert reading.chosen is not None
    assert (reading.chosen.concept_id, reading.chosen.symbol, reading.raw) == ("HGNC:26077", "MARCHF1", "1-Mar")


def test_row_2_another_chromosome() -> None:
    reading = read("1-Mar", "GRCh37 chr1:220970000")
    assert reading.chosen is not None
    assert (reading.chosen.concept_id, reading.chosen.symbol) == ("HGNC:26189", "MTARC1")


def test_row_3_nothing_decides() -> None:
    reading = read("1-Mar")
    assert reading.chosen is None
    assert set(ids(reading)) == {"HGNC:26077", "HGNC:26189"}


def test_row_4_two_identifiers_agree_and_the_symbol_contradicts() -> None:
    reading = read("2-Sep", "GeneID 4735", "accession Q15019", "symbol SEPT3")
    assert reading.chosen is not None
    assert reading.chosen.concept_id == "HGNC:7729"
    assert reading.conflicts == ("symbol SEPT3 is not SEPTIN2",)


def test_row_5_a_previous_symbol_comes_before_an_alias() -> None:
    reading = read("SEPT2", "human")
    assert reading.chosen is not None
    assert reading.chosen.concept_id == "HGNC:7729"
    assert ids(reading) == ["HGNC:7729", "HGNC:15848"]


def test_row_6_no_silent_choice() -> None:
    reading = read("15-Sep", "human")
    assert reading.chosen is None
    assert "HGNC:17705" in ids(reading)


def test_a_sentence_with_dates_holds_no_gene() -> None:
    tags = tagger().tag(blocks("Biopsies were taken on 1-Mar and 2-Sep.")).tags
    assert not set(tags["entity_type"]) & {"Gene", "Protein"}


def test_three_species_are_three_proteins() -> None:
    tagged = tagger().tag(blocks(SENTENCE))
    links = link_entities(tagged.tags, lexicon(), concepts(), None)
    found = {
        row["organism"]: row["candidates"]
        for row in links.iter_rows(named=True)
        if row["entity_type"] in {"Protein", "Gene"}
    }
    assert set(found) == {"NCBITaxon:4932", "NCBITaxon:9606", "NCBITaxon:10090"}


@pytest.mark.parametrize(
    ("organism", "accession", "text"),
    [
        ("NCBITaxon:4932", "UniProt:P25454", "In Saccharomyces cerevisiae the RAD51 protein acts."),
        ("NCBITaxon:9606", "UniProt:Q06609", "The human RAD51 protein acts."),
        ("NCBITaxon:10090", "UniProt:Q08297", "The mouse Rad51 protein acts."),
    ],
)
def test_each_protein_has_its_own_accession(organism: str, accession: str, text: str) -> None:
    links = link_entities(tagger().tag(blocks(text)).tags, lexicon(), concepts(), None)
    row = links.filter(pl.col("entity_type") == "Protein").to_dicts()[0]
    assert (row["concept_id"], row["organism"], row["method"]) == (accession, organism, "lexicon")


def test_without_an_organism_candidates_by_species_marked_as_a_default() -> None:
    tags = tagger().tag(blocks("The RAD51 protein acts.")).tags
    row = link_entities(tags, lexicon(), concepts(), None).to_dicts()[0]
    assert row["method"] == "default"
    assert {"UniProt:P25454", "UniProt:Q06609", "UniProt:Q08297"} <= {item["concept_id"] for item in row["candidates"]}
