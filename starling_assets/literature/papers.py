"""Papers of a shard: full text where a file gives it, title and abstract from the citation where none does.

Of one paper (same PMID, PMCID or DOI) the best source is kept: JATS before PDF before abstract. Its citation completes
it. Papers are sorted by ``paper_id``; ordinals of papers and paragraphs are dense. Every file is reported: taken, or
set aside.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from starling_assets.settings.model import LiteratureSettings

from .blocks import Block, Paper, block_rows
from .bmc import read_bmc
from .dates import PublicDate, earliest_of
from .jats import read_jats
from .ocr.pages import Readings
from .pdf import read_pdf
from .sources import SourceFile, sniff
from .tables import BLOCKS, FILES, PAPERS
from .xml import BadSource, local_name, open_source, parse_xml

ABSTRACT_EXTRACTOR = "abstract/1"
_ABSTRACT_EVIDENCE = "abstract of a PubMed citation: no licence is stated; the publisher may hold the copyright"
_PREFERENCE = {"jats": 0, "pdf": 1, "abstract": 2}


@dataclass(frozen=True)
class PapersResult:
    """``files``: FILES of all files that are not PubMed files; ``papers``: PAPERS; ``blocks``: BLOCKS."""

    files: pl.DataFrame
    papers: pl.DataFrame
    blocks: pl.DataFrame


def read_papers(
    files: Sequence[SourceFile],
    citations: pl.DataFrame,
    limits: LiteratureSettings,
    on_progress: Callable[[int, int], None] | None = None,
    ocr: Readings | None = None,
) -> PapersResult:
    """Papers and blocks of a shard from its ``files`` and its CITATIONS.

    PubMed files among ``files`` are skipped here: ``read_citations`` reports them. ``on_progress`` gets (done, total)
    files; ``ocr`` holds what an OCR engine read on pages without a sound text layer.
    """
    todo = [
        (file, kind) for file in sorted(files, key=lambda file: file.name) if (kind := sniff(file.path)) != "pubmed"
    ]
    found: list[Paper] = []
    reports: list[dict[str, Any]] = []
    for done, (file, kind) in enumerate(todo):
        if on_progress is not None:
            on_progress(done, len(todo))
        began = time.monotonic()
        papers: list[Paper] = []
        reason = note = ""
        try:
            papers = [_admitted(paper, limits) for paper in _read_file(file, kind, limits, ocr or Readings())]
            note = "; ".join(paper.note for paper in papers if paper.note)
        except BadSource as error:
            reason = error.reason
        found += papers
        reports.append(
            {
                "file": file.name,
                "sha256": file.sha256,
                "kind": kind,
                "status": "set_aside" if reason else "ok",
                "reason": reason or note,
                "papers": len(papers),
                "seconds": time.monotonic() - began,
            }
        )
    if on_progress is not None:
        on_progress(len(todo), len(todo))
    kept = _one_per_paper(found, citations, reports)
    return _tables(kept, reports)


def _read_file(file: SourceFile, kind: str, limits: LiteratureSettings, ocr: Readings) -> list[Paper]:
    if kind == "jats":
        root = parse_xml(open_source(file.path, limits), limits)
        papers = read_bmc(root) if local_name(root.tag) == "art" else read_jats(root)
    elif kind == "pdf":
        papers = [read_pdf(file.path, limits, ocr.of(file.sha256))]
    else:
        papers = []
        _explain_unknown(file, limits)
    for paper in papers:
        paper.source_file, paper.source_sha256 = file.name, file.sha256
    return papers


def _explain_unknown(file: SourceFile, limits: LiteratureSettings) -> None:
    """Raise :class:`BadSource` with the reason that helps: damaged archive and malformed XML are told apart from the
    rest."""
    data = open_source(file.path, limits)
    if not data.strip():
        raise BadSource("the file is empty")
    if data.lstrip()[:1] == b"<" and b"<html" not in data[:2_000].lower():
        root = parse_xml(data, limits)
        raise BadSource(f"XML of a kind that is not read here: root element <{local_name(root.tag)}>")
    raise BadSource("neither JATS, PubMed XML nor PDF")


def _admitted(paper: Paper, limits: LiteratureSettings) -> Paper:
    if paper.licence not in limits.licences:
        raise BadSource(
            f"licence class {paper.licence} is not among literature.licences: {paper.licence_evidence[:120]}"
        )
    return paper


class _Citations:
    """The newest citation of each PMID, found by any of its identifiers."""

    def __init__(self, citations: pl.DataFrame) -> None:
        self.newest: dict[str, dict[str, Any]] = {}
        deleted_rank = 0
        for row in citations.sort("pmid", "version", "deleted", "file", maintain_order=True).iter_rows(named=True):
            earlier = self.newest.get(row["pmid"])
            deleted_rank = int(row["deleted"])
            if (
                earlier is None
                or (row["version"], deleted_rank) >= (earlier["version"], int(earlier["deleted"]))
                or row["deleted"]
            ):
                self.newest[row["pmid"]] = row
        self._by_id: dict[str, dict[str, Any]] = {}
        for row in self.newest.values():
            for key in _id_keys(row["pmid"], row["pmcid"], row["doi"]):
                self._by_id.setdefault(key, row)
        self.retracted = {pmid for row in self.newest.values() for pmid in row["retracts"] or ()}

    def of(self, paper: Paper) -> dict[str, Any] | None:
        """The citation of ``paper``. A PMID of its own that has none is not overruled by a shared DOI."""
        for key in _id_keys(paper.pmid, paper.pmcid, paper.doi):
            if key in self._by_id:
                return self._by_id[key]
        return None


def _id_keys(pmid: str | None, pmcid: str | None, doi: str | None) -> list[str]:
    # DOI names ignore ASCII case.
    return [key for key in (pmid and f"pmid:{pmid}", pmcid and f"pmcid:{pmcid}", doi and f"doi:{doi.lower()}") if key]


def _one_per_paper(found: list[Paper], citations: pl.DataFrame, reports: list[dict[str, Any]]) -> list[Paper]:
    index = _Citations(citations)
    for paper in found:
        row = index.of(paper)
        if row is not None and not row["deleted"]:
            _complete(paper, row)
    _share_identifiers(found)
    full_text = {paper.pmid for paper in found if paper.pmid}
    candidates = [
        *found,
        *(_from_citation(row) for row in index.newest.values() if row["deleted"] or row["pmid"] not in full_text),
    ]
    best: dict[str, Paper] = {}
    for paper in sorted(candidates, key=_preference):
        kept = best.setdefault(paper.paper_id(), paper)
        if kept is not paper:
            _report_duplicate(paper, kept, reports)
    for paper in best.values():
        paper.retracted = paper.retracted or paper.pmid in index.retracted
        if paper.pmid in index.newest and index.newest[paper.pmid]["deleted"]:
            best[paper.paper_id()] = replace(paper, deleted=True, blocks=[])
    retracted_here = {pmid for paper in best.values() for pmid in paper.retracts}
    for paper in best.values():
        paper.retracted = paper.retracted or paper.pmid in retracted_here
    return [best[paper_id] for paper_id in sorted(best)]


def _preference(paper: Paper) -> tuple[Any, ...]:
    return (_PREFERENCE[paper.source_kind], -paper.version, -len(paper.blocks), paper.source_file, paper.source_sha256)


def _report_duplicate(paper: Paper, kept: Paper, reports: list[dict[str, Any]]) -> None:
    for report in reports:
        if report["file"] == paper.source_file and paper.source_kind != "abstract":
            report["papers"] -= 1
            report["reason"] = f"same paper as {kept.source_file} ({kept.paper_id()}), which is kept"


def _share_identifiers(papers: Iterable[Paper]) -> None:
    """A PDF that knows only its DOI learns the PMID from the JATS file of the same article."""
    known: dict[str, Paper] = {}
    for paper in sorted(papers, key=_preference):
        for key in _id_keys(paper.pmid, paper.pmcid, paper.doi):
            other = known.setdefault(key, paper)
            if other is not paper:
                paper.pmid, paper.pmcid = paper.pmid or other.pmid, paper.pmcid or other.pmcid


def _complete(paper: Paper, row: dict[str, Any]) -> None:
    paper.pmid = paper.pmid or row["pmid"]
    paper.pmcid = paper.pmcid or row["pmcid"]
    paper.doi = paper.doi or row["doi"]
    paper.title = paper.title or row["title"]
    paper.journal = paper.journal or row["journal"]
    paper.version = max(paper.version, row["version"])
    paper.public = earliest_of([paper.public, _public(row)])
    paper.retracted = paper.retracted or row["retracted"]
    paper.retracts = tuple(dict.fromkeys([*paper.retracts, *(row["retracts"] or ())]))


def _from_citation(row: dict[str, Any]) -> Paper:
    paper = Paper(
        source_kind="abstract",
        extractor=ABSTRACT_EXTRACTOR,
        pmid=row["pmid"],
        pmcid=row["pmcid"],
        doi=row["doi"],
        version=row["version"],
        title=row["title"] or "",
        journal=row["journal"],
        public=_public(row),
        licence="UNKNOWN",
        licence_evidence=_ABSTRACT_EVIDENCE,
        retracted=row["retracted"],
        retracts=tuple(row["retracts"] or ()),
        deleted=row["deleted"],
        source_file=row["file"],
    )
    if not paper.deleted:
        paper.blocks = list(_abstract_blocks(row))
    return paper


def _abstract_blocks(row: dict[str, Any]) -> Iterable[Block]:
    if row["title"]:
        yield Block("title", row["title"], "title")
    for part in row["abstract"] or ():
        label = part["label"]
        path = ("Abstract", label) if label else ("Abstract",)
        yield Block("paragraph", f"{label}: {part['text']}" if label else part["text"], "abstract", path)


def _public(row: dict[str, Any]) -> PublicDate:
    return PublicDate(row["public_earliest"], row["public_latest"], row["public_precision"], row["public_text"] or "")


def _tables(papers: Sequence[Paper], reports: list[dict[str, Any]]) -> PapersResult:
    rows: list[dict[str, Any]] = []
    blocks: list[dict[str, Any]] = []
    next_para = 0
    for ordinal, paper in enumerate(papers):
        own = block_rows(paper, ordinal, next_para)
        paragraphs = sum(row["para_idx"] is not None for row in own)
        next_para += paragraphs
        blocks += own
        rows.append(
            {
                "paper_ordinal": ordinal, "paper_id": paper.paper_id(), "extraction_id": paper.extraction_id(), "pmid":
                paper.pmid,
                "pmcid": paper.pmcid, "doi": paper.doi, "version": paper.version, "title": paper.title, "journal":
                paper.journal,
                "public_earliest": paper.public.earliest, "public_latest": paper.public.latest, "public_precision":
                paper.public.precision,
                "licence": paper.licence, "licence_evidence": paper.licence_evidence, "source_kind": paper.source_kind,
                "source_file": paper.source_file, "source_sha256": paper.source_sha256, "retracted": paper.retracted,
                "retracts": list(paper.retracts), "deleted": paper.deleted, "blocks": len(own), "paragraphs":
                paragraphs,
            }
        )  # fmt: skip
    return PapersResult(
        pl.DataFrame(reports, schema=FILES) if reports else pl.DataFrame(schema=FILES),
        pl.DataFrame(rows, schema=PAPERS) if rows else pl.DataFrame(schema=PAPERS),
        pl.DataFrame(blocks, schema=BLOCKS) if blocks else pl.DataFrame(schema=BLOCKS),
    )
