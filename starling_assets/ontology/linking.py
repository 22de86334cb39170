"""Links entities to concepts and structures: every decision keeps its method, score and the candidates it rejected.

Cascades: a small molecule's structure comes from OPSIN, else from a vocabulary; among the concepts of its name the one
with the same structure wins. ChEBI comes before DrugBank and MeSH as the concept, since the hierarchy that filters
expand hangs on it. Other types take the concepts the tagger found, then an exact or normalised look-up of the name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from starling_assets.ontology.folding import fold
from starling_assets.ontology.lexicon import KIND_RANK
from starling_assets.ontology.normalising import normalised
from starling_assets.ontology.structures import Structure, StructureResolver
from starling_assets.ontology.tables import LINKS

_MOLECULES = {"SmallMolecule"}
_SCORES = {0: 1.0, 1: 0.95, 2: 0.9, 3: 0.8, 4: 0.7, 5: 0.5}
_MANY_CANDIDATES = 10
#: Vocabularies per type, most wanted first.
SOURCES: dict[str, tuple[str, ...]] = {
    "SmallMolecule": ("CHEBI", "DrugBank", "MESH"),
    "SmallMoleculeClass": ("CHEBI", "MESH"),
    "Peptide": ("CHEBI", "DrugBank", "MESH"),
    "Disease": ("MONDO", "DOID", "MESH"),
    "Gene": ("HGNC", "NCBIGene", "MGI", "RGD"),
    "Protein": ("UniProt", "EC", "MESH", "DrugBank"),
    "Anatomy": ("UBERON", "MESH"),
    "CellType": ("CL", "MESH"),
    "CellLine": ("Cellosaurus", "MESH"),
    "Organism": ("NCBITaxon", "MESH"),
    "GOTerm": ("GO", "MESH"),
    "Protein/GeneFamily": ("FPLX", "hgnc.genegroup", "MESH"),
    "Assay/Result": ("STARLING", "EFO", "MESH"),
    "Phenotype": ("HP", "MESH"),
    "RNA": ("HGNC", "NCBIGene", "miRBase", "MESH"),
}


@dataclass(frozen=True)
class _Candidate:
    concept_id: str
    name: str
    score: float
    method: str


def link_entities(
    tags: pl.DataFrame,
    lexicon: pl.DataFrame,
    concepts: pl.DataFrame,
    structures: StructureResolver | None,
) -> pl.DataFrame:
    """One LINKS row per distinct ``entity_key`` of ``tags``, sorted by key.

    ``lexicon`` and ``concepts``: tables of all releases in use. Without ``structures`` molecules get what the
    vocabularies state. An entity nothing fits has a null concept and method ``none``.
    """
    entities = _distinct(tags)
    if not entities:
        return pl.DataFrame(schema=LINKS)
    index = _Index(lexicon, concepts)
    resolved = _resolve(entities, structures)
    rows = [_link(entity, index, resolved.get(str(entity["entity_key"]))) for entity in entities]
    return pl.DataFrame(rows, schema=LINKS).sort("entity_key")


def _distinct(tags: pl.DataFrame) -> list[dict[str, object]]:
    """Entities of all papers by key; concept ids of all their papers, in order."""
    grouped = tags.sort("entity_key", "paper_ordinal").group_by("entity_key", maintain_order=True)
    frame = grouped.agg(
        pl.col("entity_type").first(),
        pl.col("canonical_name").first(),
        pl.col("organism").drop_nulls().unique().sort().first(),
        pl.col("alias").first(),
        pl.col("resolved_name").drop_nulls().first(),
        pl.col("concept_ids").list.explode(keep_nulls=False, empty_as_null=False).unique(maintain_order=True),
    )
    return list(frame.iter_rows(named=True))


class _Index:
    """Concepts by id, and lexicon rows by folded and normalised name."""

    def __init__(self, lexicon: pl.DataFrame, concepts: pl.DataFrame) -> None:
        self.concepts = {row["concept_id"]: row for row in concepts.iter_rows(named=True)}
        self._rows: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
        self._normalised: dict[tuple[str, str], list[str]] | None = None
        columns = lexicon.select("folded", "entity_type", "concept_id", "preferred", "kind")
        for folded, entity_type, concept_id, preferred, kind in columns.iter_rows():
            self._rows.setdefault((entity_type, folded), []).append((concept_id, preferred, kind))

    def current(self, concept_id: str) -> str | None:
        """``concept_id``, or what it was merged into; None when it is unknown or simply gone."""
        for _ in range(8):
            row = self.concepts.get(concept_id)
            if row is None:
                return None
            if not row["obsolete"]:
                return concept_id
            if not row["replaced_by"]:
                return None
            concept_id = row["replaced_by"]
        return None

    def named(self, entity_type: str, folded: str, method: str = "exact", factor: float = 1.0) -> list[_Candidate]:
        """Candidates of that name and type."""
        return [
            _Candidate(concept_id, preferred, _SCORES[KIND_RANK.get(kind, 3)] * factor, method)
            for concept_id, preferred, kind in self._rows.get((entity_type, folded), [])
        ]

    def named_alike(self, entity_type: str, name: str) -> list[_Candidate]:
        """Candidates whose name has the same words in another order or inflection."""
        if self._normalised is None:
            # Built on first need: most names are found exactly.
            self._normalised = {}
            for kind, folded in self._rows:
                self._normalised.setdefault((kind, normalised(folded)), []).append(folded)
        found = self._normalised.get((entity_type, normalised(name)), [])
        return [item for folded in found for item in self.named(entity_type, folded, "normalised", 0.9)]


def _resolve(entities: Sequence[Mapping[str, object]], structures: StructureResolver | None) -> dict[str, Structure]:
    if structures is None:
        return {}
    asked = {
        str(entity["entity_key"]): str(entity["resolved_name"] or entity["canonical_name"])
        for entity in entities
        if entity["entity_type"] in _MOLECULES and (entity["alias"] is None or entity["resolved_name"])
    }
    answers = structures.resolve(list(asked.values()))
    return {key: answer for key, answer in zip(asked, answers, strict=True) if answer is not None}


def _link(entity: Mapping[str, object], index: _Index, structure: Structure | None) -> dict[str, object]:
    entity_type = str(entity["entity_type"])
    ranked = _rank(_candidates(entity, index), entity_type, index, structure)
    best = ranked[0] if ranked else None
    concept = index.concepts[best.concept_id] if best else {}
    if structure is None and concept.get("smiles"):
        structure = _stated(str(concept["smiles"]))
    method = best.method if best else ("opsin" if structure is not None and structure.method == "opsin" else "none")
    organism = entity["organism"] or (concept.get("organism") if concept else None)
    if structure is not None and concept.get("inchikey") and _agreement(str(concept["inchikey"]), structure) == 2:
        method = "parent"  # the concept is the salt's or hydrate's parent, not the structure as named
    if best is not None and entity["organism"] is None and _species_of(ranked, index) > 1:
        method = "default"  # several species fit and the paper names none: a default, not a fact
    return {
        "entity_key": entity["entity_key"],
        "entity_type": entity_type,
        "canonical_name": entity["canonical_name"],
        "concept_id": best.concept_id if best else None,
        "concept_name": best.name if best else None,
        "method": method,
        "score": best.score * (0.5 if method == "default" else 1.0) if best else (1.0 if structure else 0.0),
        "candidates": [
            {"concept_id": item.concept_id, "name": item.name, "score": item.score}
            for item in ranked[:_MANY_CANDIDATES]
        ],
        "smiles": structure.smiles if structure else None,
        "inchikey": structure.inchikey if structure else concept.get("inchikey"),
        "parent_smiles": structure.parent_smiles if structure else None,
        "parent_inchikey": structure.parent_inchikey if structure else None,
        "sequence": concept.get("sequence"),
        "organism": organism,
    }


def _candidates(entity: Mapping[str, object], index: _Index) -> list[_Candidate]:
    entity_type, name = str(entity["entity_type"]), str(entity["canonical_name"])
    given = entity["concept_ids"]
    found: list[_Candidate] = []
    for place, concept_id in enumerate(given if isinstance(given, list) else []):
        current = index.current(concept_id)
        if current is not None:
            label = str(index.concepts[current]["name"])
            found.append(_Candidate(current, label, 1.0 if place == 0 else 0.9, "lexicon"))
    if not found and entity["alias"] is None:
        found = index.named(entity_type, fold(name))
    if not found and entity["alias"] is None:
        found = index.named_alike(entity_type, name)
    return list({item.concept_id: item for item in reversed(found)}.values())[::-1]


def _rank(
    candidates: list[_Candidate], entity_type: str, index: _Index, structure: Structure | None
) -> list[_Candidate]:
    """Best first: the same structure, then the score, then the vocabulary, then the id."""
    order = {prefix: place for place, prefix in enumerate(SOURCES.get(entity_type, ()))}

    def key(item: _Candidate) -> tuple[int, int, float, str]:
        stated = index.concepts[item.concept_id]["inchikey"]
        agreement = 1 if structure is None or stated is None else _agreement(str(stated), structure)
        return agreement, order.get(item.concept_id.rpartition(":")[0], 99), -item.score, item.concept_id

    return sorted(candidates, key=key)


def _agreement(stated: str, structure: Structure) -> int:
    """0: the structure as named; 1: the same connections; 2: its parent; 3: another molecule."""
    if stated == structure.inchikey:
        return 0
    if stated[:14] == structure.inchikey[:14]:
        return 1
    return 2 if structure.parent_inchikey is not None and stated[:14] == structure.parent_inchikey[:14] else 3


def _species_of(candidates: Sequence[_Candidate], index: _Index) -> int:
    return len({index.concepts[item.concept_id]["organism"] for item in candidates} - {None})


def _stated(smiles: str) -> Structure | None:
    """The structure a vocabulary states, standardised here, so that both sources give the same form."""
    from starling_assets.ontology.parents import BadStructure, standardise

    try:
        return standardise(smiles, "vocabulary")
    except BadStructure:
        return None
