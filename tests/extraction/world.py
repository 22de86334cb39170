"""Small papers, tags and journals for tests: everything made up."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from starling_assets.agents.tasks import FieldRule, Instantiation, LabelRule, RecordSchema, Task, ValueRule
from starling_assets.artifacts.keys import content_key, joined_key
from starling_assets.extraction.windows import Segment, Window
from starling_assets.literature.tables import BLOCKS, PAPERS
from starling_assets.ontology.tables import LINKS
from starling_assets.retrieval.tables import SUBCORPUS
from starling_assets.tagging.tables import MENTIONS, TAGS


def small_task(**changes: Any) -> Task:
    """Inhibition of a kinase: relation field, value wanted in mol/L."""
    schema = RecordSchema(
        entity="the compound",
        label=LabelRule(name="outcome", description="what happened", allowed=["active", "inactive"]),
        value=ValueRule(target_unit="mol/L"),
        fields=[
            FieldRule(name="relation", type="enum", allowed=["=", "<", ">"]),
            FieldRule(name="species", type="string"),
            FieldRule(name="ratio", type="number"),
            FieldRule(name="fasted", type="boolean"),
            FieldRule(name="tissues", type="list"),
        ],
        instantiation=Instantiation(counts=["a measurement"], not_counts=["a plan"]),
    )
    values = {
        "name": "kinase",
        "sentence": "Find all compounds whose inhibition of a kinase is reported.",
        "entity_type": "SmallMolecule",
        "record": schema,
        "probes": [],
        "folder": Path("kinase"),
        **changes,
    }
    return Task.model_validate(values)


def segment(text: str, para: int = 0, start: int = 0, kind: str = "paragraph") -> Segment:
    return Segment(f"b{para}", para, kind, ("Results",), start, text)


def window(*texts: str, title: str = "", paper_id: str = "pmid:1", unit: str = "u1") -> Window:
    return Window(unit, paper_id, title, tuple(segment(text, n) for n, text in enumerate(texts)), ("p",), "w")


def blocks_of(papers: Sequence[Sequence[str]]) -> pl.DataFrame:
    """BLOCKS: one paragraph per text; paper ``n`` is ``pmid:<n + 1>``."""
    rows = []
    ordinal = 0
    for paper, texts in enumerate(papers):
        for para, text in enumerate(texts):
            rows.append(
                {
                    "paper_ordinal": paper,
                    "paper_id": f"pmid:{paper + 1}",
                    "extraction_id": f"x{paper}",
                    "block_idx": para,
                    "para_idx": para,
                    "para_ordinal": ordinal,
                    "kind": "paragraph",
                    "section_path": ["Results"],
                    "section_kind": "results",
                    "text": text,
                    "markdown": text,
                    "spans": [],
                    "block_key": content_key(text, para),
                }
            )
            ordinal += 1
    return pl.DataFrame(rows, schema=BLOCKS)


def papers_of(count: int, **changes: Any) -> pl.DataFrame:
    rows = [
        {
            **dict.fromkeys(PAPERS),
            "paper_ordinal": n,
            "paper_id": f"pmid:{n + 1}",
            "extraction_id": f"x{n}",
            "pmid": str(n + 1),
            "version": 1,
            "title": f"Paper {n + 1}",
            "licence": "CC-BY",
            "retracted": False,
            "retracts": [],
            "deleted": False,
            **changes,
        }
        for n in range(count)
    ]
    return pl.DataFrame(rows, schema=PAPERS)


def subcorpus_of(blocks: pl.DataFrame, n: int = 2) -> pl.DataFrame:
    """Every run of ``n`` paragraphs, in reading order."""
    rows = []
    for (paper,), group in blocks.group_by(["paper_ordinal"], maintain_order=True):
        for first in range(0, group.height, n):
            part = group.slice(first, n)
            rows.append(
                {
                    "position": len(rows),
                    "rank": paper,
                    "unit": joined_key(part["block_key"].to_list()),
                    "paper_ordinal": paper,
                    "paper_id": part["paper_id"][0],
                    "extraction_id": part["extraction_id"][0],
                    "first_para": first,
                    "n": part.height,
                    "similarity": 0.5,
                    "probes": ["p"],
                }
            )
    return pl.DataFrame(rows, schema=SUBCORPUS)


def tagged(blocks: pl.DataFrame, names: dict[str, dict[str, Any]]) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """TAGS, MENTIONS, LINKS for ``names``: surface -> {"key", "type", "concept", "smiles", "synonyms"}."""
    tags, mentions, links = [], [], {}
    for row in blocks.iter_rows(named=True):
        for surface, facts in names.items():
            key, kind = facts.get("key", surface.lower()), facts.get("type", "SmallMolecule")
            at = row["text"].find(surface)
            while at >= 0:
                mentions.append(
                    {
                        **{
                            name: row[name]
                            for name in ("paper_ordinal", "paper_id", "block_key", "para_idx", "para_ordinal")
                        },
                        "start": at,
                        "end": at + len(surface),
                        "surface": surface,
                        "entity_key": key,
                        "entity_type": kind,
                    }
                )
                at = row["text"].find(surface, at + 1)
            tags.append(
                {
                    **dict.fromkeys(TAGS),
                    "paper_ordinal": row["paper_ordinal"],
                    "paper_id": row["paper_id"],
                    "entity_key": key,
                    "entity_type": kind,
                    "canonical_name": facts.get("canonical", surface),
                    "synonyms": facts.get("synonyms", []),
                    "surface_forms": [surface],
                    "paragraphs": [],
                    "concept_ids": [],
                }
            )
            links[key] = {
                **dict.fromkeys(LINKS),
                "entity_key": key,
                "entity_type": kind,
                "canonical_name": surface,
                "concept_id": facts.get("concept"),
                "concept_name": facts.get("canonical", surface),
                "smiles": facts.get("smiles"),
                "candidates": [],
            }
    return (
        pl.DataFrame(tags, schema=TAGS).unique(["paper_id", "entity_key"], maintain_order=True),
        pl.DataFrame(mentions, schema=MENTIONS),
        pl.DataFrame(list(links.values()), schema=LINKS),
    )


def reply(**values: Any) -> dict[str, Any]:
    """One record object of the small task; keys not given are null."""
    base = dict.fromkeys(
        ("quote", "entity", "label", "value_text", "unit", "relation", "species", "ratio", "fasted", "tissues")
    )
    return {**base, "label": "active", **values}
