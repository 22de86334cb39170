"""DrugBank's open vocabulary (CC0): names, synonyms, InChIKey. It states no SMILES."""

from __future__ import annotations

import re
from pathlib import Path

from starling_assets.ontology.readers.opening import csv_rows, need
from starling_assets.ontology.rows import Rows

_ANTIBODY = re.compile(r"(?:mab|mab [a-z]{4}|mab [a-z]+)$")
_PEPTIDE = re.compile(r"(?:tide|relin|pressin|tocin|insulin\b.*)$", re.IGNORECASE)


def read(rows: Rows, files: dict[str, Path]) -> None:
    """The vocabulary file: ids of the form ``DrugBank:DB00316``. A biotech drug without structure is not a molecule."""
    path = files["drugs"]
    for row in csv_rows(path):
        need(path, row, "DrugBank ID", "Accession Numbers", "Common name", "Synonyms", "Standard InChI Key")
        concept_id = f"DrugBank:{row['DrugBank ID']}"
        name, inchikey = row["Common name"], row["Standard InChI Key"] or None
        rows.concept(concept_id, type_of(name, row["Accession Numbers"], inchikey), name, inchikey=inchikey)
        rows.names(concept_id, row["Synonyms"].split(" | "))


def type_of(name: str, accessions: str, inchikey: str | None) -> str:
    """Entity type of a drug: structure decides, then the stem of its international name."""
    if _ANTIBODY.search(name.lower()):
        return "Antibody"
    if inchikey:
        return "SmallMolecule"
    if _PEPTIDE.search(name):
        return "Peptide"
    # Without a structure and without a biotech number it is an extract, an allergen, whole blood: no molecule.
    return "Protein" if "BIOD" in accessions or "BTD" in accessions else ""
