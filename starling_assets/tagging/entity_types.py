"""The 19 top-level entity types (appendix G of the paper)."""

from __future__ import annotations

from enum import StrEnum


class EntityType(StrEnum):
    """Names as they appear in tags and filters."""

    ANATOMY = "Anatomy"
    ANTIBODY = "Antibody"
    ASSAY_RESULT = "Assay/Result"
    CELL_LINE = "CellLine"
    CELL_TYPE = "CellType"
    CLINICAL_TRIAL = "ClinicalTrial"
    DISEASE = "Disease"
    GENE = "Gene"
    GENE_VARIANT = "GeneVariant"
    GO_TERM = "GOTerm"
    ORGANISM = "Organism"
    PATHWAY = "Pathway"
    PEPTIDE = "Peptide"
    PHENOTYPE = "Phenotype"
    PROTEIN = "Protein"
    PROTEIN_GENE_FAMILY = "Protein/GeneFamily"
    RNA = "RNA"
    SMALL_MOLECULE = "SmallMolecule"
    SMALL_MOLECULE_CLASS = "SmallMoleculeClass"
