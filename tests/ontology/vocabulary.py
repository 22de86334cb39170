"""A small invented vocabulary, with the traps the real ones hold."""

from __future__ import annotations

import polars as pl

from starling_assets.ontology.lexicon import compile_lexicon
from starling_assets.ontology.rows import Release, Rows

HUMAN, MOUSE, YEAST = "NCBITaxon:9606", "NCBITaxon:10090", "NCBITaxon:4932"


def chemistry() -> Release:
    rows = Rows("chebi")
    rows.concept(
        "CHEBI:27732",
        "SmallMolecule",
        "caffeine",
        smiles="Cn1cnc2n(C)c(=O)n(C)c(=O)c12",
        inchikey="RYYVLZVUVIJVGH-UHFFFAOYSA-N",
    )
    rows.concept(
        "CHEBI:15365",
        "SmallMolecule",
        "acetylsalicylic acid",
        smiles="CC(=O)Oc1ccccc1C(O)=O",
        inchikey="BSYNRYMUTXBXSQ-UHFFFAOYSA-N",
    )
    rows.name("CHEBI:15365", "aspirin", "related")
    rows.concept("CHEBI:23600", "SmallMolecule", "(+)-catechin")
    rows.concept("CHEBI:23053", "SmallMoleculeClass", "catechin")
    rows.concept(
        "CHEBI:4672", "SmallMolecule", "docetaxel anhydrous", smiles="CC", inchikey="OTMSDBZUPAUEDD-UHFFFAOYSA-N"
    )
    rows.name("CHEBI:4672", "docetaxel", "related")
    rows.concept("CHEBI:59809", "SmallMolecule", "docetaxel trihydrate", smiles="CC.O.O.O")
    rows.name("CHEBI:59809", "docetaxel", "related")
    rows.concept("CHEBI:29101", "SmallMolecule", "Na+")
    rows.name("CHEBI:29101", "sodium(1+)", "exact")
    rows.concept("CHEBI:15377", "SmallMolecule", "water", smiles="O")
    rows.name("CHEBI:15377", "water 991 MG/ML", "brand")
    rows.concept("CHEBI:137113", "SmallMolecule", "JQ1")
    rows.edge("CHEBI:59809", "CHEBI:4672")
    return rows.release("1", "CC-BY-4.0", "invented")


def biology() -> Release:
    rows = Rows("biology")
    rows.concept("UBERON:0000120", "Anatomy", "blood brain barrier")
    rows.concept("UBERON:0000955", "Anatomy", "brain")
    rows.concept("MONDO:4975", "Disease", "Alzheimer disease")
    rows.name("MONDO:4975", "Alzheimer's disease", "exact")
    rows.concept("MONDO:1", "Disease", "café-au-lait spots")
    rows.name("MONDO:1", "café-au-lait", "exact")
    rows.concept("MONDO:2", "Disease", "cancer pain")
    rows.concept("MONDO:3", "Disease", "cancer")
    rows.concept("HGNC:9817", "Gene", "RAD51", organism=HUMAN)
    rows.name("HGNC:9817", "RAD51", "symbol")
    rows.concept("MGI:97890", "Gene", "Rad51", organism=MOUSE)
    rows.name("MGI:97890", "Rad51", "symbol")
    rows.concept("UniProt:Q06609", "Protein", "RAD51 recombinase", organism=HUMAN)
    rows.name("UniProt:Q06609", "RAD51", "symbol")
    rows.concept("UniProt:P25454", "Protein", "RAD51_YEAST", organism=YEAST)
    rows.name("UniProt:P25454", "RAD51", "related")
    rows.concept("UniProt:Q08297", "Protein", "RAD51_MOUSE", organism=MOUSE)
    rows.name("UniProt:Q08297", "RAD51", "related")
    rows.concept("UniProt:P01375", "Protein", "tumor necrosis factor", organism=HUMAN)
    rows.name("UniProt:P01375", "TNF-alpha", "related")
    rows.concept("UniProt:P01584", "Protein", "interleukin 1 beta", organism=HUMAN)
    rows.name("UniProt:P01584", "IL-1β", "related")
    rows.concept("UniProt:P62736", "Protein", "actin alpha 2", organism=HUMAN)
    rows.name("UniProt:P62736", "α-SMA", "related")
    rows.concept("UniProt:P04040", "Protein", "catalase", organism=HUMAN)
    rows.name("UniProt:P04040", "CAT", "symbol")
    rows.concept("UniProt:P00000", "Protein", "presenilin thing", organism=HUMAN)
    rows.name("UniProt:P00000", "AD", "related")
    rows.name("UniProt:P00000", "PSX", "related")
    rows.concept("Cellosaurus:CVCL_0002", "CellLine", "HL-60", organism=HUMAN)
    rows.concept("Cellosaurus:CVCL_0001", "CellLine", "HEL", organism=HUMAN)
    rows.concept("NCBITaxon:9606", "Organism", "Homo sapiens")
    rows.name("NCBITaxon:9606", "human", "exact")
    rows.concept("NCBITaxon:10090", "Organism", "Mus musculus")
    rows.name("NCBITaxon:10090", "mouse", "exact")
    rows.concept("NCBITaxon:4932", "Organism", "Saccharomyces cerevisiae")
    return rows.release("1", "CC0", "invented")


def releases() -> list[Release]:
    return [chemistry(), biology()]


def lexicon() -> pl.DataFrame:
    return compile_lexicon(releases())


def concepts() -> pl.DataFrame:
    return pl.concat([release.concepts for release in releases()])
