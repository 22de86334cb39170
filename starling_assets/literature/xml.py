"""The one XML parser of the project, for files nobody vouches for, and bounded reading of (gzipped) files.

Refused before anything is built: entity declarations of every kind (external files, sockets, parameter entities, entity
bombs), documents deeper or larger than the limits, archives that inflate like a bomb. Nothing is ever fetched.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from html.entities import html5
from pathlib import Path
from typing import Any, BinaryIO, cast
from xml.parsers import expat

from lxml import etree

from starling_assets.settings.model import LiteratureSettings

GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 1 << 16
#: Text inflates about tenfold; a hundredfold and more past the first megabytes is a bomb.
_MAX_RATIO = 150
_RATIO_AFTER = 4_000_000
#: libxml2's own bound without ``huge_tree``.
_LIBXML_DEPTH = 256


class BadSource(Exception):
    """A source file that cannot be used. ``reason`` is one line for a person."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _PrologDone(Exception):
    """The first element has begun: no declaration can follow."""


def parse_xml(data: bytes, limits: LiteratureSettings) -> etree._Element:
    """Root element of ``data``. Raises :class:`BadSource` on hostile, malformed or oversized input."""
    if len(data) > limits.max_xml_bytes:
        raise BadSource(f"larger than {limits.max_xml_bytes:,} bytes (literature.max_xml_bytes)")
    data = without_leading_noise(data)
    if not data:
        raise BadSource("the file is empty")
    check_prolog(data)
    parser = etree.XMLParser(
        resolve_entities=False, load_dtd=False, dtd_validation=False, no_network=True, huge_tree=False, remove_pis=True,
        remove_comments=True,
    )  # fmt: skip
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise BadSource(explain_syntax(error)) from None
    if limits.max_depth < _LIBXML_DEPTH and _deeper_than(root, limits.max_depth):
        raise BadSource(f"elements are nested deeper than {limits.max_depth} (literature.max_depth)")
    return root


def check_prolog(data: bytes) -> None:
    """Refuse a document whose prolog declares an entity; ``data`` may be cut off after the first element."""
    parser = expat.ParserCreate()
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.EntityDeclHandler = _refuse_entity
    parser.StartElementHandler = _stop_at_element
    try:
        for start in range(0, len(data), _CHUNK):
            parser.Parse(data[start : start + _CHUNK], False)
    except _PrologDone:
        return
    except (expat.ExpatError, ValueError, LookupError):
        # Not well-formed, or an encoding that this look-ahead does not know. Only a document type declaration can
        # carry entities: with one present nothing vouches for the file any more; the real parser explains the rest.
        if b"<!ENTITY" in data.replace(b"\x00", b""):
            raise BadSource("the file declares XML entities: refused") from None


def _refuse_entity(name: str, *_: object) -> None:
    raise BadSource(
        f"the file declares the XML entity {name[:40]!r}: refused, entities can read files or fill the memory"
    )


def _stop_at_element(*_: object) -> None:
    raise _PrologDone


def explain_syntax(error: etree.XMLSyntaxError) -> str:
    """One line for a person from libxml2's message."""
    line, column = error.position
    message = (error.msg or "malformed").splitlines()[0]
    if "xmlSAX2Characters" in message or "Excessive depth" in message or "depth" in message.lower():
        message = f"elements are nested too deep ({message})"
    return f"not well-formed XML at line {line}, column {column}: {message}"[:300]


def without_leading_noise(data: bytes) -> bytes:
    """``data`` without blanks before the XML declaration, which some archives carry and the standard forbids."""
    return data.lstrip(b" \t\r\n") if data[:1] in {b" ", b"\t", b"\r", b"\n"} else data


def open_source(path: Path, limits: LiteratureSettings) -> bytes:
    """All bytes of ``path``, inflated when gzipped, never more than ``max_xml_bytes``.

    Raises :class:`BadSource` on an unreadable file, a truncated or damaged archive, or one that inflates like a bomb.
    """
    with source_stream(path, limits.max_xml_bytes) as stream:
        return stream.read()


def source_stream(path: Path, max_bytes: int) -> BinaryIO:
    """A readable stream over ``path``, inflated when gzipped; reads raise :class:`BadSource` past ``max_bytes``."""
    try:
        raw = path.open("rb")
    except OSError as error:
        raise BadSource(f"cannot be read: {error.strerror or error}") from None
    return io.BufferedReader(_BoundedStream(raw, max_bytes), buffer_size=_CHUNK)


class _BoundedStream(io.RawIOBase):
    """Counts what it hands out; inflates gzip members one after another and checks their checksums."""

    def __init__(self, raw: BinaryIO, max_bytes: int) -> None:
        self._raw = raw
        self._max_bytes = max_bytes
        self._handed_out = 0
        self._taken_in = 0
        magic = raw.read(2)
        raw.seek(0)
        self._chunks = self._inflate() if magic == GZIP_MAGIC else self._plain()
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._raw.close()
        super().close()

    def readinto(self, buffer: object) -> int:
        target = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._count(len(chunk))
            self._rest = memoryview(chunk)
        size = min(len(target), len(self._rest))
        target[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def _plain(self) -> Iterator[bytes]:
        while chunk := self._read_raw():
            yield chunk

    def _inflate(self) -> Iterator[bytes]:
        pending = b""
        member = zlib.decompressobj(wbits=31)
        while True:
            pending = pending or self._read_raw()
            if not pending:
                break
            try:
                chunk = member.decompress(pending, _CHUNK * 4)
            except zlib.error as error:
                raise BadSource(f"damaged gzip archive: {error}") from None
            if chunk:
                yield chunk
            pending = member.unconsumed_tail
            if member.eof:
                pending = member.unused_data or self._read_raw()
                if not pending.startswith(GZIP_MAGIC):  # padding after the last member, as tape tools leave it
                    if pending.strip(b"\x00"):
                        raise BadSource("damaged gzip archive: bytes after its end")
                    return
                member = zlib.decompressobj(wbits=31)
        if not member.eof:
            raise BadSource("truncated gzip archive: fetch the file again")

    def _read_raw(self) -> bytes:
        try:
            chunk = self._raw.read(_CHUNK)
        except OSError as error:
            raise BadSource(f"cannot be read: {error.strerror or error}") from None
        self._taken_in += len(chunk)
        return chunk

    def _count(self, size: int) -> None:
        self._handed_out += size
        if self._handed_out > self._max_bytes:
            raise BadSource(f"larger than {self._max_bytes:,} bytes (literature.max_xml_bytes)")
        if self._handed_out > _RATIO_AFTER and self._handed_out > _MAX_RATIO * max(self._taken_in, 1):
            raise BadSource(f"inflates more than {_MAX_RATIO}-fold: refused as a decompression bomb")


def entity_text(element: etree._Element) -> str:
    """Text of an entity reference that a document type elsewhere would have declared (``&nbsp;``); else as written."""
    name = (element.text or "").strip("&;")
    return html5.get(f"{name};", f"&{name};")


def is_entity(element: Any) -> bool:
    """Whether a node is an entity reference that was left unresolved."""
    return element.tag is etree.Entity


def own_text(element: etree._Element) -> str:
    """All text inside ``element``, as written."""
    if len(element) == 0:
        return element.text or ""
    return "".join(cast("Iterator[str]", element.itertext()))


def local_name(tag: Any) -> str:
    """Tag without its namespace; empty for comments, instructions and entity references."""
    if tag.__class__ is not str:
        return ""
    return str(tag.rpartition("}")[2]) if tag[0] == "{" else str(tag)


def _deeper_than(root: etree._Element, depth: int) -> bool:
    level: list[etree._Element] = [root]
    for _ in range(depth):
        level = [child for element in level for child in element]
        if not level:
            return False
    return True
