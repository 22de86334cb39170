"""ChEBI: molecules with SMILES and InChIKey, classes of molecules, roles, peptides."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from starling_assets.ontology.readers.terms import fill_labels, fill_terms, read_terms
from starling_assets.ontology.rows import Rows

_PEPTIDE = "CHEBI:16670"
#: Particles, roles without substance and the like: they name no molecule.
_ROOTS = {"CHEBI:24431", "CHEBI:50906", "CHEBI:36342", "CHEBI:33250", "CHEBI:33238", "CHEBI:23367", "CHEBI:36357"}


def read(rows: Rows, files: dict[str, Path]) -> None:
    """``terms``: the OBO file; optional ``labels``: ids, labels and parents of a newer release."""
    fill_terms(rows, read_terms(files["terms"], "CHEBI"), lambda _: "SmallMolecule", "CHEBI")
    if "labels" in files:
        fill_labels(rows, files["labels"], "SmallMolecule", "CHEBI")
    _split_classes(rows)


def _split_classes(rows: Rows) -> None:
    """A concept without one structure of its own, but with narrower ones, is a class; so is one with an R group."""
    children: dict[str, list[str]] = defaultdict(list)
    for child, parent, _ in rows.edges():
        children[parent].append(child)
    peptides = _below(_PEPTIDE, children)
    for concept_id, entity_type in rows.types().items():
        if not entity_type:
            continue
        smiles = rows.smiles_of(concept_id)
        if concept_id in _ROOTS:
            rows.retype(concept_id, "")
        elif (smiles is None and children.get(concept_id)) or (smiles is not None and "*" in smiles):
            rows.retype(concept_id, "SmallMoleculeClass")
        elif concept_id in peptides:
            rows.retype(concept_id, "Peptide")


def _below(root: str, children: dict[str, list[str]]) -> set[str]:
    found: set[str] = set()
    todo = [root]
    while todo:
        for child in children.get(todo.pop(), []):
            if child not in found:
                found.add(child)
                todo.append(child)
    return found
