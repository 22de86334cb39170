"""Which vocabularies Starling reads: their files, licence, attribution and reader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from starling_assets.ontology.readers import cells, chebi, drugs, exports, families, genes, mesh, taxonomy, umls
from starling_assets.ontology.readers.obo import Term
from starling_assets.ontology.readers.terms import fill_labels, fill_terms, read_terms
from starling_assets.ontology.rows import Rows

Reader = Callable[[Rows, dict[str, Path]], None]


@dataclass(frozen=True)
class ReleaseSpec:
    """One vocabulary. ``files``: role to file name patterns, the first that exists is taken; roles ending in ``?``
    are optional."""

    name: str
    files: dict[str, tuple[str, ...]]
    read: Reader
    licence: str
    attribution: str
    homepage: str


def _ontology(entity_type: str | Callable[[Term], str], prefix: str) -> Reader:
    def read(rows: Rows, files: dict[str, Path]) -> None:
        kind = entity_type if callable(entity_type) else lambda _: entity_type
        label_type = "" if callable(entity_type) else entity_type
        if "terms" in files:
            fill_terms(rows, read_terms(files["terms"], prefix), kind, prefix)
        if "labels" in files:
            fill_labels(rows, files["labels"], label_type, prefix)

    return read


def _export(entity_type: str, prefix: str, species: str | None = None) -> Reader:
    def read(rows: Rows, files: dict[str, Path]) -> None:
        exports.fill_export(rows, files["rows"], entity_type, prefix, species)

    return read


def _go_type(term: Term) -> str:
    return "" if term.name in {"biological_process", "molecular_function", "cellular_component"} else "GOTerm"


_SPECS = [
    ReleaseSpec(
        "starling",
        {"rows": ("starling_endpoints*.tsv*",)},
        _export("Assay/Result", "STARLING"),
        "CC0-1.0",
        "The Starling authors",
        "",
    ),
    ReleaseSpec(
        "chebi",
        {"terms": ("chebi*.obo*",), "labels?": ("chebi*labels*.tsv*",)},
        chebi.read,
        "CC-BY-4.0",
        "ChEBI, EMBL-EBI",
        "https://www.ebi.ac.uk/chebi",
    ),
    ReleaseSpec(
        "drugbank",
        {"drugs": ("drugbank*vocabulary*.csv*",)},
        drugs.read,
        "CC0-1.0",
        "DrugBank Open Data vocabulary",
        "https://go.drugbank.com/releases/latest#open-data",
    ),
    ReleaseSpec(
        "mesh",
        {
            "headings": ("mesh_id_label*.tsv*",),
            "supplementary?": ("mesh_supp*.tsv*",),
        },
        mesh.read,
        "NLM terms: free reuse with attribution",
        "Medical Subject Headings, U.S. National Library of Medicine",
        "https://www.nlm.nih.gov/mesh",
    ),
    ReleaseSpec(
        "hgnc",
        {"genes": ("hgnc_entries*.tsv*", "hgnc_complete*.tsv*")},
        genes.read_hgnc,
        "CC0-1.0",
        "HUGO Gene Nomenclature Committee",
        "https://www.genenames.org",
    ),
    ReleaseSpec(
        "uniprot",
        {"human": ("uniprot_human*.tsv*",), "entries?": ("uniprot_entry_names*.tsv*",)},
        genes.read_uniprot,
        "CC-BY-4.0",
        "UniProt Consortium",
        "https://www.uniprot.org",
    ),
    ReleaseSpec(
        "ncbigene",
        {"genes": ("ncbi_gene_human*.tsv*",)},
        genes.read_ncbi_gene,
        "public domain",
        "NCBI Gene, U.S. National Library of Medicine",
        "https://www.ncbi.nlm.nih.gov/gene",
    ),
    ReleaseSpec(
        "mgi", {"genes": ("mgi_entries*.tsv*",)}, genes.read_mgi, "CC-BY-4.0", "Mouse Genome Informatics",
        "https://www.informatics.jax.org",
    ),
    ReleaseSpec(
        "rgd", {"genes": ("rgd_entries*.tsv*",)}, genes.read_rgd, "CC-BY-4.0", "Rat Genome Database",
        "https://rgd.mcw.edu",
    ),
    ReleaseSpec(
        "mirbase", {"rna": ("mirbase.tsv*", "mirbase_*.tsv*")}, genes.read_mirbase, "public domain", "miRBase",
        "https://www.mirbase.org",
    ),
    ReleaseSpec(
        "ncbitaxon",
        {"names": ("names*.dmp*",), "nodes": ("nodes*.dmp*",), "merged?": ("merged*.dmp*",),
         "update?": ("ncbitaxon*update*.tsv*",)},
        taxonomy.read,
        "public domain",
        "NCBI Taxonomy, U.S. National Library of Medicine",
        "https://www.ncbi.nlm.nih.gov/taxonomy",
    ),
    ReleaseSpec(
        "go", {"terms": ("go_*.json*", "go*.obo*", "go.json*")}, _ontology(_go_type, "GO"), "CC-BY-4.0",
        "Gene Ontology Consortium", "https://geneontology.org",
    ),
    ReleaseSpec(
        "mondo", {"terms?": ("mondo*.json*", "mondo*.obo*"), "labels?": ("mondo*.tsv*",)},
        _ontology("Disease", "MONDO"),
        "CC-BY-4.0", "Mondo Disease Ontology, Monarch Initiative", "https://mondo.monarchinitiative.org",
    ),
    ReleaseSpec(
        "doid", {"terms": ("doid*.json*", "doid*.obo*")}, _ontology("Disease", "DOID"), "CC0-1.0",
        "Human Disease Ontology", "https://disease-ontology.org",
    ),
    ReleaseSpec(
        "hp", {"terms": ("hp_*.obo*", "hp.obo*", "hp.json*")}, _ontology("Phenotype", "HP"),
        "HPO licence: unmodified copies with attribution", "Human Phenotype Ontology", "https://hpo.jax.org",
    ),
    ReleaseSpec(
        "uberon", {"terms?": ("uberon*.obo*", "uberon*.json*"), "labels?": ("uberon*.tsv*",)},
        _ontology("Anatomy", "UBERON"), "CC-BY-3.0", "Uberon", "https://uberon.github.io",
    ),
    ReleaseSpec(
        "cl", {"terms?": ("cl_*.obo*", "cl.obo*", "cl.json*"), "labels?": ("cl_*.tsv*",)},
        _ontology("CellType", "CL"), "CC-BY-4.0", "Cell Ontology", "https://cell-ontology.github.io",
    ),
    ReleaseSpec(
        "cellosaurus",
        {"flat?": ("cellosaurus.txt*",), "labels?": ("cellosaurus*labels*.tsv*",),
         "synonyms?": ("reach_Cellosaurus*.tsv*", "cellosaurus*synonyms*.tsv*")},
        cells.read, "CC-BY-4.0", "Cellosaurus, SIB Swiss Institute of Bioinformatics", "https://www.cellosaurus.org",
    ),
    ReleaseSpec(
        "genegroup", {"terms": ("hgnc.genegroup*.obo*",)}, _ontology("Protein/GeneFamily", "hgnc.genegroup"), "CC0-1.0",
        "HUGO Gene Nomenclature Committee", "https://www.genenames.org/data/genegroup",
    ),
    ReleaseSpec(
        "famplex",
        {"entities": ("famplex_entities*.csv*",), "names": ("famplex_grounding*.csv*",),
         "relations?": ("famplex_relations*.csv*",)},
        families.read, "CC0-1.0", "FamPlex", "https://github.com/sorgerlab/famplex",
    ),
    ReleaseSpec(
        "reactome", {"rows": ("reactome*.tsv*",)}, _export("Pathway", "Reactome", "ncbitaxon:9606"), "CC0-1.0",
        "Reactome", "https://reactome.org",
    ),
    ReleaseSpec(
        "wikipathways", {"rows": ("wikipathways*.tsv*",)}, _export("Pathway", "WikiPathways"), "CC0-1.0",
        "WikiPathways", "https://www.wikipathways.org",
    ),
    ReleaseSpec(
        "so", {"terms": ("so_*.obo*", "so.obo*")}, _ontology("", "SO"), "CC-BY-4.0", "Sequence Ontology",
        "http://www.sequenceontology.org",
    ),
    ReleaseSpec(
        "efo", {"labels": ("efo*.tsv*",)}, _ontology("Assay/Result", "EFO"), "Apache-2.0",
        "Experimental Factor Ontology, EMBL-EBI", "https://www.ebi.ac.uk/efo",
    ),
    ReleaseSpec(
        "eccode", {"rows": ("eccode*.tsv*",)}, _export("Protein", "EC"), "CC-BY-4.0", "ENZYME, SIB", "https://enzyme.expasy.org",
    ),
    ReleaseSpec(
        "umls",
        {"names": ("MRCONSO.RRF*",), "types": ("MRSTY.RRF*",), "relations?": ("MRREL.RRF*",)},
        umls.read, "UMLS Metathesaurus licence: your own copy only", "U.S. National Library of Medicine",
        "https://www.nlm.nih.gov/research/umls",
    ),
]  # fmt: skip

RELEASES: dict[str, ReleaseSpec] = {spec.name: spec for spec in _SPECS}
