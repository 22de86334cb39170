"""A small shard with tables of every kind, and the brute-force meaning of a filter over it."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from starling_assets.artifacts.keys import content_key
from starling_assets.literature.tables import BLOCKS, PAPERS, WINDOWS
from starling_assets.ontology.tables import CONCEPTS, EDGES, LEXICON, LINKS
from starling_assets.retrieval.filterspec import FilterSpec, ResolvedFilter, Scope, Term
from starling_assets.retrieval.postings import build_postings, unit_counts
from starling_assets.tagging.entity_types import EntityType
from starling_assets.tagging.tables import MENTIONS

#: name -> (concept id, entity type)
KNOWN = {
    "aspirin": ("CHEBI:15365", "SmallMolecule"),
    "caffeine": ("CHEBI:27732", "SmallMolecule"),
    "stroke": ("MONDO:0005098", "Disease"),
    "brain": ("UBERON:0000955", "Anatomy"),
    "ghost": ("MESH:D000000", "Disease"),
}


@dataclass
class SmallWorld:
    """Papers given as lists of paragraphs, each a set of names from KNOWN (an unknown name is an unlinked entity)."""

    papers: list[list[set[str]]]
    chunk_paragraphs: int = 2
    chunk_stride: int = 1
    entity_type: dict[str, str] = field(default_factory=dict)

    def type_of(self, name: str) -> str:
        return KNOWN[name][1] if name in KNOWN else self.entity_type.get(name, "GeneVariant")

    def key_of(self, name: str) -> str:
        return content_key(self.type_of(name), name)

    def paragraphs(self) -> list[tuple[int, int, int, set[str]]]:
        """(paper ordinal, para_idx, para_ordinal, names)."""
        rows, ordinal = [], 0
        for paper, paragraphs in enumerate(self.papers):
            for index, names in enumerate(paragraphs):
                rows.append((paper, index, ordinal, names))
                ordinal += 1
        return rows

    def mentions(self) -> pl.DataFrame:
        rows = [
            {
                "paper_ordinal": paper,
                "paper_id": f"pmid:{paper}",
                "block_key": f"b{ordinal}",
                "para_idx": index,
                "para_ordinal": ordinal,
                "start": 0,
                "end": len(name),
                "surface": name,
                "entity_key": self.key_of(name),
                "entity_type": self.type_of(name),
            }
            for paper, index, ordinal, names in self.paragraphs()
            for name in sorted(names)
        ]
        return pl.DataFrame(rows, schema=MENTIONS)

    def links(self) -> pl.DataFrame:
        names = sorted({name for _, _, _, names in self.paragraphs() for name in names})
        rows = [
            {
                **dict.fromkeys(LINKS),
                "entity_key": self.key_of(name),
                "entity_type": self.type_of(name),
                "canonical_name": name,
                "concept_id": KNOWN[name][0] if name in KNOWN else None,
                "score": 1.0 if name in KNOWN else None,
                "method": "lexicon" if name in KNOWN else "none",
                "candidates": [],
            }
            for name in names
        ]
        return pl.DataFrame(rows, schema=LINKS)

    def blocks(self) -> pl.DataFrame:
        rows = [
            {**dict.fromkeys(BLOCKS), "paper_ordinal": paper, "para_idx": index, "para_ordinal": ordinal}
            for paper, index, ordinal, _ in self.paragraphs()
        ]
        return pl.DataFrame(rows, schema=BLOCKS)

    def paper_table(self) -> pl.DataFrame:
        rows = [
            {
                **dict.fromkeys(PAPERS),
                "paper_ordinal": number,
                "paper_id": f"pmid:{number}",
                "paragraphs": len(paragraphs),
            }
            for number, paragraphs in enumerate(self.papers)
        ]
        return pl.DataFrame(rows, schema=PAPERS)

    def windows(self, size: int, stride: int) -> pl.DataFrame:
        rows, first_ordinal = [], 0
        for paper, paragraphs in enumerate(self.papers):
            starts = [s for s in range(0, len(paragraphs), stride) if s == 0 or s + size - stride < len(paragraphs)]
            for first in starts:
                n = min(size, len(paragraphs) - first)
                rows.append(
                    {
                        "ordinal": len(rows),
                        "paper_ordinal": paper,
                        "paper_id": f"pmid:{paper}",
                        "extraction_id": f"x{paper}",
                        "first_para": first,
                        "n": n,
                        "first_para_ordinal": first_ordinal + first,
                        "section_kind": "results",
                        "window_key": f"w{size}-{paper}-{first}",
                    }
                )
            first_ordinal += len(paragraphs)
        return pl.DataFrame(rows, schema=WINDOWS)

    def chunks(self) -> pl.DataFrame:
        return self.windows(self.chunk_paragraphs, self.chunk_stride)

    def postings(self) -> tuple[pl.DataFrame, dict[Scope, int]]:
        chunks = self.chunks()
        postings = build_postings(self.mentions(), self.links(), chunks)
        return postings, unit_counts(self.blocks(), chunks, self.paper_table())

    def units(self, scope: Scope) -> list[set[str]]:
        """The names each unit of a scope holds, in ordinal order."""
        paragraphs = self.paragraphs()
        if scope is Scope.PARAGRAPH:
            return [names for _, _, _, names in paragraphs]
        if scope is Scope.PAPER:
            return [set().union(*paper) if paper else set() for paper in self.papers]
        spans = self.chunks().select("first_para_ordinal", "n").rows()
        return [set().union(*(paragraphs[i][3] for i in range(first, first + n))) for first, n in spans]

    def brute_force(self, spec: FilterSpec) -> set[int]:
        """Ordinals for which the filter is true, unit by unit, straight from its definition."""

        def holds(names: set[str], term: str) -> bool:
            wanted = term.removeprefix("~")
            found = wanted in names or any(self.type_of(name) == wanted for name in names)
            return found != term.startswith("~")

        return {
            ordinal
            for ordinal, names in enumerate(self.units(spec.scope))
            if all(any(holds(names, term) for term in group) for group in spec.entity_groups)
        }

    def resolved(self, spec: FilterSpec) -> ResolvedFilter:
        """The filter with ids straight from KNOWN, without a vocabulary."""

        def term(text: str) -> Term:
            name = text.removeprefix("~")
            is_type = name in set(EntityType)
            posting = f"type:{name}" if is_type else KNOWN[name][0] if name in KNOWN else f"name:{self.key_of(name)}"
            return Term(
                text=text, negated=text.startswith("~"), kind="type" if is_type else "entity", ids=[posting], chosen=[]
            )

        return ResolvedFilter(groups=[[term(text) for text in group] for group in spec.entity_groups], scope=spec.scope)


def lexicon(rows: list[tuple[str, str, str]]) -> pl.DataFrame:
    """LEXICON of (name, concept id, entity type)."""
    from starling_assets.ontology.folding import fold

    return pl.DataFrame(
        [
            {
                **dict.fromkeys(LEXICON),
                "name": name,
                "folded": fold(name),
                "concept_id": concept,
                "entity_type": kind,
                "preferred": name,
                "kind": "exact",
                "case_sensitive": False,
            }
            for name, concept, kind in rows
        ],
        schema=LEXICON,
    )


def concepts(rows: list[tuple[str, str, str]]) -> pl.DataFrame:
    """CONCEPTS of (preferred name, concept id, entity type)."""
    return pl.DataFrame(
        [
            {**dict.fromkeys(CONCEPTS), "concept_id": concept, "entity_type": kind, "name": name, "obsolete": False}
            for name, concept, kind in rows
        ],
        schema=CONCEPTS,
    )


def edges(pairs: list[tuple[str, str]]) -> pl.DataFrame:
    """EDGES of (child, parent)."""
    return pl.DataFrame(
        [{"child": child, "parent": parent, "relation": "is_a"} for child, parent in pairs], schema=EDGES
    )
