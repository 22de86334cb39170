"""F25: damaged, mis-encoded and foreign files are set aside with a reason; the others go on; null rates are watched."""

from __future__ import annotations

import gzip

import pytest

from tests.literature.papers_on_disk import article, citation, citation_set, read_all, texts, write

GOOD = article(title="Déjà vu of α-synuclein", ids='<article-id pub-id-type="doi">10.5555/good</article-id>')


def packed(text: str) -> bytes:
    return gzip.compress(text.encode(), mtime=0)


def wrong_checksum(data: bytes) -> bytes:
    return data[:-8] + bytes([data[-8] ^ 0xFF]) + data[-7:]


DAMAGED = {
    "truncated.nxml.gz": (packed(GOOD)[:-200], "truncated gzip"),
    "cut-in-header.nxml.gz": (packed(GOOD)[:6], "gzip"),
    "checksum.nxml.gz": (wrong_checksum(packed(GOOD)), "damaged gzip"),
    "noise-after.nxml.gz": (packed(GOOD) + b"junk that is no member", "damaged gzip"),
    "flipped.nxml.gz": (packed(GOOD)[:60] + b"\xff\xff\xff\xff" + packed(GOOD)[64:], "gzip"),
    "malformed.nxml": (GOOD.replace("</title-group>", "</title-grop>"), "not well-formed"),
    "half.nxml": (GOOD[: len(GOOD) // 2], "not well-formed"),
    "nul.nxml": (GOOD.replace("Text of", "Text\x00of"), "not well-formed"),
    "wrong-encoding.nxml": (
        ('<?xml version="1.0" encoding="utf-8"?>' + GOOD).encode("latin-1", "replace"),
        "not well-formed",
    ),
    "empty.nxml": ("", "empty"),
    "blank.xml": ("  \n\n ", "empty"),
    "html.xml": ("<!DOCTYPE html><html><body><p>404 Not Found</p></body></html>", "neither JATS"),
    "foreign.xml": ("<TEI><text>words</text></TEI>", "root element <TEI>"),
    "words.txt": ("Just words, no markup.", "neither JATS"),
    "hollow.nxml": ("<article><front><article-meta/></front></article>", "neither a title nor any text"),
    "no-record.xml": ("<PubmedArticleSet></PubmedArticleSet>", "no citation"),
    "broken-set.xml": (citation_set(citation(5), citation(6))[:-40], "after 1 records"),
}


@pytest.mark.parametrize("name", sorted(DAMAGED))
def test_damaged_file_is_set_aside_with_its_reason(tmp_path, name):
    content, reason = DAMAGED[name]
    files = [
        write(tmp_path, name, content.encode() if isinstance(content, str) else content),
        write(tmp_path, "zz-good.nxml", GOOD),
    ]
    _, papers, reports = read_all(files)
    assert reports[name]["status"] == "set_aside"
    assert reason in str(reports[name]["reason"])
    assert "Traceback" not in str(reports[name]["reason"])
    assert "\n" not in str(reports[name]["reason"])
    assert reports["zz-good.nxml"]["status"] == "ok"
    assert papers.papers["paper_id"].to_list() == ["doi:10.5555/good"]


def test_every_file_is_reported_exactly_once(tmp_path):
    files = [write(tmp_path, name, c.encode() if isinstance(c, str) else c) for name, (c, _) in DAMAGED.items()]
    files.append(write(tmp_path, "good.nxml", GOOD))
    _, _, reports = read_all(files)
    assert set(reports) == {*DAMAGED, "good.nxml"}


SOUND = {
    "bom.nxml": b"\xef\xbb\xbf" + GOOD.encode(),
    "latin.nxml": ('<?xml version="1.0" encoding="ISO-8859-1"?>\n' + GOOD.replace("α", "&#945;")).encode("latin-1"),
    "windows.nxml": ('<?xml version="1.0" encoding="windows-1252"?>\n' + GOOD.replace("α", "&#945;")).encode("cp1252"),
    "utf16.nxml": ('<?xml version="1.0" encoding="UTF-16"?>\n' + GOOD).encode("utf-16"),
    "blank-lines-first.nxml": b"\n\n  " + b'<?xml version="1.0" encoding="UTF-8"?>' + GOOD.encode(),
    "future-dtd.nxml": b'<!DOCTYPE article PUBLIC "-//NLM//DTD JATS v9.9 20991231//EN" "JATS-9-9.dtd">\n'
    + GOOD.encode(),
    "two-members.nxml.gz": packed(GOOD[:300]) + packed(GOOD[300:]),
    "padded.nxml.gz": packed(GOOD) + b"\x00" * 512,
    "named-entity.nxml": b'<!DOCTYPE article PUBLIC "x" "y.dtd">' + GOOD.replace("α", "&alpha;").encode(),
}


@pytest.mark.parametrize("name", sorted(SOUND))
def test_unusual_but_sound_files_are_read(tmp_path, name):
    _, papers, reports = read_all([write(tmp_path, name, SOUND[name])])
    assert reports[name]["status"] == "ok", reports[name]["reason"]
    assert texts(papers, "title") == ["Déjà vu of α-synuclein"]


def test_a_file_that_lost_its_titles_is_not_taken_for_pubmed(tmp_path):
    hollow = citation_set(*(citation(n, "") for n in range(1, 50)))
    citations, _, reports = read_all([write(tmp_path, "hollow.xml", hollow)])
    assert reports["hollow.xml"]["status"] == "set_aside"
    assert "49 of 49 citations have no title" in str(reports["hollow.xml"]["reason"])
    assert citations.citations.height == 0


def test_a_few_citations_without_title_are_normal(tmp_path):
    mixed = citation_set(*(citation(n, "" if n % 10 == 0 else "T.", inside=JOURNAL) for n in range(1, 50)))
    citations, _, reports = read_all([write(tmp_path, "mixed.xml", mixed)])
    assert reports["mixed.xml"]["status"] == "ok"
    assert citations.citations.height == 49


def test_dates_that_all_vanished_are_noticed(tmp_path):
    undated = citation_set(*(citation(n) for n in range(1, 50)))
    _, _, reports = read_all([write(tmp_path, "undated.xml", undated)])
    assert "no publication date" in str(reports["undated.xml"]["reason"])


JOURNAL = "<Journal><JournalIssue><PubDate><Year>2016</Year></PubDate></JournalIssue></Journal>"


def test_a_vanished_file_is_set_aside(tmp_path):
    file = write(tmp_path, "gone.nxml", GOOD)
    file.path.unlink()
    _, _, reports = read_all([file])
    assert reports["gone.nxml"]["status"] == "set_aside"
    assert "cannot be read" in str(reports["gone.nxml"]["reason"])


def test_the_shared_hard_files_all_end(shared_data):
    from starling_assets.literature.sources import SourceFile

    folder = shared_data / "literature"
    files = [SourceFile.of(path) for part in ("nasty", "pubmed_xml") for path in sorted((folder / part).iterdir())]
    _, papers, reports = read_all(files)
    assert set(reports) == {file.name for file in files}
    aside = {name for name, report in reports.items() if report["status"] != "ok"}
    assert aside == {
        "pandoc_jats-reader.xml",  # declares an attribute twice
        "jabref_MalformedEntry.xml",
        "metapub_37909814.xml",  # an error message instead of a record
        "biopython_medline_pubmed_result1.txt",  # MEDLINE text format
        "biopython_medline_pubmed_result2.txt",
        "biopython_medline_pubmed_result3.txt",
    }
    assert papers.papers.height > 600
