"""The rarer fields of a PubMed citation: other abstracts, data banks, grants, pages, and the dates of its history."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lxml import etree

from .dates import PublicDate
from .jats_inline import inline_text
from .text import clean
from .xml import own_text

Row = dict[str, Any]

#: Dates of a record that are told by their tag alone, and the kind of step each is.
ARTICLE_DATES = {
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


def history(steps: Iterable[tuple[str, PublicDate]]) -> list[Row]:
    """Every dated step with its kind and precision, in the order of the record. An unknown date is left out."""
    rows = []
    for kind, found in steps:
        if found.earliest is not None:
            rows.append(
                {"kind": kind, "earliest": found.earliest, "latest": found.latest, "precision": found.precision}
            )
    return rows
