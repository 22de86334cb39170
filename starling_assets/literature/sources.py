"""Source files of a shard and what they are, told by content: names lie."""

from __future__ import annotations

import hashlib
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .xml import GZIP_MAGIC, BadSource

SourceKind = Literal["jats", "pdf", "pubmed", "unknown"]

_HEAD = 65_536
_ROOT = re.compile(rb"<\s*(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)")
_SKIPPED = re.compile(rb"<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)
_PDF_LATE = re.compile(rb"^%PDF-\d\.\d", re.MULTILINE)
_KIND_OF_ROOT: dict[bytes, SourceKind] = {
    b"article": "jats",
    b"art": "jats",  # BioMed Central's own document type
    b"pmc-articleset": "jats",
    b"PubmedArticleSet": "pubmed",
    b"PubmedArticle": "pubmed",
    b"PubmedBookArticle": "pubmed",
    b"PubmedBookArticleSet": "pubmed",
    b"BookDocumentSet": "pubmed",
    b"MedlineCitationSet": "pubmed",
    b"DeleteCitation": "pubmed",
}


@dataclass(frozen=True)
class SourceFile:
    """One file of a shard: where it lies, its name inside the shard, and the hash of its bytes."""

    path: Path
    name: str
    sha256: str

    @classmethod
    def of(cls, path: Path, name: str | None = None) -> SourceFile:
        """The file at ``path``, hashed. Raises :class:`BadSource` when it cannot be read."""
        digest = hashlib.sha256()
        try:
            with path.open("rb") as handle:
                while chunk := handle.read(1 << 20):
                    digest.update(chunk)
        except OSError as error:
            raise BadSource(f"{path} cannot be read: {error.strerror or error}") from None
        return cls(path, name or path.name, digest.hexdigest())


def sniff(path: Path) -> SourceKind:
    """What ``path`` holds, by its first bytes (inflated when gzipped). ``unknown`` also when it cannot be read."""
    try:
        with path.open("rb") as handle:
            head = handle.read(_HEAD)
    except OSError:
        return "unknown"
    if head.startswith(GZIP_MAGIC):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, _HEAD)
        except zlib.error:
            return "unknown"
    return kind_of(head)


def kind_of(head: bytes) -> SourceKind:
    """What a file that begins with ``head`` holds."""
    if b"%PDF-" in head[:1024]:  # readers accept junk before the header
        return "pdf"
    if head[:2] in {b"\xff\xfe", b"\xfe\xff"} or head[1:2] == b"\x00" or head[:1] == b"\x00":
        head = head.replace(b"\x00", b"")
    head = _SKIPPED.sub(b"", head.replace(b"\xef\xbb\xbf", b"", 1))
    root = _ROOT.search(head)
    kind = _KIND_OF_ROOT.get(root.group(1), "unknown") if root else "unknown"
    return "pdf" if kind == "unknown" and _PDF_LATE.search(head) else kind
