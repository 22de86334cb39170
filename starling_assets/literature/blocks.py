"""Blocks of one paper while it is read: the shape that JATS, PDF and abstracts share."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from starling_assets.artifacts.keys import content_key

from .dates import UNKNOWN, PublicDate
from .text import block_key, fold

#: Kinds that count as paragraphs: they are numbered, and windows are made of them.
PARAGRAPH_KINDS = frozenset({"title", "paragraph", "list_item", "table", "caption", "footnote"})
#: Sections whose blocks are never read as evidence.
OUTSIDE_SECTIONS = frozenset({"references"})


@dataclass(slots=True)
class Block:
    """One block in reading order; ``text`` is clean (see ``text.clean``)."""

    kind: str
    text: str
    section_kind: str
    section_path: tuple[str, ...] = ()
    markdown: str = ""
    spans: tuple[dict[str, Any], ...] = ()

    @property
    def is_paragraph(self) -> bool:
        """Whether it gets a paragraph number."""
        return self.kind in PARAGRAPH_KINDS and self.section_kind not in OUTSIDE_SECTIONS


@dataclass(slots=True)
class Paper:
    """What one source says of one paper: identifiers, dates, licence, blocks."""

    source_kind: str
    extractor: str
    pmid: str | None = None
    pmcid: str | None = None
    doi: str | None = None
    version: int = 1
    title: str = ""
    journal: str | None = None
    public: PublicDate = UNKNOWN
    licence: str = "UNKNOWN"
    licence_evidence: str = ""
    retracted: bool = False
    retracts: tuple[str, ...] = ()
    deleted: bool = False
    note: str = ""  # what a person should know of the reading, such as pages left out
    blocks: list[Block] = field(default_factory=list)
    source_file: str = ""
    source_sha256: str = ""

    def paper_id(self) -> str:
        """``pmid:…``, else ``pmcid:…``, ``doi:…`` (lower case: DOI names ignore it), else ``sha256:…`` of the file."""
        if self.pmid:
            return f"pmid:{self.pmid}"
        if self.pmcid:
            return f"pmcid:{self.pmcid}"
        if self.doi:
            return f"doi:{self.doi.lower()}"
        return f"sha256:{self.source_sha256}"

    def extraction_id(self) -> str:
        """Key of source bytes, paper and extractor with its version: another one never shares it."""
        return content_key(self.source_sha256, self.paper_id(), self.version, self.extractor)


def same_words(left: str, right: str) -> bool:
    """Whether two texts are equal but for case, layout and closing punctuation."""
    return fold(left).strip(".[]") == fold(right).strip(".[]")


def block_rows(paper: Paper, paper_ordinal: int, first_para_ordinal: int) -> list[dict[str, Any]]:
    """Rows of the BLOCKS table of one paper; paragraph ordinals of the shard go on from ``first_para_ordinal``."""
    seen: Counter[str] = Counter()
    paper_id, extraction_id = paper.paper_id(), paper.extraction_id()
    rows: list[dict[str, Any]] = []
    para_idx = 0
    for block_idx, block in enumerate(paper.blocks):
        folded = fold(block.text)
        key = block_key(folded, seen[folded])
        seen[folded] += 1
        counts = block.is_paragraph
        rows.append(
            {
                "paper_ordinal": paper_ordinal,
                "paper_id": paper_id,
                "extraction_id": extraction_id,
                "block_idx": block_idx,
                "para_idx": para_idx if counts else None,
                "para_ordinal": first_para_ordinal + para_idx if counts else None,
                "kind": block.kind,
                "section_path": list(block.section_path),
                "section_kind": block.section_kind,
                "text": block.text,
                "markdown": block.markdown or block.text,
                "spans": list(block.spans),
                "block_key": key,
            }
        )
        para_idx += counts
    return rows
