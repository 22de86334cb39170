"""Collects the rows of one vocabulary release and turns them into the room's tables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import polars as pl

from starling_assets.ontology.tables import CONCEPTS, EDGES, NAMES

_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Release:
    """One vocabulary in one version. ``concepts``, ``names`` and ``edges`` follow ``ontology.tables``."""

    name: str
    version: str
    licence: str
    attribution: str
    concepts: pl.DataFrame
    names: pl.DataFrame
    edges: pl.DataFrame


@dataclass
class Rows:
    """Rows under construction. Order does not matter: the tables are sorted and rows that repeat are dropped."""

    ontology: str
    _concepts: dict[str, dict[str, object]] = field(default_factory=dict)
    _names: set[tuple[str, str, str]] = field(default_factory=set)
    _edges: set[tuple[str, str, str]] = field(default_factory=set)

    def concept(
        self,
        concept_id: str,
        entity_type: str,
        name: str,
        *,
        obsolete: bool = False,
        replaced_by: str | None = None,
        smiles: str | None = None,
        inchikey: str | None = None,
        sequence: str | None = None,
        organism: str | None = None,
    ) -> None:
        """Add a concept; a current one is also findable by its name."""
        name = _tidy(name)
        self._concepts[concept_id] = {
            "concept_id": concept_id,
            "ontology": self.ontology,
            "entity_type": entity_type,
            "name": name,
            "obsolete": obsolete,
            "replaced_by": replaced_by,
            "smiles": smiles,
            "inchikey": inchikey,
            "sequence": sequence,
            "organism": organism,
        }
        if name and not obsolete:
            self._names.add((concept_id, name, "preferred"))

    def name(self, concept_id: str, name: str, kind: str = "exact") -> None:
        """Add one more name of a concept."""
        name = _tidy(name)
        if name:
            self._names.add((concept_id, name, kind))

    def names(self, concept_id: str, names: Iterable[str], kind: str = "exact") -> None:
        """Add several names of one kind."""
        for name in names:
            self.name(concept_id, name, kind)

    def edge(self, child: str, parent: str, relation: str = "is_a") -> None:
        """Add one step of the hierarchy."""
        if child != parent:
            self._edges.add((child, parent, relation))

    def replaced(self, old: str, new: str) -> None:
        """State that the identifier ``old`` was merged into ``new``; a current concept of that id is left alone."""
        if old not in self._concepts:
            target = self._concepts.get(new)
            kind = str(target["entity_type"]) if target else ""
            self.concept(old, kind, str(target["name"]) if target else "", obsolete=True, replaced_by=new)

    def types(self) -> dict[str, str]:
        """Entity type per concept so far."""
        return {key: str(row["entity_type"]) for key, row in self._concepts.items()}

    def retype(self, concept_id: str, entity_type: str) -> None:
        """Change the entity type of a concept once its place in the hierarchy is known."""
        self._concepts[concept_id]["entity_type"] = entity_type

    def has(self, concept_id: str) -> bool:
        """Whether that concept was added."""
        return concept_id in self._concepts

    def smiles_of(self, concept_id: str) -> str | None:
        """SMILES of a concept, if it has one."""
        value = self._concepts[concept_id]["smiles"]
        return None if value is None else str(value)

    def edges(self) -> set[tuple[str, str, str]]:
        """Steps so far: child, parent, relation."""
        return self._edges

    def release(self, version: str, licence: str, attribution: str) -> Release:
        """The finished tables, sorted, so that two imports of the same files give the same bytes."""
        # Concepts without a type (roots, qualifiers) tag nothing, but the hierarchy passes through them.
        current = {key for key, row in self._concepts.items() if not row["obsolete"] and row["entity_type"]}
        known = set(self._concepts)
        concepts = pl.DataFrame([self._concepts[key] for key in sorted(known)], schema=CONCEPTS)
        names = pl.DataFrame(sorted(row for row in self._names if row[0] in current), schema=NAMES, orient="row")
        edges = pl.DataFrame(sorted(row for row in self._edges if row[0] in known), schema=EDGES, orient="row")
        return Release(self.ontology, version, licence, attribution, concepts, names, edges)


def _tidy(name: str) -> str:
    return _SPACE.sub(" ", name).strip()
