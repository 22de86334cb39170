"""Small source files for the tests of this room."""

from __future__ import annotations

import gzip
from pathlib import Path

from starling_assets.literature.citations import CitationsResult, read_citations
from starling_assets.literature.papers import PapersResult, read_papers
from starling_assets.literature.sources import SourceFile
from starling_assets.settings.model import LiteratureSettings

LIMITS = LiteratureSettings()

ARTICLE = """<article xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:mml="http://www.w3.org/1998/Math/MathML"
 article-type="research-article">
<front><journal-meta><journal-title-group><journal-title>J Ex</journal-title></journal-title-group></journal-meta>
<article-meta>
{ids}<title-group><article-title>{title}</article-title></title-group>{dates}
<permissions>{permissions}</permissions>{abstract}</article-meta></front>
<body>{body}</body><back>{back}</back></article>"""
CC_BY = '<license xlink:href="http://creativecommons.org/licenses/by/4.0/"><license-p>CC BY</license-p></license>'


def article(
    body: str = "<p>Text of the body.</p>",
    *,
    title: str = "A title",
    ids: str = '<article-id pub-id-type="doi">10.5555/x.1</article-id>',
    dates: str = "",
    abstract: str = "<abstract><p>Abstract text.</p></abstract>",
    back: str = "",
    permissions: str = CC_BY,
) -> str:
    """A JATS article."""
    return ARTICLE.format(
        ids=ids, title=title, dates=dates, abstract=abstract, body=body, back=back, permissions=permissions
    )


def citation(pmid: int | str, title: str = "A title.", *, version: int = 1, more: str = "", inside: str = "") -> str:
    """A PubmedArticle element."""
    return (
        f'<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="{version}">{pmid}</PMID>'
        f'<Article PubModel="Print"><ArticleTitle>{title}</ArticleTitle>{inside}</Article>{more}</MedlineCitation>'
        "</PubmedArticle>"
    )


def citation_set(*citations: str) -> str:
    """A citation file."""
    return '<?xml version="1.0" encoding="UTF-8"?>\n<PubmedArticleSet>' + "".join(citations) + "</PubmedArticleSet>"


def write(folder: Path, name: str, content: str | bytes) -> SourceFile:
    """A source file; gzipped when its name says so and the content is text."""
    data = content.encode() if isinstance(content, str) else content
    if name.endswith(".gz") and isinstance(content, str):
        data = gzip.compress(data, mtime=0)
    path = folder / name
    path.write_bytes(data)
    return SourceFile.of(path)


def read_all(
    files: list[SourceFile], limits: LiteratureSettings = LIMITS
) -> tuple[CitationsResult, PapersResult, dict[str, dict[str, object]]]:
    """Citations, papers, and what became of each file by its name."""
    citations = read_citations(files, limits)
    papers = read_papers(files, citations.citations, limits)
    reports = {row["file"]: row for frame in (citations.files, papers.files) for row in frame.iter_rows(named=True)}
    return citations, papers, reports


def texts(result: PapersResult, kind: str | None = None) -> list[str]:
    """Texts of the blocks, in order, of one kind or all."""
    return [row["text"] for row in result.blocks.iter_rows(named=True) if kind in {None, row["kind"]}]
