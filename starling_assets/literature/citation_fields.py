"""Fields of one PubMed citation element. An identifier is the record's own only where the record itself states it:
those of cited works, of commented and of corrected articles belong to others.
"""

from __future__ import annotations

import re
from typing import Any, cast

from lxml import etree

from .citation_extras import data_banks, grants, history, other_abstract, pages
from .dates import UNKNOWN, PublicDate, earliest_of, free_text, of_parts
from .jats_inline import inline_text
from .jats_meta import own_doi
from .text import clean
from .xml import own_text

Row = dict[str, Any]

_RETRACTED_TYPES = frozenset({"D016441"})  # Retracted Publication
_RETRACTED_NAMES = frozenset({"retracted publication"})
_PMC = re.compile(r"(?:PMC)?(\d+)(?:\.\d+)?", re.IGNORECASE)
_PUBLIC_STATUSES = frozenset({"epublish", "ppublish", "ecollection", "aheadofprint", "ppublish-ahead"})


def read_citation(element: etree._Element, file: str) -> Row | None:
    """A row of CITATIONS from a ``PubmedArticle``, ``PubmedBookArticle`` or bare ``MedlineCitation``; None without
    PMID."""
    citation: etree._Element | None = element
    if element.tag not in {"MedlineCitation", "BookDocument"}:
        citation = _child(element, "MedlineCitation")
    if citation is None:
        citation = _child(element, "BookDocument")
    if citation is None:
        return None
    pmid_element = _child(citation, "PMID")
    pmid = (pmid_element.text or "").strip() if pmid_element is not None else ""
    if not pmid.isdecimal():
        return None
    data = _child(element, "PubmedData")
    if data is None:
        data = _child(element, "PubmedBookData")
    row = empty_row(pmid, _number(pmid_element.get("Version") if pmid_element is not None else None), file)
    if citation.tag == "BookDocument":
        _book(citation, row)
    else:
        _article(citation, row)
    _identifiers(citation, data, row)
    _dates(citation, data, row)
    return row


def empty_row(pmid: str, version: int, file: str) -> Row:
    """A row with nothing but its identity; what a deletion leaves."""
    return {
        "paper_id": f"pmid:{pmid}", "pmid": pmid, "version": version, "doi": None, "pmcid": None, "title": "",
        "vernacular_title": None,
        "abstract": [], "authors": [], "journal": None, "publication_types": [], "mesh": [], "chemicals": [],
        "public_earliest": None,
        "public_latest": None, "public_precision": "unknown", "public_text": "", "retracts": [], "retracted": False,
        "deleted": False,
        "file": file,
        "languages": [],
        "issn": None,
        "volume": None,
        "issue": None,
        "pages": None,
        "other_abstracts": [],
        "keywords": [],
        "data_banks": [],
        "grants": [],
        "corrections": [],
        "history": [],
    }  # fmt: skip


def _article(citation: etree._Element, row: Row) -> None:
    for child in citation:
        tag = child.tag
        if tag == "Article":
            _article_fields(child, row)
        elif tag == "ChemicalList":
            row["chemicals"] = [chemical for inner in child if (chemical := _chemical(inner))]
        elif tag == "MeshHeadingList":
            row["mesh"] = [heading for inner in child if (heading := _mesh(inner))]
        elif tag == "CommentsCorrectionsList":
            _corrections(child, row)
        elif tag == "OtherAbstract":
            row["other_abstracts"] += other_abstract(child)
        elif tag == "KeywordList":
            row["keywords"] += [word for inner in child if (word := clean(inline_text(inner)))]


def _article_fields(article: etree._Element, row: Row) -> None:
    for child in article:
        tag = child.tag
        if tag == "ArticleTitle":
            row["title"] = clean(inline_text(child))
        elif tag == "Abstract":
            row["abstract"] = _abstract(child)
        elif tag == "AuthorList":
            row["authors"] = _authors(child)
        elif tag == "Journal":
            title = _text_of(child, "Title") or _text_of(child, "ISOAbbreviation")
            row["journal"] = title
            row["issn"] = _text_of(child, "ISSN")
            _issue(child, row)
        elif tag == "VernacularTitle":
            row["vernacular_title"] = clean(inline_text(child)) or None
        elif tag == "PublicationTypeList":
            for kind in child:
                name = clean(own_text(kind))
                row["publication_types"].append(name)
                if kind.get("UI") in _RETRACTED_TYPES or name.casefold() in _RETRACTED_NAMES:
                    row["retracted"] = True
        else:
            _rarer_article_field(child, tag, row)


def _rarer_article_field(child: etree._Element, tag: str, row: Row) -> None:
    if tag == "Pagination":
        row["pages"] = pages(child)
    elif tag == "Language":
        row["languages"].append(own_text(child).strip())
    elif tag == "DataBankList":
        row["data_banks"] = data_banks(child)
    elif tag == "GrantList":
        row["grants"] = grants(child)


def _issue(journal: etree._Element, row: Row) -> None:
    issue = _child(journal, "JournalIssue")
    if issue is not None:
        row["volume"], row["issue"] = _text_of(issue, "Volume"), _text_of(issue, "Issue")


def _book(document: etree._Element, row: Row) -> None:
    book = _child(document, "Book")
    book_title = _text_of(book, "BookTitle") if book is not None else None
    row["journal"] = book_title
    authors: list[str] = []
    for child in document:
        if child.tag == "ArticleTitle":
            row["title"] = clean(inline_text(child))
        elif child.tag == "Abstract":
            row["abstract"] = _abstract(child)
        elif child.tag == "AuthorList" and child.get("Type", "authors") == "authors":
            authors += _authors(child)
        elif child.tag == "PublicationType":
            row["publication_types"].append(clean(own_text(child)))
    row["title"] = row["title"] or book_title or ""
    row["authors"] = authors


def _abstract(element: etree._Element) -> list[dict[str, str | None]]:
    parts = []
    for child in element:
        if child.tag == "AbstractText":
            text = clean(inline_text(child, keep_blocks=True))
            if text:
                parts.append({"label": child.get("Label") or None, "text": text})
    if not parts:
        text = clean(element.text or "")
        parts = [{"label": None, "text": text}] if text else []
    return parts


def _strings(path: etree.XPath, element: etree._Element) -> list[str]:
    return cast("list[str]", path(element))


_LAST_NAMES, _FORE_NAMES, _OTHER_NAMES = (
    etree.XPath(path, smart_strings=False)
    for path in (
        "Author/LastName[not(*)]/text()",
        "Author/ForeName[not(*)]/text()",
        "count(Author) + count(Author[CollectiveName or Suffix or @ValidYN = 'N'])",
    )
)


def _authors(element: etree._Element) -> list[str]:
    """``Last, Fore`` in order; groups by their own name. Names that the record marks as invalid are left out."""
    last, fore = _strings(_LAST_NAMES, element), _strings(_FORE_NAMES, element)
    if len(last) == len(fore) == _OTHER_NAMES(element):
        return [clean(f"{name}, {first}") for name, first in zip(last, fore, strict=True)]  # the ordinary case, in C
    return [name for author in element if (name := _author(author))]


def _author(author: etree._Element) -> str:
    if author.tag != "Author" or author.get("ValidYN") == "N":
        return ""
    parts = {child.tag: own_text(child) for child in author if isinstance(child.tag, str)}
    if parts.get("CollectiveName"):
        return clean(parts["CollectiveName"])
    last, fore = parts.get("LastName", ""), parts.get("ForeName") or parts.get("Initials", "")
    last = f"{last} {parts['Suffix']}" if last and parts.get("Suffix") else last
    return clean(f"{last}, {fore}" if last and fore else last or fore)


def _chemical(element: etree._Element) -> dict[str, str] | None:
    name = _child(element, "NameOfSubstance")
    return {"id": name.get("UI", ""), "name": clean(own_text(name))} if name is not None else None


def _mesh(element: etree._Element) -> Row | None:
    name: str | None = None
    heading_id, major = "", False
    qualifiers: list[str] = []
    for child in element:
        if child.tag == "DescriptorName":
            name, heading_id = clean(own_text(child)), child.get("UI", "")
            major = major or child.get("MajorTopicYN") == "Y"
        elif child.tag == "QualifierName":
            qualifiers.append(clean(own_text(child)))
            major = major or child.get("MajorTopicYN") == "Y"
    return {"id": heading_id, "name": name, "major": major, "qualifiers": qualifiers} if name else None


def _corrections(element: etree._Element, row: Row) -> None:
    for child in element:
        kind = child.get("RefType", "")
        target = _child(child, "PMID")
        pmid = (target.text or "").strip() if target is not None else ""
        row["corrections"].append({"type": kind, "pmid": pmid or None, "source": _text_of(child, "RefSource")})
        if kind == "RetractionIn":
            row["retracted"] = True
        elif kind == "RetractionOf" and pmid.isdecimal():
            # The notice itself is not retracted; the paper it points to is, wherever that is stored.
            row["retracts"].append(pmid)


def _identifiers(citation: etree._Element, data: etree._Element | None, row: Row) -> None:
    article = _child(citation, "Article")
    own_lists = [
        parent for parent in (data, citation if citation.tag == "BookDocument" else None) if parent is not None
    ]
    for parent in own_lists:
        id_list = _child(parent, "ArticleIdList")  # a direct child: those inside ReferenceList are of cited works
        for element in id_list if id_list is not None else ():
            kind, text = element.get("IdType"), (element.text or "").strip()
            if kind == "doi" and not row["doi"]:
                row["doi"] = own_doi(text)
            elif kind == "pmc" and not row["pmcid"]:
                number = _PMC.fullmatch(text)
                row["pmcid"] = f"PMC{number.group(1)}" if number else None
    for holder in (article, citation):
        for element in holder if holder is not None else ():
            if element.tag == "ELocationID" and element.get("EIdType") == "doi" and element.get("ValidYN", "Y") == "Y":
                row["doi"] = own_doi(element.text or "") or row["doi"]
                return


def _dates(citation: etree._Element, data: etree._Element | None, row: Row) -> None:
    found = earliest_of(_public_dates(citation, data)) if data is not None or len(citation) else UNKNOWN
    row["public_earliest"], row["public_latest"] = found.earliest, found.latest
    row["public_precision"], row["public_text"] = found.precision, found.text
    row["history"] = history(citation, data, _date)


def _public_dates(citation: etree._Element, data: etree._Element | None) -> list[PublicDate]:
    dates: list[PublicDate] = []
    article = _child(citation, "Article")
    if article is not None:
        for child in article:
            if child.tag == "Journal":
                issue = _child(child, "JournalIssue")
                dates.append(_date(_child(issue, "PubDate")) if issue is not None else UNKNOWN)
            elif child.tag == "ArticleDate":
                dates.append(_date(child))
    if citation.tag == "BookDocument":
        book = _child(citation, "Book")
        dates += [
            _date(child)
            for child in (*citation, *(book if book is not None else ()))
            if child.tag in {"PubDate", "ContributionDate"}
        ]
    history = _child(data, "History") if data is not None else None
    for child in history if history is not None else ():
        if child.get("PubStatus") in _PUBLIC_STATUSES:
            dates.append(_date(child))
    return dates


def _date(element: etree._Element | None) -> PublicDate:
    if element is None:
        return UNKNOWN
    parts = {child.tag: child.text or "" for child in element if isinstance(child.tag, str)}
    if "MedlineDate" in parts:
        return free_text(parts["MedlineDate"])
    return of_parts(parts.get("Year"), parts.get("Month"), parts.get("Day"), parts.get("Season"))


def _child(element: etree._Element, tag: str) -> etree._Element | None:
    for child in element:
        if child.tag == tag:
            return child
    return None


def _text_of(element: etree._Element, tag: str) -> str | None:
    child = _child(element, tag)
    return clean(inline_text(child)) or None if child is not None else None


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and int(text) > 0 else 1
