"""F24: billion laughs, quadratic blow-up, gzip bombs and deep nesting are refused fast and within bounded memory."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest

from starling_assets.literature.sources import sniff
from starling_assets.literature.xml import BadSource, open_source, parse_xml
from starling_assets.settings.model import LiteratureSettings
from tests.literature.papers_on_disk import LIMITS, article, citation, citation_set, read_all, write

SECONDS = 1.0


def laughs(levels: int = 10, per_level: int = 10) -> str:
    declared = '<!ENTITY l0 "ha">' + "".join(
        f'<!ENTITY l{n} "{f"&l{n - 1};" * per_level}">' for n in range(1, levels + 1)
    )
    return f"<!DOCTYPE article [{declared}]><article><body><p a='&l{levels};'>&l{levels};</p></body></article>"


def quadratic() -> str:
    return f'<!DOCTYPE article [<!ENTITY a "{"x" * 50_000}">]><article><body><p>{"&a;" * 50_000}</p></body></article>'


def timed(action) -> float:
    began = time.process_time()
    with pytest.raises(BadSource):
        action()
    return time.process_time() - began


@pytest.mark.parametrize("document", [laughs(), laughs(3, 10_000), quadratic()], ids=["laughs", "wide", "quadratic"])
def test_entity_bombs(document):
    assert timed(lambda: parse_xml(document.encode(), LIMITS)) < SECONDS


@pytest.mark.parametrize("depth", [300, 10_000, 200_000])
def test_deep_nesting(depth):
    document = ("<article><body>" + "<sec>" * depth + "</sec>" * depth + "</body></article>").encode()
    assert timed(lambda: parse_xml(document, LIMITS)) < SECONDS


def test_the_depth_limit_is_the_setting():
    limits = LiteratureSettings(max_depth=20)
    assert parse_xml(b"<a>" * 20 + b"</a>" * 20, limits).tag == "a"
    with pytest.raises(BadSource, match="deeper than 20"):
        parse_xml(b"<a>" * 21 + b"</a>" * 21, limits)


def member(data: bytes) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    return packer.compress(data) + packer.flush()


BLANKS = member(b" " * 1_000_000)


def gzip_bomb(megabytes: int) -> bytes:
    """One megabyte of file per thousand of content; a member may be as large as all of them."""
    return member(b"<PubmedArticleSet>" + b" " * 1_000_000) + BLANKS * megabytes


def test_gzip_bomb(tmp_path):
    path = tmp_path / "bomb.xml.gz"
    path.write_bytes(gzip_bomb(300))
    assert timed(lambda: open_source(path, LIMITS)) < SECONDS
    with pytest.raises(BadSource, match="bomb"):
        open_source(path, LIMITS)


def test_gzip_bomb_of_one_member(tmp_path):
    path = tmp_path / "member.xml.gz"
    path.write_bytes(member(b"<PubmedArticleSet>" + b" " * 50_000_000))
    with pytest.raises(BadSource, match="bomb"):
        open_source(path, LIMITS)


def test_a_file_above_the_limit_is_refused_by_size(tmp_path):
    limits = LiteratureSettings(max_xml_bytes=1_000)
    path = tmp_path / "large.nxml"
    path.write_text(article("<p>" + "word " * 1_000 + "</p>"))
    with pytest.raises(BadSource, match="larger than 1,000 bytes"):
        open_source(path, limits)


def test_bombs_do_not_stop_the_others(tmp_path):
    files = [
        write(tmp_path, "a-laughs.nxml", laughs()),
        write(tmp_path, "b-bomb.xml.gz", gzip_bomb(100)),
        write(tmp_path, "c-deep.nxml", "<article><body>" + "<sec>" * 5_000 + "</sec>" * 5_000 + "</body></article>"),
        write(tmp_path, "d-good.nxml", article()),
        write(tmp_path, "e-good.xml", citation_set(citation(7))),
    ]
    _, papers, reports = read_all(files)
    assert {name: report["status"] for name, report in reports.items()} == {
        "a-laughs.nxml": "set_aside",
        "b-bomb.xml.gz": "set_aside",
        "c-deep.nxml": "set_aside",
        "d-good.nxml": "ok",
        "e-good.xml": "ok",
    }
    assert papers.papers["paper_id"].to_list() == ["doi:10.5555/x.1", "pmid:7"]


def test_memory_stays_bounded(tmp_path):
    bomb = write(tmp_path, "bomb.xml.gz", gzip_bomb(1_000))
    code = (
        "import resource, sys; from pathlib import Path\n"
        "from starling_assets.literature.xml import BadSource, open_source, parse_xml\n"
        "from starling_assets.settings.model import LiteratureSettings\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    open_source(Path(sys.argv[1]), LiteratureSettings())\n"
        "except BadSource: pass\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    repository = Path(__file__).resolve().parents[2]
    grown = subprocess.run(
        [sys.executable, "-c", code, str(bomb.path)], capture_output=True, text=True, check=True, cwd=repository
    ).stdout
    assert int(grown) < 100_000  # kilobytes
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0


def test_sniffing_a_bomb_is_cheap(tmp_path):
    bomb = write(tmp_path, "bomb.xml.gz", gzip_bomb(100))
    began = time.process_time()
    assert sniff(bomb.path) == "pubmed"
    assert time.process_time() - began < 0.2


def test_ordinary_compression_is_not_a_bomb(tmp_path):
    # Citations of one journal compress well: thirtyfold must pass.
    many = citation_set(*(citation(n, f"Title number {n} of a long row of similar titles.") for n in range(1, 20_000)))
    file = write(tmp_path, "many.xml.gz", many)
    assert len(many) > 4_000_000
    assert open_source(file.path, LIMITS) == many.encode()
