"""Genes and proteins: HGNC, NCBI Gene (human), MGI, RGD, UniProt names, miRBase."""

from __future__ import annotations

import re
from pathlib import Path

from starling_assets.ontology.readers.opening import need, tab_rows
from starling_assets.ontology.rows import Rows

HUMAN, MOUSE, RAT = "NCBITaxon:9606", "NCBITaxon:10090", "NCBITaxon:10116"

#: Mnemonic species code of a UniProt entry name to its species (UniProt names the strain; papers name the species).
SPECIES_CODES = {
    "HUMAN": HUMAN, "MOUSE": MOUSE, "RAT": RAT, "YEAST": "NCBITaxon:4932", "ECOLI": "NCBITaxon:562",
    "DROME": "NCBITaxon:7227", "CAEEL": "NCBITaxon:6239", "ARATH": "NCBITaxon:3702", "DANRE": "NCBITaxon:7955",
    "SCHPO": "NCBITaxon:4896", "BOVIN": "NCBITaxon:9913", "PIG": "NCBITaxon:9823", "CHICK": "NCBITaxon:9031",
    "XENLA": "NCBITaxon:8355", "BACSU": "NCBITaxon:1423", "DICDI": "NCBITaxon:44689", "RABIT": "NCBITaxon:9986",
    "CANLF": "NCBITaxon:9615", "MACMU": "NCBITaxon:9544", "PANTR": "NCBITaxon:9598",
}  # fmt: skip
#: Columns of HGNC's table that hold the gene's id elsewhere; stored as names of kind ``xref``, which tag nothing.
_CROSS_REFERENCES = {
    "NCBIGene": "NCBI Gene ID(supplied by NCBI)",
    "UniProt": "UniProt ID(supplied by UniProt)",
}
_CHILD_LOCUS = re.compile(r"^(?:RNA|.*RNA)")


def read_hgnc(rows: Rows, files: dict[str, Path]) -> None:
    """HGNC's table: approved symbol and name, previous and alias symbols. RNA genes are RNA."""
    path = files["genes"]
    for row in tab_rows(path):
        need(path, row, "HGNC ID", "Approved symbol", "Approved name", "Status", "Alias symbols", "Previous symbols")
        concept_id, symbol = row["HGNC ID"], row["Approved symbol"]
        if row["Status"] != "Approved":
            new = re.search(r"HGNC:\d+", row["Approved name"])
            rows.concept(concept_id, "", symbol, obsolete=True, replaced_by=new.group() if new else None)
            continue
        kind = "RNA" if _CHILD_LOCUS.match(row.get("Locus type", "")) else "Gene"
        rows.concept(concept_id, kind, symbol, organism=HUMAN)
        rows.name(concept_id, symbol, "symbol")
        rows.name(concept_id, row["Approved name"], "exact")
        rows.names(concept_id, row["Previous symbols"].split(", "), "previous")
        rows.names(concept_id, row["Alias symbols"].split(", "), "related")
        for prefix, column in _CROSS_REFERENCES.items():
            for accession in filter(None, re.split(r"[,|] ?", row.get(column, ""))):
                rows.name(concept_id, f"{prefix}:{accession}", "xref")


def read_ncbi_gene(rows: Rows, files: dict[str, Path]) -> None:
    """A table of NCBI Gene: entrez_id, symbol, name, gene_type, aliases(|)."""
    path = files["genes"]
    for row in tab_rows(path):
        need(path, row, "entrez_id", "symbol", "name", "gene_type", "aliases")
        concept_id = f"NCBIGene:{row['entrez_id']}"
        rows.concept(concept_id, "RNA" if row["gene_type"].endswith("RNA") else "Gene", row["symbol"], organism=HUMAN)
        rows.name(concept_id, row["symbol"], "symbol")
        rows.name(concept_id, row["name"])
        rows.names(concept_id, row["aliases"].split("|"), "related")


def read_mgi(rows: Rows, files: dict[str, Path]) -> None:
    """Mouse genes: ID, symbol, synonyms(|)."""
    _read_species(rows, files["genes"], "MGI", MOUSE, "|")


def read_rgd(rows: Rows, files: dict[str, Path]) -> None:
    """Rat genes: ID, symbol, synonyms(;)."""
    _read_species(rows, files["genes"], "RGD", RAT, ";")


def _read_species(rows: Rows, path: Path, prefix: str, organism: str, separator: str) -> None:
    for row in tab_rows(path):
        need(path, row, "ID", "symbol", "synonyms")
        concept_id = f"{prefix}:{row['ID'].removeprefix(prefix + ':')}"
        rows.concept(concept_id, "Gene", row["symbol"], organism=organism)
        rows.name(concept_id, row["symbol"], "symbol")
        rows.names(concept_id, row["synonyms"].split(separator), "related")


def read_uniprot(rows: Rows, files: dict[str, Path]) -> None:
    """Human proteins named after their genes, and the entry names of model organisms (``RAD51_YEAST``)."""
    path = files["human"]
    for row in tab_rows(path):
        need(path, row, "uniprot", "entry_name", "symbol", "name", "aliases", "previous_symbols")
        concept_id = f"UniProt:{row['uniprot']}"
        rows.concept(concept_id, "Protein", row["name"] or row["symbol"], organism=HUMAN)
        rows.name(concept_id, row["symbol"], "symbol")
        rows.name(concept_id, row["entry_name"], "exact")
        rows.names(concept_id, row["previous_symbols"].split(", "), "previous")
        rows.names(concept_id, row["aliases"].split(", "), "related")
    if "entries" in files:
        _read_entries(rows, files["entries"])


def _read_entries(rows: Rows, path: Path) -> None:
    for row in tab_rows(path):
        need(path, row, "accession", "entry_name")
        concept_id = f"UniProt:{row['accession']}"
        mnemonic, _, code = row["entry_name"].partition("_")
        if code in SPECIES_CODES and not rows.has(concept_id):
            rows.concept(concept_id, "Protein", row["entry_name"], organism=SPECIES_CODES[code])
            # The mnemonic is usually the gene symbol; where it is the accession it names nothing.
            if mnemonic != row["accession"]:
                rows.name(concept_id, mnemonic, "related")


def read_mirbase(rows: Rows, files: dict[str, Path]) -> None:
    """miRNA of all species: identifier, name, synonyms(|), species in ``parents`` or ``species``."""
    path = files["rna"]
    for row in tab_rows(path):
        need(path, row, "identifier", "name", "synonyms")
        taxon = next((value for value in (row.get("species", ""), row.get("parents", "")) if "ncbitaxon" in value), "")
        organism = taxon.replace("ncbitaxon", "NCBITaxon") or None
        concept_id = f"miRBase:{row['identifier']}"
        rows.concept(concept_id, "RNA", row["name"], organism=organism)
        rows.names(concept_id, row["synonyms"].split("|"))
        if organism == HUMAN:
            # Papers leave the species prefix out: miR-21 for hsa-mir-21.
            rows.name(concept_id, row["name"].removeprefix("hsa-"), "related")
