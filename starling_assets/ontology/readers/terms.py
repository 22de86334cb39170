"""Ontology terms (OBO or JSON) and label tables into rows: one filler for all vocabularies of these formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from starling_assets.ontology.readers import obo, termlists
from starling_assets.ontology.readers.obo import Term
from starling_assets.ontology.readers.opening import need, tab_rows
from starling_assets.ontology.rows import Rows

#: Decides the entity type of a term; "" for a term that tags nothing.
TypeOf = Callable[[Term], str]

_KINDS = {"IUPAC_NAME": "iupac", "BRAND_NAME": "brand", "INN": "exact"}


def read_terms(path: Path, prefix: str) -> Iterable[Term]:
    """Terms of an OBO or JSON file, by its suffix. ``prefix`` completes bare ids."""
    stem = path.name.removesuffix(".gz")
    return termlists.read_terms(path, prefix) if stem.endswith(".json") else obo.read_terms(path)


def fill_terms(rows: Rows, terms: Iterable[Term], type_of: TypeOf, prefix: str) -> None:
    """Add the terms whose id starts with ``prefix:``; imported terms of other vocabularies are left to theirs."""
    merged: list[tuple[str, str]] = []
    for term in terms:
        if not term.id.startswith(f"{prefix}:"):
            continue
        add_term(rows, term, type_of(term))
        merged.extend((old, term.id) for old in term.alt_ids)
    for old, new in merged:
        rows.replaced(old, new)


def add_term(rows: Rows, term: Term, entity_type: str) -> None:
    """One term with its names and its steps upwards."""
    rows.concept(
        term.id,
        entity_type,
        term.name,
        obsolete=term.obsolete,
        replaced_by=term.replaced_by,
        smiles=term.smiles,
        inchikey=term.inchikey,
    )
    for text, scope, kind in term.synonyms:
        if scope in {"EXACT", "RELATED", "NARROW"}:
            rows.name(term.id, text, _KINDS.get(kind, "exact" if scope == "EXACT" else "related"))
    for parent in term.is_a:
        rows.edge(term.id, parent)
    for whole in term.part_of:
        rows.edge(term.id, whole, "part_of")


def fill_labels(rows: Rows, path: Path, entity_type: str, prefix: str) -> None:
    """A table ``id, label, synonyms(|), parents(|), deprecated, replaced_by``. Terms already there are kept."""
    for row in tab_rows(path):
        need(path, row, "id", "label", "synonyms", "parents", "deprecated", "replaced_by")
        concept_id = row["id"]
        if not concept_id.startswith(f"{prefix}:"):
            continue
        obsolete = row["deprecated"] == "1"
        if not rows.has(concept_id):
            rows.concept(
                concept_id,
                "" if obsolete else entity_type,
                row["label"],
                obsolete=obsolete,
                replaced_by=row["replaced_by"] or None,
            )
        elif not obsolete:
            # A newer release may have renamed the term; the older name stays as a synonym.
            rows.name(concept_id, row["label"])
        if not obsolete:
            rows.names(concept_id, filter(None, row["synonyms"].split("|")))
            for parent in filter(None, row["parents"].split("|")):
                rows.edge(concept_id, parent)
