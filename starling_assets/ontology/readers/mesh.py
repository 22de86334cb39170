"""MeSH: headings with tree numbers, and supplementary records, as tables of id, name, entry terms and tree or heading.

The entity type follows the tree (https://meshb.nlm.nih.gov/treeView). The hierarchy comes from the tree numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from starling_assets.ontology.readers.opening import lines
from starling_assets.ontology.rows import Rows

#: Tree prefix to entity type; the longest prefix that fits decides, "" = tags nothing.
TREES = {
    "A": "Anatomy",
    "A11": "CellType",
    "A11.284": "Anatomy",  # structures inside cells
    "A11.251.210": "CellLine",
    "A11.251.860": "CellLine",
    "A18": "Anatomy",
    "B": "Organism",
    "C": "Disease",
    "C23.888": "Phenotype",
    "D01": "SmallMolecule",
    "D02": "SmallMolecule",
    "D03": "SmallMolecule",
    "D04": "SmallMolecule",
    "D05": "",
    "D06": "SmallMolecule",
    "D08": "Protein",
    "D09": "SmallMolecule",
    "D10": "SmallMolecule",
    "D12.125": "SmallMolecule",
    "D12.644": "Peptide",
    "D12.644.276": "Protein",  # signalling proteins between and inside cells
    "D12.644.360": "Protein",
    "D12.776": "Protein",
    "D12.776.124.486.485.114": "Antibody",
    "D12.776.124.790.651.114": "Antibody",
    "D12.776.377.715.548.114": "Antibody",
    "D13": "SmallMolecule",
    "D13.444.735": "RNA",
    "D27": "SmallMoleculeClass",
    "D27.720": "",
    "E01": "Assay/Result",
    "E05": "Assay/Result",
    "E05.196": "Assay/Result",
    "F03": "Disease",
    "G03.787": "Assay/Result",
    "G07.690": "Assay/Result",
}
#: Of several trees of one heading the first type of this list wins.
_RANK = [
    "Antibody", "Peptide", "Protein", "RNA", "CellLine", "Disease", "Phenotype", "SmallMolecule", "CellType",
    "Anatomy", "Organism", "SmallMoleculeClass", "Assay/Result", "",
]  # fmt: skip
_SEPARATOR = re.compile(r"[,|]")
_CLASS_OF = {"SmallMolecule": "SmallMoleculeClass", "Protein": "Protein/GeneFamily"}


def read(rows: Rows, files: dict[str, Path]) -> None:
    """``headings``: id, name, entry terms(|), tree numbers(|); optional ``supplementary``."""
    trees: dict[str, str] = {}
    headings: list[tuple[str, list[str], str]] = []
    for line in lines(files["headings"]):
        concept_id, name, entries, numbers = [*line.split("\t"), "", "", ""][:4]
        places = [number for number in numbers.split("|") if number]
        trees.update(dict.fromkeys(places, f"MESH:{concept_id}"))
        headings.append((f"MESH:{concept_id}", places, name))
        rows.concept(f"MESH:{concept_id}", type_of(places), name)
        rows.names(f"MESH:{concept_id}", entries.split("|"))
    for concept_id, places, name in headings:
        _add_steps(rows, concept_id, places, trees)
        kind = type_of(places)
        if kind in _CLASS_OF and _is_plural(name):
            rows.retype(concept_id, _CLASS_OF[kind])
    if "supplementary" in files:
        _read_supplementary(rows, files["supplementary"])


def type_of(places: Iterable[str]) -> str:
    """Entity type of a heading at those tree numbers."""
    return min((_type_at(place) for place in places), key=_RANK.index, default="")


def _type_at(place: str) -> str:
    while place:
        if place in TREES:
            return TREES[place]
        head = place.rpartition(".")[0]
        place = head or (place[0] if len(place) > 1 else "")
    return ""


def _add_steps(rows: Rows, concept_id: str, places: list[str], trees: dict[str, str]) -> None:
    for place in places:
        parent = trees.get(place.rpartition(".")[0])
        if parent:
            rows.edge(concept_id, parent)


def _is_plural(name: str) -> bool:
    """MeSH names substances in the singular (Morphine, which has narrower headings) and classes in the plural."""
    head = name.partition(",")[0]
    return head.endswith("s") and not head.endswith(("ss", "us", "is"))


def _read_supplementary(rows: Rows, path: Path) -> None:
    types = rows.types()
    for line in lines(path):
        concept_id, name, entries, mapped = [*line.split("\t"), "", "", ""][:4]
        targets = [f"MESH:{target.lstrip('*')}" for target in _SEPARATOR.split(mapped) if target]
        kinds = [types[target] for target in targets if target in types]
        kind = min(kinds, key=_RANK_WITH_CLASSES.index, default="SmallMolecule")
        kind = {"SmallMoleculeClass": "SmallMolecule", "Protein/GeneFamily": "Protein", "": "SmallMolecule"}.get(
            kind, kind
        )
        rows.concept(f"MESH:{concept_id}", kind, name)
        rows.names(f"MESH:{concept_id}", entries.split("|"))
        for target in targets:
            if target in types:
                rows.edge(f"MESH:{concept_id}", target)


_RANK_WITH_CLASSES = [*_RANK[:-1], "Protein/GeneFamily", ""]
