"""PubMed citations: baseline and update files, read as a stream in constant memory.

A file is taken whole or set aside whole, with the reason; the others go on. Of a citation that a file holds twice every
version is kept. ``DeleteCitation`` becomes a row with ``deleted``, which masks what earlier files said.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Any, BinaryIO, cast

import polars as pl
from lxml import etree

from starling_assets.settings.model import LiteratureSettings

from .citation_fields import empty_row, read_citation
from .sources import SourceFile, sniff
from .tables import CITATIONS, FILES
from .xml import BadSource, check_prolog, explain_syntax, source_stream, without_leading_noise

_RECORDS = ("PubmedArticle", "PubmedBookArticle", "MedlineCitation", "DeleteCitation", "DeleteDocument")
_PROLOG = 1 << 16
#: A stream is never held in memory, so a file may be this many times larger than one document.
_STREAM_FACTOR = 64
#: Share of citations without title or date from which a file is not taken for PubMed any more.
_NULL_SHARE = 0.5
_NULL_CHECK_FROM = 20
#: Citations that are Python objects at one time.
_BATCH = 2_000


@dataclass(frozen=True)
class CitationsResult:
    """``files``: one row of FILES per PubMed file; ``citations``: rows of CITATIONS, sorted by PMID, version and
    file."""

    files: pl.DataFrame
    citations: pl.DataFrame


def read_citations(files: Sequence[SourceFile], limits: LiteratureSettings) -> CitationsResult:
    """Citations of all PubMed files among ``files``; other kinds are left to :func:`papers.read_papers`."""
    frames: list[pl.DataFrame] = []
    reports: list[dict[str, Any]] = []
    for file in sorted(files, key=lambda file: file.name):
        if sniff(file.path) != "pubmed":
            continue
        began = time.monotonic()
        reason = ""
        found: list[pl.DataFrame] = []
        try:
            found = [pl.DataFrame(rows, schema=CITATIONS) for rows in batched(iter_citations(file, limits), _BATCH)]
            reason = null_rate_problem(found)
        except BadSource as error:
            reason = error.reason
        frames += [] if reason else found
        reports.append(
            {
                "file": file.name,
                "sha256": file.sha256,
                "kind": "pubmed",
                "status": "set_aside" if reason else "ok",
                "reason": reason,
                "papers": 0 if reason else sum(frame.height for frame in found),
                "seconds": time.monotonic() - began,
            }
        )
    citations = pl.concat([pl.DataFrame(schema=CITATIONS), *frames])
    order = [pl.col("pmid").cast(pl.UInt64), pl.col("version"), pl.col("file")]
    return CitationsResult(pl.DataFrame(reports, schema=FILES), citations.sort(order, maintain_order=True))


def iter_citations(file: SourceFile, limits: LiteratureSettings) -> Iterator[dict[str, Any]]:
    """Rows of CITATIONS of one file, as they are read. Raises :class:`BadSource` where the file goes bad."""
    with source_stream(file.path, limits.max_xml_bytes * _STREAM_FACTOR) as stream:
        source = _checked(stream)
        events = etree.iterparse(
            cast("Any", source), events=("end",), tag=_RECORDS, resolve_entities=False, load_dtd=False,
            dtd_validation=False, no_network=True, huge_tree=False, remove_comments=True, remove_pis=True,
            collect_ids=False,
        )  # fmt: skip
        count = 0
        try:
            for _, element in events:
                rows = _rows_of(element, file.name)
                if rows is None:
                    continue
                count += 1
                yield from rows
                _forget(element)
        except etree.XMLSyntaxError as error:
            raise BadSource(f"{explain_syntax(error)} (after {count:,} records)") from None
        if count == 0:
            raise BadSource("the file holds no citation")


def _rows_of(element: etree._Element, file: str) -> list[dict[str, Any]] | None:
    tag = element.tag
    if tag in {"DeleteCitation", "DeleteDocument"}:
        rows = []
        for child in element:
            pmid = (child.text or "").strip()
            if child.tag == "PMID" and pmid.isdecimal():
                version = child.get("Version") or "1"
                rows.append({**empty_row(pmid, int(version) if version.isdecimal() else 1, file), "deleted": True})
        return rows
    parent = element.getparent()
    if tag == "MedlineCitation" and parent is not None and parent.tag == "PubmedArticle":
        return None  # belongs to a record that is not complete yet
    row = read_citation(element, file)
    return [row] if row else []


def null_rate_problem(frames: Sequence[pl.DataFrame]) -> str:
    """Why these citations look like a file that was misread (most titles or dates missing); empty when they do not."""
    if not frames:
        return ""
    live = pl.concat(frames).filter(~pl.col("deleted"))
    if live.height < _NULL_CHECK_FROM:
        return ""
    missing_titles = live.filter(pl.col("title").fill_null("") == "").height
    for missing, name in ((missing_titles, "title"), (live["public_earliest"].null_count(), "publication date")):
        if missing > _NULL_SHARE * live.height:
            return f"{missing} of {live.height} citations have no {name}: the file's format is not understood"
    return ""


class _Prefixed:
    """A stream with some bytes put back at its front."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head = head
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        """At most ``size`` bytes."""
        if self._head:
            chunk, self._head = self._head[:size], self._head[size:] if size >= 0 else b""
            return chunk
        return self._stream.read(size)


def _checked(stream: BinaryIO) -> _Prefixed:
    head = without_leading_noise(stream.read(_PROLOG))
    if not head:
        raise BadSource("the file is empty")
    check_prolog(head)
    return _Prefixed(head, stream)


def _forget(element: etree._Element) -> None:
    # Memory stays constant only when the finished record and what lies before it leave the tree. Its inside goes at
    # once, so that the next record is built where this one was, in the memory that the processor still holds close.
    element.clear()
    parent = element.getparent()
    if parent is not None:
        while parent[0] is not element:
            del parent[0]
