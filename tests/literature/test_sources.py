"""What a file is, told by its content; bounded reading of plain and packed files."""

from __future__ import annotations

import gzip
import hashlib
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.literature.sources import SourceFile, kind_of, sniff
from starling_assets.literature.xml import BadSource, open_source, parse_xml, source_stream, without_leading_noise
from starling_assets.settings.model import LiteratureSettings
from tests.literature.papers_on_disk import LIMITS, article, citation, citation_set, write

CONTENTS = {
    "jats": article(),
    "jats with a type": '<?xml version="1.0"?>\n<!DOCTYPE article PUBLIC "-//NLM//DTD JATS" "a.dtd">\n' + article(),
    "jats with an inner subset": "<!DOCTYPE article [<!ELEMENT a (b)>]>" + article(),
    "jats after a comment": "<!-- <PubmedArticleSet> was here -->" + article(),
    "jats in a namespace": '<j:article xmlns:j="x"/>',
    "jats of biomed central": "<art><ui>1</ui></art>",
    "pubmed": citation_set(citation(1)),
    "pubmed with a type": '<?xml version="1.0"?><!DOCTYPE PubmedArticleSet SYSTEM "x.dtd">'
    + citation_set(citation(1))[38:],
    "pubmed deletions": "<DeleteCitation><PMID>1</PMID></DeleteCitation>",
    "pdf": "%PDF-1.7\n1 0 obj",
    "pdf after lines of a web server": "HTTP/1.1 200 OK\r\n\r\n%PDF-1.4",
    "unknown words": "Nothing of the kind.",
    "unknown page": "<!DOCTYPE html><html><body/></html>",
    "unknown empty": "",
}


@pytest.mark.parametrize("name", sorted(CONTENTS))
@pytest.mark.parametrize("packed", [False, True])
def test_the_kind_is_told_by_content_and_not_by_name(tmp_path, name, packed):
    data = CONTENTS[name].encode()
    file = write(tmp_path, "misleading.docx", gzip.compress(data) if packed else data)
    assert sniff(file.path) == name.split()[0]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "latin-1"])
def test_the_kind_in_other_encodings(tmp_path, encoding):
    assert sniff(write(tmp_path, "a.xml", article().encode(encoding)).path) == "jats"


def test_an_unreadable_file_is_unknown(tmp_path):
    assert sniff(tmp_path / "absent") == "unknown"
    assert sniff(tmp_path) == "unknown"
    assert sniff(write(tmp_path, "cut.gz", gzip.compress(b"x" * 100)[:12]).path) == "unknown"


@given(st.binary(max_size=300))
def test_no_bytes_break_the_look(data):
    assert kind_of(data) in {"jats", "pdf", "pubmed", "unknown"}


def test_a_source_file_carries_its_hash(tmp_path):
    data = os.urandom(3_000_000)
    file = write(tmp_path, "a.bin", data)
    assert file.sha256 == hashlib.sha256(data).hexdigest()
    assert file.name == "a.bin"
    assert SourceFile.of(file.path, "other name").name == "other name"
    with pytest.raises(BadSource, match="cannot be read"):
        SourceFile.of(tmp_path / "absent")


@pytest.mark.parametrize("name", ["a b;rm -rf $(x).xml", "ünïcödé '\"`.xml", "-rf.xml", "a\nb.xml"])
def test_names_with_metacharacters_are_only_names(tmp_path, name):
    file = write(tmp_path, name, article())
    assert sniff(file.path) == "jats"
    assert open_source(file.path, LIMITS).startswith(b"<article")


@given(st.binary(max_size=5_000), st.integers(1, 4))
def test_what_was_packed_comes_out(tmp_path_factory, data, members):
    path = tmp_path_factory.mktemp("packed") / "a.gz"
    path.write_bytes(b"".join(gzip.compress(data) for _ in range(members)))
    assert open_source(path, LIMITS) == data * members


def test_a_stream_stops_at_its_limit(tmp_path):
    file = write(tmp_path, "a.txt", b"x" * 1_000)
    with source_stream(file.path, 1_000) as stream:
        assert len(stream.read()) == 1_000
    with source_stream(file.path, 999) as stream, pytest.raises(BadSource, match="larger than 999 bytes"):
        stream.read()


def test_document_limits():
    with pytest.raises(BadSource, match="larger than 10 bytes"):
        parse_xml(b"<article></article>", LiteratureSettings(max_xml_bytes=10))
    with pytest.raises(BadSource, match="is empty"):
        parse_xml(b" \n ", LIMITS)
    assert without_leading_noise(b" \r\n<a/>") == b"<a/>"


def refusal(data: bytes) -> str | None:
    """Why ``data`` is refused; None when it is read. Any other exception is a failure of the parser."""
    try:
        parse_xml(data, LIMITS)
    except BadSource as error:
        return error.reason
    return None


@given(st.binary(max_size=400))
def test_no_bytes_break_the_parser(data):
    reason = refusal(data)
    assert reason is None or (reason and "\n" not in reason)


MUTATED = article("<p>Some text &amp; more.</p>").encode()


@given(st.integers(0, len(MUTATED) - 1), st.binary(min_size=0, max_size=6))
def test_no_mutation_breaks_the_parser(position, noise):
    reason = refusal(MUTATED[:position] + noise + MUTATED[position + len(noise) :])
    assert reason is None or (reason and "\n" not in reason)
