"""Table schemas of the ontology room. A concept id is a CURIE (`CHEBI:27732`, `MESH:D001812`)."""

from __future__ import annotations

import polars as pl

CONCEPTS: dict[str, pl.DataType | type[pl.DataType]] = {
    "concept_id": pl.String,
    "ontology": pl.String,  # chebi | mesh | hgnc | ncbitaxon | go | mondo | hp | uberon | cl | cellosaurus | uniprot …
    "entity_type": pl.String,  # one of the 19 types
    "name": pl.String,
    "obsolete": pl.Boolean,
    "replaced_by": pl.String,
    "smiles": pl.String,
    "inchikey": pl.String,
    "sequence": pl.String,
    "organism": pl.String,  # NCBITaxon CURIE for genes and proteins
}

NAMES: dict[str, pl.DataType | type[pl.DataType]] = {
    "concept_id": pl.String,
    "name": pl.String,
    "kind": pl.String,  # preferred | exact | related | iupac | brand | symbol | previous | formula | xref (an id elsewhere; tags nothing)
}

EDGES: dict[str, pl.DataType | type[pl.DataType]] = {
    "child": pl.String,
    "parent": pl.String,
    "relation": pl.String,  # is_a | part_of
}

#: The compiled input of the dictionary tagger: one row per name and concept.
LEXICON: dict[str, pl.DataType | type[pl.DataType]] = {
    "name": pl.String,
    "folded": pl.String,  # lower case, dashes and Greek unified: what is matched
    "concept_id": pl.String,
    "entity_type": pl.String,
    "preferred": pl.String,
    "kind": pl.String,
    "case_sensitive": pl.Boolean,  # short or ambiguous: matches only as written
    "organism": pl.String,
}

#: One row per distinct entity of a shard: what it was linked to.
LINKS: dict[str, pl.DataType | type[pl.DataType]] = {
    "entity_key": pl.String,  # see tagging.tables
    "entity_type": pl.String,
    "canonical_name": pl.String,
    "concept_id": pl.String,  # null when nothing fits
    "concept_name": pl.String,
    "method": pl.String,  # lexicon | exact | normalised | parent (a salt's) | default (one of several species) | opsin | none
    "score": pl.Float32,
    "candidates": pl.List(pl.Struct({"concept_id": pl.String, "name": pl.String, "score": pl.Float32})),
    "smiles": pl.String,  # RDKit canonical, structure as named
    "inchikey": pl.String,
    "parent_smiles": pl.String,  # salt and hydrate removed, for grouping
    "parent_inchikey": pl.String,
    "sequence": pl.String,
    "organism": pl.String,
}
