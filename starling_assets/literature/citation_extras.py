"""The rarer fields of a PubMed citation: other abstracts, data banks, grants, pages, and the dates of its history."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lxml import etree

from .dates import PublicDate
from .jats_inline import inline_text
from .text import clean
from .xml import own_text

Row = dict[str, Any]
DateOf = Callable[[Any], PublicDate]  # of an lxml element

_ARTICLE_DATES = {
    "ArticleDate": "electronic",
    "DateCompleted": "completed",
    "DateRevised": "revised",
    "DateCreated": "created",
}


def other_abstract(element: etree._Element) -> list[Row]:
    """An abstract in another language or for other readers; never mixed with the abstract itself."""
    parts = [clean(inline_text(child, keep_blocks=True)) for child in element if child.tag == "AbstractText"]
    text = " ".join(part for part in parts if part)
    return [{"type": element.get("Type"), "language": element.get("Language"), "text": text}] if text else []


def data_banks(element: etree._Element) -> list[Row]:
    """Data banks with the accession numbers the paper deposited."""
    banks = []
    for bank in element:
        name = next((own_text(child) for child in bank if child.tag == "DataBankName"), "")
        numbers = [own_text(number).strip() for number in bank.iter("AccessionNumber")]
        if name or numbers:
            banks.append({"name": clean(name), "accessions": numbers})
    return banks


def grants(element: etree._Element) -> list[Row]:
    """Grants with number (null when none is stated) and agency."""
    found = []
    for grant in element:
        parts = {child.tag: clean(own_text(child)) for child in grant if isinstance(child.tag, str)}
        if parts.get("GrantID") or parts.get("Agency"):
            found.append({"id": parts.get("GrantID") or None, "agency": parts.get("Agency") or None})
    return found


def pages(element: etree._Element) -> str | None:
    """Pages as printed."""
    parts = {child.tag: clean(own_text(child)) for child in element if isinstance(child.tag, str)}
    if parts.get("MedlinePgn"):
        return parts["MedlinePgn"]
    return "-".join(part for part in (parts.get("StartPage"), parts.get("EndPage")) if part) or None


def history(citation: etree._Element, data: etree._Element | None, date_of: DateOf) -> list[Row]:
    """Every dated step with its kind and precision, in the order of the record. An unknown date is left out."""
    steps: list[tuple[str, etree._Element]] = []
    for child in citation:
        if child.tag in _ARTICLE_DATES:
            steps.append((_ARTICLE_DATES[child.tag], child))
        elif child.tag == "Article":
            for inner in child:
                if inner.tag == "ArticleDate":
                    steps.append(("electronic", inner))
                elif inner.tag == "Journal":
                    steps += [
                        ("issue", date)
                        for issue in inner
                        if issue.tag == "JournalIssue"
                        for date in issue
                        if date.tag == "PubDate"
                    ]
    for part in data if data is not None else ():
        if part.tag == "History":
            steps += [(step.get("PubStatus") or "unknown", step) for step in part if step.tag == "PubMedPubDate"]
    rows = []
    for kind, element in steps:
        found = date_of(element)
        if found.earliest is not None:
            rows.append(
                {"kind": kind, "earliest": found.earliest, "latest": found.latest, "precision": found.precision}
            )
    return rows
