"""Papers with their gold mentions: own ones, marked up in the text, and those of gold corpora."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from starling_assets.artifacts.journal import Journal
from starling_assets.literature.tables import BLOCKS
from starling_assets.settings import Settings
from starling_assets.settings.model import TaggingSettings
from starling_assets.tagging.engines import build_tagger
from starling_assets.tagging.llm.tagger import ModelTagged, ModelWork
from tests.ontology.vocabulary import lexicon
from tests.scripted import ScriptedClient
from tests.scripted.tagging import GoldEntity

_MARK = re.compile(r"\{([^{}|]+)\|([^{}|]+)(?:\|([^{}|]+))?\}")
#: (paper, para_idx, start, end, type)
Mention = tuple[int, int, int, int, str]

#: Invented sentences, every type at least once; ``{form|type|name}``, the name only where it is not the form.
OWN_PAPERS = [
    [
        "{Trastuzumab|Antibody} was given to {patients|Organism|Homo sapiens} with {breast cancer|Disease}.",
        "{HER2|Protein} fell in {SK-BR-3|CellLine} cells; {ERBB2|Gene} copies did not. {SK-BR-3|CellLine} was cheap.",
        "The {PI3K/AKT pathway|Pathway} and {apoptosis|GOTerm} were read by {Western blot|Assay/Result}.",
        "{TNF-α|Protein|tumor necrosis factor} and {miR-21|RNA} rose in the {liver|Anatomy}.",
    ],
    [
        "{6f|SmallMolecule|veltrine} and {oxytocin|Peptide} spared {Kupffer cells|CellType|Kupffer cell} (Fig. 6f).",
        "{V600E|GeneVariant} in {NCT09999991|ClinicalTrial} had {fever|Phenotype} on {statins|SmallMoleculeClass}.",
        "{Caspases|Protein/GeneFamily|caspase} act late.",
    ],
]


@dataclass(frozen=True)
class World:
    """BLOCKS of some papers, what the scripted models know, and the gold spans."""

    blocks: pl.DataFrame
    entities: tuple[GoldEntity, ...]
    mentions: frozenset[Mention]


def own_world() -> World:
    papers, entities, mentions = [], [], set()
    for number, marked in enumerate(OWN_PAPERS):
        texts = [_MARK.sub(r"\1", text) for text in marked]
        papers.append(texts)
        for para, (text, source) in enumerate(zip(texts, marked, strict=True)):
            at = done = 0
            for match in _MARK.finditer(source):
                at += match.start() - done
                form, kind, name = match[1], match[2], match[3] or match[1]
                entities.append(GoldEntity(kind, name, (form,), text))
                mentions.add((number, para, at, at + len(form), kind))
                at, done = at + len(form), match.end()
    return World(blocks_of(papers), tuple(entities), frozenset(mentions))


def pubtator_world(path: Path, documents: int, types: dict[str, str]) -> World:
    """The first documents of a PubTator file, title and abstract as two paragraphs; ``types``: theirs to ours."""
    papers, entities, mentions = [], [], set()
    for number, (title, abstract, rows) in enumerate(islice(_pubtator(path), documents)):
        papers.append([title, abstract])
        for start, end, kind, name in rows:
            if kind not in types:
                continue
            para = int(start > len(title))
            shift = len(title) + 1 if para else 0
            text = (title, abstract)[para]
            form = text[start - shift : end - shift]
            entities.append(GoldEntity(types[kind], f"{kind} {name}", (form,), text))
            mentions.add((number, para, start - shift, end - shift, types[kind]))
    return World(blocks_of(papers), tuple(entities), frozenset(mentions))


def blocks_of(papers: Sequence[Sequence[str]]) -> pl.DataFrame:
    """BLOCKS frame of papers given as paragraph texts; the keys depend on the text alone."""
    rows: list[dict[str, Any]] = []
    for paper, texts in enumerate(papers):
        for para, text in enumerate(texts):
            rows.append(
                {
                    **dict.fromkeys(BLOCKS),
                    "paper_ordinal": paper,
                    "paper_id": f"pmid:{paper}",
                    "extraction_id": f"e{paper}",
                    "block_idx": para,
                    "para_idx": para,
                    "para_ordinal": len(rows),
                    "kind": "paragraph",
                    "section_kind": "results",
                    "text": text,
                    "block_key": f"{paper}-{para}",
                }
            )
    return pl.DataFrame(rows, schema=BLOCKS)


def tag(
    blocks: pl.DataFrame, client: ScriptedClient, folder: Path, engine: str = "teacher", **settings: Any
) -> ModelTagged:
    """``blocks`` tagged by the engine through ``client``; the journal is in ``folder``."""
    chosen = Settings(tagging=TaggingSettings.model_validate({"engine": engine, **settings}))
    tagger = build_tagger(chosen, lexicon(), ModelWork(client, Journal(folder), in_flight=4))
    tagged = tagger.tag(blocks)
    assert isinstance(tagged, ModelTagged)
    check_offsets(tagged, blocks)
    return tagged


def check_offsets(tagged: ModelTagged, blocks: pl.DataFrame) -> None:
    """``text[start:end] == surface`` for every mention, and every mention belongs to a tag of its paper."""
    texts = dict(blocks.select("block_key", "text").iter_rows())
    keys = set(tagged.tags.select("paper_ordinal", "entity_key").iter_rows())
    for row in tagged.mentions.iter_rows(named=True):
        assert texts[row["block_key"]][row["start"] : row["end"]] == row["surface"]
        assert (row["paper_ordinal"], row["entity_key"]) in keys


def spans(tagged: ModelTagged) -> set[Mention]:
    columns = ("paper_ordinal", "para_idx", "start", "end", "entity_type")
    return set(tagged.mentions.select(columns).iter_rows())


def f1(found: Iterable[Mention], gold: Iterable[Mention]) -> float:
    found, gold = set(found), set(gold)
    return 2 * len(found & gold) / max(1, len(found) + len(gold))


def _pubtator(path: Path) -> Iterator[tuple[str, str, list[tuple[int, int, str, str]]]]:
    title, abstract, rows = "", "", []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for raw in lines:
            line = raw.rstrip("\n")
            if "|t|" in line[:40]:
                title = line.partition("|t|")[2]
            elif "|a|" in line[:40]:
                abstract = line.partition("|a|")[2]
            elif line.count("\t") >= 4 and line.split("\t")[1].isdigit():
                _, start, end, _, kind, *ids = line.split("\t")
                rows.append((int(start), int(end), kind, ids[0] if ids else ""))
            elif not line.strip() and title:
                yield title, abstract, rows
                title, abstract, rows = "", "", []
