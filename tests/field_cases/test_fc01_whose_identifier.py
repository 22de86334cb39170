"""FC-01: whose identifier is it? Those of cited, corrected and commented works never become the record's own."""

from __future__ import annotations

import polars as pl
import pytest

from starling_assets.literature.citations import read_citations
from tests.literature.papers_on_disk import LIMITS, article, citation, citation_set, read_all, write

FIRST = """<PubmedArticle>
 <MedlineCitation Status="MEDLINE" Owner="NLM">
  <PMID Version="2">91000001</PMID>
  <Article PubModel="Print-Electronic">
   <ArticleTitle>Retraction notice: dosing of compound K-11.</ArticleTitle>
   {elocations}
   <AuthorList CompleteYN="Y">
    <Author ValidYN="Y"><CollectiveName>K-11 Trial Group</CollectiveName></Author>
   </AuthorList>
   <PublicationTypeList>
    <PublicationType UI="D016440">Retraction of Publication</PublicationType>
   </PublicationTypeList>
  </Article>
  <CommentsCorrectionsList><CommentsCorrections RefType="RetractionOf"><RefSource>J Ex. 2014</RefSource>
   <PMID Version="1">91000009</PMID></CommentsCorrections>
   <CommentsCorrections RefType="ErratumIn"><RefSource>J Ex. 2015</RefSource><PMID Version="1">91000077</PMID>
   </CommentsCorrections></CommentsCorrectionsList>
 </MedlineCitation>
 <PubmedData>
  <ArticleIdList><ArticleId IdType="pubmed">91000001</ArticleId></ArticleIdList>
  <ReferenceList><Reference><Citation>J Ex. 2001</Citation><ArticleIdList>
   <ArticleId IdType="pubmed">80000007</ArticleId><ArticleId IdType="doi">10.5555/cited.7</ArticleId>
   <ArticleId IdType="pmc">PMC7777777</ArticleId></ArticleIdList></Reference></ReferenceList>
 </PubmedData>
</PubmedArticle>"""
ELOCATIONS = [
    '<ELocationID EIdType="doi" ValidYN="N">10.5555/typo.1</ELocationID>',
    '<ELocationID EIdType="doi" ValidYN="Y">10.5555/S2213-0000(14)70019-0</ELocationID>',
    '<ELocationID EIdType="pii" ValidYN="Y">S2213-0000(14)70019-0</ELocationID>',
]
SECOND = """<PubmedArticle>
 <MedlineCitation Status="PubMed-not-MEDLINE" Owner="NLM">
  <PMID Version="1">91000002</PMID>
  <Article PubModel="Print"><ArticleTitle>An older paper.</ArticleTitle>
   <ELocationID EIdType="pii" ValidYN="Y">e77</ELocationID></Article>
 </MedlineCitation>
 <PubmedData><ArticleIdList><ArticleId IdType="doi">10.5555/OLD.2</ArticleId>
  <ArticleId IdType="pmc">PMC9900002</ArticleId></ArticleIdList></PubmedData>
</PubmedArticle>"""
BOOK = """<PubmedBookArticle>
 <BookDocument><PMID Version="1">91000003</PMID><ArticleTitle>A chapter.</ArticleTitle>
  <ReferenceList><Reference><Citation>J Ex. 1999</Citation><ArticleIdList>
  <ArticleId IdType="pubmed">80000008</ArticleId>
  <ArticleId IdType="doi">10.5555/cited.8</ArticleId></ArticleIdList></Reference></ReferenceList>
 </BookDocument>
</PubmedBookArticle>"""


@pytest.fixture(params=[(0, 1, 2), (1, 0, 2), (2, 1, 0), (2, 0, 1)], ids=lambda order: "".join(map(str, order)))
def rows(request, tmp_path) -> dict[str, dict]:
    first = FIRST.format(elocations="".join(ELOCATIONS[index] for index in request.param))
    result = read_citations([write(tmp_path, "update.xml", citation_set(first, SECOND, BOOK))], LIMITS)
    assert result.files["status"].to_list() == ["ok"]
    return {row["pmid"]: row for row in result.citations.iter_rows(named=True)}


def test_three_records_and_no_other(rows):
    assert set(rows) == {"91000001", "91000002", "91000003"}


def test_the_valid_doi_counts_in_any_order(rows):
    first = rows["91000001"]
    assert first["doi"] == "10.5555/S2213-0000(14)70019-0"
    assert first["version"] == 2
    assert first["pmcid"] is None
    assert first["authors"] == ["K-11 Trial Group"]


def test_a_notice_is_not_retracted_its_target_is_named(rows):
    first = rows["91000001"]
    assert first["retracted"] is False
    assert first["retracts"] == ["91000009"]


def test_identifiers_of_the_articles_own_list(rows):
    second = rows["91000002"]
    assert second["doi"] == "10.5555/OLD.2"
    assert second["pmcid"] == "PMC9900002"


def test_a_chapter_keeps_its_own_pmid(rows):
    third = rows["91000003"]
    assert third["paper_id"] == "pmid:91000003"
    assert third["doi"] is None


def test_the_target_is_marked_wherever_it_is_stored(tmp_path):
    target = citation(91000009, "Dosing of compound K-11.")
    notice = FIRST.format(elocations="")
    _, papers, _ = read_all(
        [write(tmp_path, "a.xml", citation_set(target)), write(tmp_path, "b.xml", citation_set(notice))]
    )
    marks = dict(papers.papers.select("pmid", "retracted").iter_rows())
    assert marks == {"91000001": False, "91000009": True}


@pytest.mark.parametrize("doi", ["10.5555/old.2", "10.5555/OLD.2", "10.5555/Old.2", "https://doi.org/10.5555/old.2"])
def test_a_doi_finds_its_citation_in_any_case(tmp_path, doi):
    full_text = article(ids=f'<article-id pub-id-type="doi">{doi}</article-id>', title="An older paper")
    files = [write(tmp_path, "c.xml", citation_set(SECOND)), write(tmp_path, "full.nxml", full_text)]
    _, papers, _ = read_all(files)
    assert papers.papers.height == 1
    row = papers.papers.row(0, named=True)
    assert (row["paper_id"], row["pmcid"], row["source_kind"]) == ("pmid:91000002", "PMC9900002", "jats")


def test_identifiers_of_cited_works_join_nothing(tmp_path):
    cited = article(ids='<article-id pub-id-type="doi">10.5555/cited.7</article-id>')
    citing = FIRST.format(elocations=ELOCATIONS[1])
    files = [write(tmp_path, "c.xml", citation_set(citing, BOOK)), write(tmp_path, "cited.nxml", cited)]
    _, papers, _ = read_all(files)
    assert papers.papers["paper_id"].to_list() == ["doi:10.5555/cited.7", "pmid:91000001", "pmid:91000003"]


def test_identifiers_of_a_jats_reference_list_stay_there(tmp_path):
    back = (
        "<ref-list><ref id='r1'><element-citation><article-title>Cited work</article-title>"
        "<pub-id pub-id-type='pmid'>80000007</pub-id><pub-id pub-id-type='doi'>10.5555/cited.7</pub-id>"
        "</element-citation></ref></ref-list>"
    )
    related = '<related-article related-article-type="commentary" ext-link-type="pmid" xlink:href="80000009"/>'
    document = article(back=back, ids='<article-id pub-id-type="doi">10.5555/own</article-id>' + related)
    _, papers, _ = read_all([write(tmp_path, "own.nxml", document)])
    row = papers.papers.row(0, named=True)
    assert (row["pmid"], row["doi"], row["retracts"]) == (None, "10.5555/own", [])


def test_every_shared_citation_has_the_pmid_that_xpath_sees(shared_data):
    from lxml import etree

    from starling_assets.literature.sources import SourceFile
    from starling_assets.literature.xml import open_source

    checked = 0
    for path in sorted((shared_data / "literature" / "pubmed_xml").glob("*.xml*")):
        result = read_citations([SourceFile.of(path)], LIMITS)
        if result.files.filter(pl.col("status") == "ok").is_empty():
            continue
        root = etree.fromstring(open_source(path, LIMITS), etree.XMLParser(resolve_entities=False))
        own = root.xpath("//PubmedArticle/MedlineCitation/PMID[1] | //PubmedBookArticle/BookDocument/PMID[1]")
        bare = root.xpath("self::MedlineCitationSet/MedlineCitation/PMID[1]")
        expected = sorted(element.text for element in (*own, *bare))
        assert sorted(result.citations.filter(~pl.col("deleted"))["pmid"].to_list()) == expected, path.name
        checked += len(expected)
    assert checked > 650
