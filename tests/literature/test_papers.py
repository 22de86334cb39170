"""Papers of a shard: which source is kept, what a citation completes, ordinals, reports, the same rows again."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest

from starling_assets.artifacts.store import conform
from starling_assets.literature.citations import read_citations
from starling_assets.literature.ocr.pages import OcrBlock, OcrPage, Readings
from starling_assets.literature.papers import read_papers
from starling_assets.literature.sources import SourceFile
from starling_assets.literature.tables import BLOCKS, CITATIONS, FILES, PAPERS
from starling_assets.settings.model import LiteratureSettings
from tests.literature.papers_on_disk import LIMITS, article, citation, citation_set, read_all, texts, write

NO_CITATIONS = pl.DataFrame(schema=CITATIONS)
ABSTRACT = "<Abstract><AbstractText>Of the citation.</AbstractText></Abstract>"
JOURNAL = (
    "<Journal><JournalIssue><PubDate><Year>2016</Year><Month>Feb</Month></PubDate></JournalIssue>"
    "<Title>J Cit</Title></Journal>"
)


def pmid_of(number: int | str) -> str:
    return f'<article-id pub-id-type="pmid">{number}</article-id>'


def test_a_citation_without_full_text_gives_title_and_abstract(tmp_path):
    structured = (
        "<Abstract><AbstractText Label='METHODS'>Rats.</AbstractText>"
        "<AbstractText Label='RESULTS'>It entered.</AbstractText></Abstract>"
    )
    _, papers, _ = read_all([write(tmp_path, "c.xml", citation_set(citation(5, "Entry of X.", inside=structured)))])
    assert texts(papers) == ["Entry of X.", "METHODS: Rats.", "RESULTS: It entered."]
    assert papers.blocks["section_kind"].to_list() == ["title", "abstract", "abstract"]
    assert papers.blocks["section_path"].to_list() == [[], ["Abstract", "METHODS"], ["Abstract", "RESULTS"]]
    row = papers.papers.row(0, named=True)
    assert (row["source_kind"], row["paragraphs"], row["licence"]) == ("abstract", 3, "UNKNOWN")


def test_a_full_text_replaces_its_abstract_and_is_completed_by_the_citation(tmp_path):
    ids = '<article-id pub-id-type="pmc">PMC77</article-id>'
    more = "<x/>"
    data = (
        "<PubmedData><ArticleIdList><ArticleId IdType='pmc'>PMC77</ArticleId>"
        "<ArticleId IdType='doi'>10.5555/cit</ArticleId></ArticleIdList></PubmedData>"
    )
    cited = citation(9, "Title of the citation.", version=3, inside=JOURNAL + ABSTRACT, more=more)
    cited = cited.replace("</MedlineCitation>", f"</MedlineCitation>{data}")
    files = [
        write(tmp_path, "c.xml", citation_set(cited)),
        write(tmp_path, "full.nxml", article(ids=ids, title="Own title")),
    ]
    _, papers, reports = read_all(files)
    row = papers.papers.row(0, named=True)
    assert papers.papers.height == 1
    assert (row["paper_id"], row["doi"], row["version"]) == ("pmid:9", "10.5555/cit", 3)
    assert (row["title"], row["journal"], row["source_kind"]) == ("Own title", "J Ex", "jats")
    assert (row["public_earliest"], row["public_precision"]) == (date(2016, 2, 1), "month")
    assert "Of the citation." not in texts(papers)
    assert reports["full.nxml"]["papers"] == 1


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (pmid_of(12) + '<article-id pub-id-type="pmc">3</article-id>', "pmid:12"),
        ('<article-id pub-id-type="pmcid">PMC34.2</article-id>', "pmcid:PMC34"),
        ('<article-id pub-id-type="doi">https://doi.org/10.5555/Ab.C</article-id>', "doi:10.5555/ab.c"),
        ('<article-id pub-id-type="doi">not a doi</article-id>', "sha256:"),
        ("", "sha256:"),
    ],
)
def test_identity(tmp_path, ids, expected):
    file = write(tmp_path, "a.nxml", article(ids=ids))
    papers = read_papers([file], NO_CITATIONS, LIMITS)
    paper_id = papers.papers["paper_id"][0]
    assert paper_id == (f"sha256:{file.sha256}" if expected == "sha256:" else expected)


def test_the_same_paper_twice_is_kept_once_and_said_so(tmp_path):
    short = article("", ids=pmid_of(4), abstract="")
    long = article("<p>One.</p><p>Two.</p>", ids=pmid_of(4))
    files = [write(tmp_path, "a-short.nxml", short), write(tmp_path, "b-long.nxml", long)]
    papers = read_papers(files, NO_CITATIONS, LIMITS)
    assert papers.papers["source_file"].to_list() == ["b-long.nxml"]
    reports = {row["file"]: row for row in papers.files.iter_rows(named=True)}
    assert reports["a-short.nxml"]["papers"] == 0
    assert "b-long.nxml" in reports["a-short.nxml"]["reason"]


def test_sorted_by_paper_and_dense(tmp_path):
    files = [
        write(
            tmp_path, f"{name}.nxml", article("<p>One.</p><sec><title>H</title><p>Two.</p></sec>", ids=pmid_of(number))
        )
        for name, number in (("z", 30), ("y", 4), ("x", 200))
    ]
    papers = read_papers(files, NO_CITATIONS, LIMITS)
    assert papers.papers["paper_id"].to_list() == ["pmid:200", "pmid:30", "pmid:4"]
    assert papers.papers["paper_ordinal"].to_list() == [0, 1, 2]
    numbered = papers.blocks.filter(pl.col("para_ordinal").is_not_null())
    assert numbered["para_ordinal"].to_list() == list(range(numbered.height))
    assert papers.papers["paragraphs"].sum() == numbered.height
    assert papers.papers["blocks"].sum() == papers.blocks.height
    heading = papers.blocks.filter(pl.col("kind") == "heading")
    assert heading["para_idx"].null_count() == heading.height == 3


def test_the_same_text_twice_in_a_paper_has_two_keys_and_a_new_place_keeps_them(tmp_path):
    before = article("<p>Same.</p><p>Other.</p><p>Same.</p>", ids=pmid_of(1))
    after = article("<sec><title>New heading</title><p>  Same.</p><p>Same. </p></sec><p>Other.</p>", ids=pmid_of(1))
    keys = []
    for name, text in (("before.nxml", before), ("after.nxml", after)):
        papers = read_papers([write(tmp_path, name, text)], NO_CITATIONS, LIMITS)
        keys.append(
            {
                (row["text"], row["block_key"])
                for row in papers.blocks.iter_rows(named=True)
                if row["kind"] == "paragraph"
            }
        )
    assert keys[0] == keys[1]
    assert len(keys[0]) == 4


def test_two_runs_give_the_same_tables(tmp_path, examples):
    files = [SourceFile.of(path) for path in sorted((examples / "papers").iterdir())]
    results = []
    for order in (files, files[::-1]):
        citations, papers, _ = read_all(order)
        results.append((citations.citations, papers.papers, papers.blocks, papers.files.drop("seconds")))
    for first, second in zip(*results, strict=True):
        assert first.equals(second)


def test_tables_have_the_shape_of_their_contract(tmp_path, examples):
    files = [SourceFile.of(path) for path in sorted((examples / "papers").iterdir())]
    citations, papers, _ = read_all(files)
    for frame, schema in (
        (citations.files, FILES),
        (citations.citations, CITATIONS),
        (papers.files, FILES),
        (papers.papers, PAPERS),
        (papers.blocks, BLOCKS),
    ):
        assert dict(frame.schema) == schema
        assert conform(frame, schema).equals(frame)
    nothing = read_papers([], NO_CITATIONS, LIMITS)
    assert dict(nothing.blocks.schema) == BLOCKS
    assert dict(read_citations([], LIMITS).citations.schema) == CITATIONS


def test_the_bundled_papers(examples):
    files = [
        SourceFile.of(path)
        for path in sorted((examples / "papers").iterdir())
        if path.suffix in {".nxml", ".xml", ".pdf"}
    ]
    citations, papers, reports = read_all(files)
    assert citations.citations.height == 10
    assert papers.papers.height == 15
    assert all(report["status"] == "ok" for report in reports.values())
    assert papers.papers["licence"].n_unique() == 3
    (title,) = papers.papers.filter(pl.col("source_kind") == "pdf")["title"].to_list()
    assert title.startswith("Effectiveness of a computerized drug-monitoring program to detect")
    assert all(text == text.strip() and text for text in papers.blocks["text"])


def test_a_licence_that_settings_do_not_admit_is_set_aside(tmp_path):
    limits = LiteratureSettings(licences=["CC-BY"])
    licence = (
        '<license xlink:href="https://creativecommons.org/licenses/by-nc/4.0/"><license-p>NC</license-p></license>'
    )
    files = [
        write(tmp_path, "nc.nxml", article(permissions=licence)),
        write(tmp_path, "by.nxml", article(ids=pmid_of(2))),
    ]
    papers = read_papers(files, NO_CITATIONS, limits)
    reports = {row["file"]: row for row in papers.files.iter_rows(named=True)}
    assert "CC-BY-NC is not among literature.licences" in reports["nc.nxml"]["reason"]
    assert papers.papers["paper_id"].to_list() == ["pmid:2"]


def test_progress_counts_every_file(tmp_path):
    files = [write(tmp_path, f"{n}.nxml", article(ids=pmid_of(n))) for n in (1, 2, 3)]
    seen: list[tuple[int, int]] = []
    read_papers(files, NO_CITATIONS, LIMITS, lambda done, total: seen.append((done, total)))
    assert seen == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_set_of_articles_in_one_file(tmp_path):
    two = f"<pmc-articleset>{article(ids=pmid_of(1))}{article(ids=pmid_of(2))}</pmc-articleset>"
    papers = read_papers([write(tmp_path, "set.xml", two)], NO_CITATIONS, LIMITS)
    assert papers.papers["paper_id"].to_list() == ["pmid:1", "pmid:2"]
    assert papers.files["papers"].to_list() == [2]


def test_a_scan_waits_for_an_engine(shared_data):
    file = SourceFile.of(shared_data / "literature" / "pdf" / "scan_docling_ocr_test.pdf")
    without = read_papers([file], NO_CITATIONS, LIMITS)
    assert without.files["status"].to_list() == ["set_aside"]
    assert "need OCR" in without.files["reason"][0]
    words = OcrPage(1, "ok", "", (OcrBlock("paragraph", "Words of page 1.", (1.0, 2.0, 3.0, 4.0)),))
    readings = Readings("double/1", "", {file.sha256: {1: words}})
    with_engine = read_papers([file], NO_CITATIONS, LIMITS, ocr=readings)
    assert texts(with_engine) == ["Words of page 1."]
    assert with_engine.blocks["spans"].to_list()[0][0]["page"] == 1
