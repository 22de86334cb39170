"""Fields of one PubMed citation element. An identifier is the record's own only where the record itself states it:
those of cited works, of commented and of corrected articles belong to others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from .citation_extras import ARTICLE_DATES, data_banks, grants, history, other_abstract, pages
from .dates import PublicDate, earliest_of, free_text, of_parts
from .jats_inline import inline_text
from .jats_meta import own_doi
from .text import clean
from .xml import own_text

Row = dict[str, Any]

_RETRACTED_TYPES = frozenset({"D016441"})  # Retracted Publication
_RETRACTED_NAMES = frozenset({"retracted publication"})
_PMC = re.compile(r"(?:PMC)?(\d+)(?:\.\d+)?", re.IGNORECASE)
_DATE_PARTS = frozenset({"Year", "Month", "Day", "Season", "MedlineDate"})
_NAME_PARTS = ("LastName", "ForeName", "Initials", "Suffix", "CollectiveName")
_PUBLIC_STATUSES = frozenset({"epublish", "ppublish", "ecollection", "aheadofprint", "ppublish-ahead"})


@dataclass(slots=True)
class _Seen:
    """What one pass over a record meets on its way and what is decided at its end only."""

    steps: list[tuple[str, PublicDate]] = field(default_factory=list)  # kind and date, in the order of the record
    public: list[PublicDate] = field(default_factory=list)  # dates that mean publication
    own_doi: str | None = None  # text of the first valid ELocationID


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
    seen = _Seen()
    if citation.tag == "BookDocument":
        _book(citation, row, seen)
        _own_identifiers(_child(citation, "ArticleIdList"), row)
    else:
        _article(citation, row, seen)
    if data is not None:
        _data(data, row, seen)
    if seen.own_doi is not None:
        row["doi"] = own_doi(seen.own_doi) or row["doi"]
    found = earliest_of(seen.public)
    row["public_earliest"], row["public_latest"] = found.earliest, found.latest
    row["public_precision"], row["public_text"] = found.precision, found.text
    row["history"] = history(seen.steps)
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


def _article(citation: etree._Element, row: Row, seen: _Seen) -> None:
    for child in citation:
        tag = child.tag
        if tag == "Article":
            _article_fields(child, row, seen)
        elif tag in ARTICLE_DATES:
            seen.steps.append((ARTICLE_DATES[tag], _date(child)))
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


def _article_fields(article: etree._Element, row: Row, seen: _Seen) -> None:
    for child in article:
        tag = child.tag
        if tag == "ArticleTitle":
            row["title"] = clean(inline_text(child))
        elif tag == "Abstract":
            row["abstract"] = _abstract(child)
        elif tag == "AuthorList":
            row["authors"] = _authors(child)
        elif tag == "Journal":
            _journal(child, row, seen)
        elif tag == "VernacularTitle":
            row["vernacular_title"] = clean(inline_text(child)) or None
        elif tag == "PublicationTypeList":
            for kind in child:
                name = clean(own_text(kind))
                row["publication_types"].append(name)
                if kind.get("UI") in _RETRACTED_TYPES or name.casefold() in _RETRACTED_NAMES:
                    row["retracted"] = True
        else:
            _rarer_article_field(child, tag, row, seen)


def _rarer_article_field(child: etree._Element, tag: str, row: Row, seen: _Seen) -> None:
    if tag == "ELocationID":
        _location(child, seen)
    elif tag == "ArticleDate":
        found = _date(child)
        seen.public.append(found)
        seen.steps.append((ARTICLE_DATES[tag], found))
    elif tag == "Pagination":
        row["pages"] = pages(child)
    elif tag == "Language":
        row["languages"].append(own_text(child).strip())
    elif tag == "DataBankList":
        row["data_banks"] = data_banks(child)
    elif tag == "GrantList":
        row["grants"] = grants(child)


def _location(element: etree._Element, seen: _Seen) -> None:
    if seen.own_doi is None and element.get("EIdType") == "doi" and element.get("ValidYN", "Y") == "Y":
        seen.own_doi = element.text or ""


def _journal(journal: etree._Element, row: Row, seen: _Seen) -> None:
    first: dict[str, etree._Element] = {}
    for child in journal:
        first.setdefault(child.tag, child)
    title = _clean_or_none(first.get("Title")) or _clean_or_none(first.get("ISOAbbreviation"))
    row["journal"], row["issn"] = title, _clean_or_none(first.get("ISSN"))
    if "JournalIssue" in first:
        issue: dict[str, etree._Element] = {}
        for child in first["JournalIssue"]:
            issue.setdefault(child.tag, child)
        row["volume"], row["issue"] = _clean_or_none(issue.get("Volume")), _clean_or_none(issue.get("Issue"))
        if "PubDate" in issue:
            found = _date(issue["PubDate"])
            seen.public.append(found)
            seen.steps.append(("issue", found))


def _book(document: etree._Element, row: Row, seen: _Seen) -> None:
    book = _child(document, "Book")
    seen.public += [
        _date(child)
        for child in (*document, *(book if book is not None else ()))
        if child.tag in {"PubDate", "ContributionDate"}
    ]
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
        elif child.tag == "ELocationID":
            _location(child, seen)
        elif child.tag in ARTICLE_DATES:
            seen.steps.append((ARTICLE_DATES[child.tag], _date(child)))
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


def _authors(element: etree._Element) -> list[str]:
    """``Last, Fore`` in order; groups by their own name. Names that the record marks as invalid are left out."""
    people: list[dict[str, str]] = []
    parts: dict[str, str] = {}
    # Affiliations make up most of a list of authors: the parser's own iterator passes over them.
    for node in element.iter("Author", *_NAME_PARTS):
        tag = node.tag
        if tag == "Author":
            parts = {}
            if node.get("ValidYN") != "N":
                people.append(parts)
        else:
            parts[tag] = own_text(node)
    return [name for person in people if (name := _author(person))]


def _author(parts: dict[str, str]) -> str:
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
        tag = child.tag
        if tag == "DescriptorName":
            name, heading_id = clean(own_text(child)), child.get("UI", "")
        elif tag == "QualifierName":
            qualifiers.append(clean(own_text(child)))
        else:
            continue
        major = major or child.get("MajorTopicYN") == "Y"
    return {"id": heading_id, "name": name, "major": major, "qualifiers": qualifiers} if name else None


def _corrections(element: etree._Element, row: Row) -> None:
    for child in element:
        kind = child.get("RefType", "")
        pmid: str | None = None
        source: str | None = None
        for part in child:
            tag = part.tag
            if tag == "PMID" and pmid is None:
                pmid = (part.text or "").strip()
            elif tag == "RefSource" and source is None:
                source = clean(inline_text(part))
        row["corrections"].append({"type": kind, "pmid": pmid or None, "source": source or None})
        if kind == "RetractionIn":
            row["retracted"] = True
        elif kind == "RetractionOf" and pmid and pmid.isdecimal():
            # The notice itself is not retracted; the paper it points to is, wherever that is stored.
            row["retracts"].append(pmid)


def _data(data: etree._Element, row: Row, seen: _Seen) -> None:
    identified = dated = False
    for part in data:  # direct children: those inside ReferenceList are of cited works
        if part.tag == "ArticleIdList" and not identified:
            identified = True
            _own_identifiers(part, row)
        elif part.tag == "History" and not dated:
            dated = True
            for step in part:
                status, found = step.get("PubStatus"), _date(step)
                if status in _PUBLIC_STATUSES:
                    seen.public.append(found)
                if step.tag == "PubMedPubDate":
                    seen.steps.append((status or "unknown", found))


def _own_identifiers(id_list: etree._Element | None, row: Row) -> None:
    for element in id_list if id_list is not None else ():
        kind, text = element.get("IdType"), (element.text or "").strip()
        if kind == "doi" and not row["doi"]:
            row["doi"] = own_doi(text)
        elif kind == "pmc" and not row["pmcid"]:
            number = _PMC.fullmatch(text)
            row["pmcid"] = f"PMC{number.group(1)}" if number else None


def _date(element: etree._Element) -> PublicDate:
    parts: dict[str, str] = {}
    for child in element:
        tag = child.tag
        if tag in _DATE_PARTS:
            parts[tag] = child.text or ""
    if "MedlineDate" in parts:
        return free_text(parts["MedlineDate"])
    return of_parts(parts.get("Year"), parts.get("Month"), parts.get("Day"), parts.get("Season"))


def _child(element: etree._Element, tag: str) -> etree._Element | None:
    for child in element:
        if child.tag == tag:
            return child
    return None


def _text_of(element: etree._Element, tag: str) -> str | None:
    return _clean_or_none(_child(element, tag))


def _clean_or_none(element: etree._Element | None) -> str | None:
    return clean(inline_text(element)) or None if element is not None else None


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and int(text) > 0 else 1
