"""F23: XML with external entities is refused; no file is read and no socket is opened."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from starling_assets.literature.xml import BadSource, parse_xml
from tests.literature.papers_on_disk import LIMITS, article, citation, citation_set, read_all, write

SECRET = "SECRET-CONTENT-OF-ANOTHER-FILE"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_text(SECRET)
    return path


@pytest.fixture
def requests_seen():
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<!ENTITY leak 'x'>")

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server.server_address[1], seen
    server.shutdown()
    thread.join()
    server.server_close()


def hostile_prologs(secret: Path, port: int) -> dict[str, tuple[str, str]]:
    """Prolog and the reference to put in the text."""
    return {
        "file": (f'<!DOCTYPE article [<!ENTITY leak SYSTEM "file://{secret}">]>', "&leak;"),
        "http": (f'<!DOCTYPE article [<!ENTITY leak SYSTEM "http://127.0.0.1:{port}/leak">]>', "&leak;"),
        "public": (f'<!DOCTYPE article [<!ENTITY leak PUBLIC "-//X//EN" "http://127.0.0.1:{port}/leak">]>', "&leak;"),
        "parameter": (f'<!DOCTYPE article [<!ENTITY % p SYSTEM "http://127.0.0.1:{port}/p.dtd"> %p;]>', "&leak;"),
        "nested parameter": (
            "<!DOCTYPE article [<!ENTITY % a \"<!ENTITY leak SYSTEM 'file://" + str(secret) + "'>\"> %a;]>",
            "&leak;",
        ),
        "unparsed": (f'<!DOCTYPE article [<!NOTATION n SYSTEM "x"><!ENTITY leak SYSTEM "{secret}" NDATA n>]>', "x"),
        "internal": ('<!DOCTYPE article [<!ENTITY leak "harmless">]>', "&leak;"),
    }


@pytest.mark.parametrize("kind", ["file", "http", "public", "parameter", "nested parameter", "unparsed", "internal"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
@pytest.mark.parametrize("reader", ["jats", "pubmed"])
def test_entities_are_refused(tmp_path, secret, requests_seen, kind, encoding, reader):
    port, seen = requests_seen
    prolog, reference = hostile_prologs(secret, port)[kind]
    if reader == "jats":
        document = article(title=f"Title {reference}")
    else:
        document = citation_set(citation(1, f"Title {reference}")).partition("?>\n")[2]
        prolog = prolog.replace("DOCTYPE article", "DOCTYPE PubmedArticleSet")
    text = f'<?xml version="1.0" encoding="{encoding}"?>\n{prolog}\n{document}'
    bad = write(tmp_path, "bad.xml", text.encode(encoding))
    good = write(tmp_path, "good.nxml", article())

    citations, papers, reports = read_all([bad, good])

    assert reports["bad.xml"]["status"] == "set_aside"
    assert "entit" in str(reports["bad.xml"]["reason"])
    assert reports["good.nxml"]["status"] == "ok"
    assert papers.papers.height == 1
    assert citations.citations.height == 0
    assert SECRET not in str(papers.blocks.to_dicts())
    assert seen == []


def test_an_external_document_type_is_not_fetched(requests_seen):
    port, seen = requests_seen
    data = f'<!DOCTYPE article SYSTEM "http://127.0.0.1:{port}/jats.dtd">\n<article><p>a&nbsp;b</p></article>'.encode()
    root = parse_xml(data, LIMITS)
    assert root.tag == "article"
    assert seen == []


def test_xinclude_is_not_followed(tmp_path, secret):
    body = f'<p><xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{secret}" parse="text"/>Seen.</p>'
    _, papers, reports = read_all([write(tmp_path, "a.nxml", article(body))])
    assert reports["a.nxml"]["status"] == "ok"
    assert SECRET not in str(papers.blocks.to_dicts())


def test_an_unknown_encoding_cannot_hide_a_declaration():
    data = (
        b'<?xml version="1.0" encoding="x-made-up"?><!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/hostname">]><a>&e;</a>'
    )
    with pytest.raises(BadSource):
        parse_xml(data, LIMITS)


def test_a_declaration_beyond_the_first_chunk_of_the_prolog_is_found(tmp_path):
    filler = "<!-- " + "x" * 200_000 + " -->"
    text = (
        f'<!DOCTYPE PubmedArticleSet [{filler}<!ENTITY e "boom">]>'
        + citation_set(citation(1, "&e;")).partition("?>\n")[2]
    )
    _, _, reports = read_all([write(tmp_path, "late.xml", text)])
    assert reports["late.xml"]["status"] == "set_aside"
