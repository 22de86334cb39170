"""Readers of the gold corpora, and the split."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

from starling_assets.tagging.gold_corpora import CORPORA, HEADS, Span, development, documents

PUBTATOR = """1|t|Drug X in pain.
1|a|It hurts HeLa cells.
1\t0\t6\tDrug X\tChemical\tMESH:D1
1\t10\t14\tpain\tDiseaseClass\tD2
1\tCID\tD1\tD2

2|t|Nothing.
2|a|Really nothing.

3|t|Drug X in pain.
3|a|It hurts HeLa cells.
3\t0\t6\tDrug X\tChemical\tMESH:D1
"""


def test_pubtator_mentions_count_from_the_title(tmp_path: Path) -> None:
    (tmp_path / "bc5cdr").mkdir()
    with gzip.open(tmp_path / "bc5cdr" / "CDR_TrainingSet.PubTator.txt.gz", "wt") as handle:
        handle.write(PUBTATOR)
    first, second = documents(tmp_path, "bc5cdr")  # the third is the text of the first
    assert first.text == "Drug X in pain. It hurts HeLa cells."
    assert first.gold == [Span(0, 6, "Chemical", "MESH:D1"), Span(10, 14, "Disease", "D2")]
    assert [first.text[span.start : span.end] for span in first.gold] == ["Drug X", "pain"]
    assert (second.id, second.gold) == ("2", [])


def test_standoff_mentions_and_the_kinds_of_anatomy(tmp_path: Path) -> None:
    (tmp_path / "anatem").mkdir()
    files = {
        "anatem/train/PMID-7.txt": "HeLa cells of the liver",
        "anatem/train/PMID-7.ann": "T1\tCell 0 10\tHeLa cells\nT2\tOrgan 18 23\tliver\n"
        "T3\tOrgan 0 4;18 23\tHeLa liver\n",
    }
    with tarfile.open(tmp_path / "anatem" / "anatem_standoff.tar.gz", "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content.encode()))
    (document,) = documents(tmp_path, "anatem")
    assert document.gold == [Span(0, 10, "Cell", ""), Span(18, 23, "Anatomy", "")]


def test_sections_of_an_article_are_on_one_side() -> None:
    for article in range(1000, 1200):
        assert development(f"PMID-{article}") == development(str(article))
        assert development(f"PMC-{article}-sec-01") == development(f"PMC-{article}-sec-12")
    assert development("12345670001") == development("12345679999")


def test_about_one_of_eight_is_held_back() -> None:
    held = sum(development(str(number)) for number in range(4000))
    assert 400 < held < 600


def test_every_head_is_annotated_somewhere() -> None:
    assert {head for corpus in CORPORA.values() for head in corpus.heads} == set(HEADS)


def test_the_shared_corpora_are_read_whole(shared_data: Path) -> None:
    for corpus in ("species800", "anatem"):
        found = list(documents(shared_data / "gold", corpus))
        assert len(found) > 500
        for document in found:
            assert all(0 <= span.start < span.end <= len(document.text) for span in document.gold)
        assert {span.head for document in found for span in document.gold} == set(CORPORA[corpus].heads)
