"""UMLS Rich Release Format, from the user's own licensed copy: MRCONSO, MRSTY and optionally MRREL.

Formats: https://www.ncbi.nlm.nih.gov/books/NBK9685/ . Every line ends with ``|``; there is no header and no quoting.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from starling_assets.ontology.readers.opening import BadRelease, lines
from starling_assets.ontology.rows import Rows

#: Semantic types (TUI) that name entities of the 19 types.
SEMANTIC_TYPES = {
    "T017": "Anatomy", "T022": "Anatomy", "T023": "Anatomy", "T024": "Anatomy", "T029": "Anatomy", "T030": "Anatomy",
    "T031": "Anatomy", "T025": "CellType", "T026": "Anatomy", "T129": "Protein", "T059": "Assay/Result",
    "T060": "Assay/Result", "T034": "Assay/Result", "T063": "Assay/Result", "T047": "Disease", "T048": "Disease",
    "T191": "Disease", "T019": "Disease", "T020": "Disease", "T037": "Disease", "T046": "Phenotype",
    "T184": "Phenotype", "T033": "Phenotype", "T028": "Gene", "T116": "Protein", "T126": "Protein", "T192": "Protein",
    "T087": "Peptide", "T114": "SmallMolecule", "T109": "SmallMolecule", "T121": "SmallMolecule",
    "T197": "SmallMolecule", "T196": "SmallMolecule", "T195": "SmallMolecule", "T125": "SmallMolecule",
    "T127": "SmallMolecule", "T123": "SmallMolecule", "T120": "SmallMoleculeClass", "T104": "SmallMoleculeClass",
    "T103": "SmallMoleculeClass", "T043": "GOTerm", "T044": "GOTerm", "T045": "GOTerm", "T001": "Organism",
    "T002": "Organism", "T004": "Organism", "T005": "Organism", "T007": "Organism", "T008": "Organism",
    "T010": "Organism", "T011": "Organism", "T012": "Organism", "T013": "Organism", "T014": "Organism",
    "T015": "Organism", "T016": "Organism", "T194": "Organism", "T204": "Organism",
}  # fmt: skip
_SUPPRESSED = {"O", "E", "Y"}


def read(rows: Rows, files: dict[str, Path]) -> None:
    """English names that are not suppressed; hierarchy from PAR/RB relations (``CUI2 REL CUI1``)."""
    types: dict[str, str] = {}
    for cui, tui in _fields(files["types"], 6, (0, 1)):
        if tui in SEMANTIC_TYPES:
            types.setdefault(cui, SEMANTIC_TYPES[tui])
    others: dict[str, list[str]] = {}
    preferred: dict[str, str] = {}
    for cui, language, status, form, is_preferred, name, suppressed in _fields(
        files["names"], 18, (0, 1, 2, 4, 6, 14, 16)
    ):
        if language != "ENG" or suppressed in _SUPPRESSED or cui not in types:
            continue
        if (status, form, is_preferred) == ("P", "PF", "Y"):
            preferred[cui] = name
        others.setdefault(cui, []).append(name)
    for cui, names in others.items():
        rows.concept(f"UMLS:{cui}", types[cui], preferred.get(cui, names[0]))
        rows.names(f"UMLS:{cui}", names)
    if "relations" in files:
        for first, relation, second in _fields(files["relations"], 16, (0, 3, 4)):
            # REL says what the second concept is to the first: PAR = the second is a parent of the first.
            if relation in {"PAR", "RB"} and first in others and second in others:
                rows.edge(f"UMLS:{first}", f"UMLS:{second}")


def _fields(path: Path, count: int, wanted: tuple[int, ...]) -> Iterator[tuple[str, ...]]:
    for number, line in enumerate(lines(path), start=1):
        values = line.split("|")
        if len(values) != count + 1:
            raise BadRelease(
                f"{path}:{number}: {len(values) - 1} fields where {count} are expected. Is it an RRF file?"
            )
        yield tuple(values[index] for index in wanted)
