"""PubMed citations: every field of a record, checked against independent counts by XPath."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest
from lxml import etree

from starling_assets.literature.citations import read_citations
from starling_assets.literature.sources import SourceFile
from starling_assets.literature.xml import open_source
from tests.literature.papers_on_disk import LIMITS, citation, citation_set, write

FULL = """<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">77</PMID>
<DateRevised><Year>2018</Year><Month>03</Month><Day>18</Day></DateRevised>
<Article PubModel="Print-Electronic"><Journal><ISSN IssnType="Electronic">1234-5678</ISSN>
<JournalIssue CitedMedium="Internet"><Volume>12</Volume><Issue>3 Suppl</Issue><PubDate><Year>2017</Year></PubDate>
</JournalIssue>
<Title>Journal of Examples</Title><ISOAbbreviation>J Ex</ISOAbbreviation></Journal>
<ArticleTitle>[Effect of <i>K</i>-11.]</ArticleTitle><Pagination><MedlinePgn>12-9</MedlinePgn></Pagination>
<Abstract><AbstractText Label="AIM" NlmCategory="OBJECTIVE">To see.</AbstractText>
<AbstractText Label="RESULTS">Seen: LD<sub>50</sub>.</AbstractText><CopyrightInformation>© X</CopyrightInformation>
</Abstract>
<AuthorList CompleteYN="Y"><Author ValidYN="Y"><LastName>Müller</LastName><ForeName>Ann B</ForeName>
<Initials>AB</Initials></Author>
<Author ValidYN="N"><LastName>Wrong</LastName><ForeName>A</ForeName></Author>
<Author ValidYN="Y"><LastName>Lee</LastName><Initials>C</Initials><Suffix>Jr</Suffix></Author>
<Author ValidYN="Y"><LastName>Solo</LastName></Author>
<Author ValidYN="Y"><CollectiveName>The K-11 Group</CollectiveName></Author></AuthorList>
<Language>ger</Language><Language>eng</Language>
<DataBankList CompleteYN="Y"><DataBank><DataBankName>ClinicalTrials.gov</DataBankName><AccessionNumberList>
<AccessionNumber>NCT01</AccessionNumber><AccessionNumber>NCT02</AccessionNumber></AccessionNumberList></DataBank></DataBankList>
<GrantList CompleteYN="Y"><Grant><GrantID>R01</GrantID><Agency>NIH</Agency><Country>US</Country></Grant>
<Grant><Agency>Wellcome</Agency></Grant></GrantList>
<PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType></PublicationTypeList>
<VernacularTitle>Wirkung von K-11.</VernacularTitle>
<ArticleDate DateType="Electronic"><Year>2016</Year><Month>12</Month><Day>24</Day></ArticleDate></Article>
<ChemicalList><Chemical><RegistryNumber>0</RegistryNumber><NameOfSubstance UI="C1">K-11</NameOfSubstance>
</Chemical></ChemicalList>
<CommentsCorrectionsList><CommentsCorrections RefType="ErratumIn"><RefSource>J Ex. 2018</RefSource>
<PMID Version="1">88</PMID>
</CommentsCorrections><CommentsCorrections RefType="UpdateOf"><RefSource>J Ex. 2010</RefSource></CommentsCorrections>
</CommentsCorrectionsList>
<MeshHeadingList><MeshHeading><DescriptorName UI="D001921" MajorTopicYN="N">Brain</DescriptorName>
<QualifierName UI="Q1" MajorTopicYN="Y">metabolism</QualifierName>
<QualifierName UI="Q2" MajorTopicYN="N">pathology</QualifierName>
</MeshHeading><MeshHeading><DescriptorName UI="D051381" MajorTopicYN="N">Rats</DescriptorName></MeshHeading>
</MeshHeadingList>
<OtherAbstract Type="Publisher" Language="ger"><AbstractText>Anders.</AbstractText></OtherAbstract>
<KeywordList Owner="NOTNLM"><Keyword MajorTopicYN="N">brain entry</Keyword><Keyword MajorTopicYN="N">rat</Keyword>
</KeywordList>
</MedlineCitation><PubmedData><History>
<PubMedPubDate PubStatus="received"><Year>2016</Year><Month>1</Month><Day>2</Day></PubMedPubDate>
<PubMedPubDate PubStatus="accepted"><Year>2016</Year><Month>11</Month></PubMedPubDate></History>
<ArticleIdList><ArticleId IdType="pubmed">77</ArticleId><ArticleId IdType="doi">10.5555/77</ArticleId>
<ArticleId IdType="pmc">PMC700</ArticleId></ArticleIdList></PubmedData></PubmedArticle>"""

EXPECTED = {
    "title": "[Effect of K-11.]",
    "vernacular_title": "Wirkung von K-11.",
    "abstract": [{"label": "AIM", "text": "To see."}, {"label": "RESULTS", "text": "Seen: LD50."}],
    "authors": ["Müller, Ann B", "Lee Jr, C", "Solo", "The K-11 Group"],
    "journal": "Journal of Examples",
    "issn": "1234-5678",
    "volume": "12",
    "issue": "3 Suppl",
    "pages": "12-9",
    "languages": ["ger", "eng"],
    "publication_types": ["Journal Article"],
    "mesh": [
        {"id": "D001921", "name": "Brain", "major": True, "qualifiers": ["metabolism", "pathology"]},
        {"id": "D051381", "name": "Rats", "major": False, "qualifiers": []},
    ],
    "chemicals": [{"id": "C1", "name": "K-11"}],
    "data_banks": [{"name": "ClinicalTrials.gov", "accessions": ["NCT01", "NCT02"]}],
    "grants": [{"id": "R01", "agency": "NIH"}, {"id": None, "agency": "Wellcome"}],
    "corrections": [
        {"type": "ErratumIn", "pmid": "88", "source": "J Ex. 2018"},
        {"type": "UpdateOf", "pmid": None, "source": "J Ex. 2010"},
    ],
    "other_abstracts": [{"type": "Publisher", "language": "ger", "text": "Anders."}],
    "keywords": ["brain entry", "rat"],
    "doi": "10.5555/77",
    "pmcid": "PMC700",
    "public_earliest": date(2016, 12, 24),
    "public_precision": "day",
    "retracted": False,
    "deleted": False,
}


@pytest.fixture
def full(tmp_path) -> dict:
    return read_citations([write(tmp_path, "full.xml", citation_set(FULL))], LIMITS).citations.row(0, named=True)


@pytest.mark.parametrize("field", sorted(EXPECTED))
def test_every_field(full, field):
    assert full[field] == EXPECTED[field]


def test_the_history_keeps_kind_and_precision(full):
    steps = {step["kind"]: (step["earliest"], step["latest"], step["precision"]) for step in full["history"]}
    assert steps == {
        "revised": (date(2018, 3, 18), date(2018, 3, 18), "day"),
        "electronic": (date(2016, 12, 24), date(2016, 12, 24), "day"),
        "issue": (date(2017, 1, 1), date(2017, 12, 31), "year"),
        "received": (date(2016, 1, 2), date(2016, 1, 2), "day"),
        "accepted": (date(2016, 11, 1), date(2016, 11, 30), "month"),
    }


def test_authors_of_the_ordinary_case_are_those_of_the_careful_one(tmp_path):
    people = "".join(f"<Author><LastName>L{n}</LastName><ForeName>F{n}</ForeName></Author>" for n in range(30))
    group = "<Author><CollectiveName>G</CollectiveName></Author>"
    rows = []
    for listed in (people, people + group):
        file = write(tmp_path, "a.xml", citation_set(citation(1, inside=f"<AuthorList>{listed}</AuthorList>")))
        rows.append(read_citations([file], LIMITS).citations["authors"].to_list()[0])
    assert rows[1] == [*rows[0], "G"]
    assert rows[0][:2] == ["L0, F0", "L1, F1"]


def test_sorted_by_number_and_version(tmp_path):
    records = [citation(30), citation(4), citation(4, version=2), citation(200)]
    table = read_citations([write(tmp_path, "a.xml", citation_set(*records))], LIMITS).citations
    assert list(table.select("pmid", "version").iter_rows()) == [("4", 1), ("4", 2), ("30", 1), ("200", 1)]


def test_gzip_and_batches(tmp_path):
    records = citation_set(*(citation(n, f"T{n}", inside=JOURNAL) for n in range(1, 4_500)))
    table = read_citations([write(tmp_path, "many.xml.gz", records)], LIMITS).citations
    assert table["title"].to_list() == [f"T{n}" for n in range(1, 4_500)]


JOURNAL = "<Journal><JournalIssue><PubDate><Year>2016</Year></PubDate></JournalIssue></Journal>"


def test_files_of_other_kinds_are_left_alone(tmp_path):
    result = read_citations([write(tmp_path, "a.txt", "words"), write(tmp_path, "b.nxml", "<article/>")], LIMITS)
    assert result.files.is_empty()
    assert result.citations.is_empty()


COUNTS = {
    "authors": (
        "Article/AuthorList/Author[not(@ValidYN='N')]",
        "BookDocument/AuthorList[not(@Type) or @Type='authors']/Author",
    ),
    "mesh": ("MeshHeadingList/MeshHeading",),
    "chemicals": ("ChemicalList/Chemical",),
    "publication_types": ("Article/PublicationTypeList/PublicationType",),
    "grants": ("Article/GrantList/Grant",),
    "data_banks": ("Article/DataBankList/DataBank",),
    "corrections": ("CommentsCorrectionsList/CommentsCorrections",),
    "keywords": ("KeywordList/Keyword[normalize-space()]",),
    "languages": ("Article/Language",),
}


@pytest.mark.parametrize("column", sorted(COUNTS))
def test_counts_of_the_medline_file_equal_those_of_xpath(shared_data, column):
    path = shared_data / "literature" / "pubmed_xml" / "medline16n0902.xml.gz"
    table = read_citations([SourceFile.of(path)], LIMITS).citations.filter(~pl.col("deleted"))
    root = etree.fromstring(open_source(path, LIMITS), etree.XMLParser(resolve_entities=False))
    records = root.findall(".//MedlineCitation")
    assert table.height == len(records) == 604
    expected = sum(len(record.xpath(COUNTS[column][0])) for record in records)
    assert table[column].list.len().sum() == expected
    assert expected > 0


def test_texts_of_the_medline_file_equal_those_of_xpath(shared_data):
    path = shared_data / "literature" / "pubmed_xml" / "medline16n0902.xml.gz"
    table = read_citations([SourceFile.of(path)], LIMITS).citations.filter(~pl.col("deleted"))
    root = etree.fromstring(open_source(path, LIMITS), etree.XMLParser(resolve_entities=False))
    expected = {}
    for record in root.findall(".//MedlineCitation"):
        words = "".join(record.xpath("string(Article/ArticleTitle)").split())
        expected[record.findtext("PMID")] = (
            words,
            len(record.xpath("Article/Abstract/AbstractText[normalize-space()]")),
        )
    for row in table.iter_rows(named=True):
        title, parts = expected[row["pmid"]]
        assert "".join(row["title"].split()) == title
        assert len(row["abstract"]) == parts
    assert table["public_earliest"].null_count() == 0
