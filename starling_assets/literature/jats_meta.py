"""Front matter of a JATS article: identifiers, title, journal, dates, licence, retraction links."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from .blocks import Paper
from .dates import PublicDate, earliest_of, of_parts
from .jats_inline import inline_text
from .licences import Licence, classify
from .text import clean
from .xml import local_name, own_text

HREF = "{http://www.w3.org/1999/xlink}href"
_PMC_NUMBER = re.compile(r"(?:PMC)?(\d+)(?:\.\d+)?", re.IGNORECASE)
#: Publication dates; "received" and the like are history, "collection" and issue dates are print.
_PUBLIC_TYPES = frozenset(
    {
        "epub", "ppub", "epub-ppub", "pub", "collection", "epreprint", "epubl", "preprint", "pmc-release",
        "e-publication",
        "publication", "electronic", "print", "ecorrected", "original-publication", "version-of-record", "",
    }
)  # fmt: skip
_RETRACTED = frozenset({"retracted-article", "withdrawn-article"})
_RETRACTION_TYPES = frozenset({"retraction", "withdrawal", "removal"})


def read_front(article: etree._Element, paper: Paper) -> None:
    """Fill the metadata of ``paper`` from ``article``."""
    front = next((child for child in article if local_name(child.tag) in {"front", "front-stub"}), None)
    if front is None:
        return
    meta = _child(front, "article-meta")
    meta = front if meta is None else meta
    _identifiers(meta, paper)
    title = _first(meta, "article-title")
    paper.title = clean(inline_text(title)) if title is not None else ""
    journal_meta = _child(front, "journal-meta")
    journal = _first(journal_meta, "journal-title") if journal_meta is not None else None
    paper.journal = clean(inline_text(journal)) or None if journal is not None else None
    paper.public = earliest_of(_public_dates(meta))
    paper.licence, paper.licence_evidence = _licence(article, meta)
    _retraction(article, meta, paper)


def _identifiers(meta: etree._Element, paper: Paper) -> None:
    for element in meta:
        if local_name(element.tag) != "article-id":
            continue
        kind, text = element.get("pub-id-type", ""), own_text(element).strip()
        if kind == "pmid" and text.isdecimal():
            paper.pmid = paper.pmid or text
        elif kind in {"pmc", "pmcid", "pmcaid", "pmcaiid"} and kind != "pmcaiid":
            number = _PMC_NUMBER.fullmatch(text)
            paper.pmcid = paper.pmcid or (f"PMC{number.group(1)}" if number else None)
        elif kind == "doi" and text:
            paper.doi = paper.doi or own_doi(text)
    version = next((e for e in meta.iter("article-version") if (e.text or "").strip().isdecimal()), None)
    if version is not None:
        paper.version = max(1, int((version.text or "1").strip()))


def own_doi(text: str) -> str | None:
    """A DOI without resolver or prefix, in the case it is written; None when it is none."""
    text = re.sub(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", "", text.strip(), flags=re.IGNORECASE)
    return text if text.startswith("10.") and "/" in text else None


def _public_dates(meta: etree._Element) -> Iterator[PublicDate]:
    for element in meta:
        tag = local_name(element.tag)
        if tag == "pub-date":
            kinds = {element.get("pub-type") or "", element.get("date-type") or ""}
            if kinds <= _PUBLIC_TYPES:
                yield _date(element)
        elif tag == "pub-history":
            for date in element.iter("{*}date", "date"):
                if (date.get("date-type") or "") in _PUBLIC_TYPES - {""}:
                    yield _date(date)


def _date(element: etree._Element) -> PublicDate:
    parts = {local_name(child.tag): own_text(child) for child in element}
    if not parts.get("year"):
        iso = element.get("iso-8601-date") or ""
        year, _, rest = iso.partition("-")
        month, _, day = rest.partition("-")
        return of_parts(year, month, day[:2])
    return of_parts(parts["year"], parts.get("month"), parts.get("day"), parts.get("season"))


def _licence(article: etree._Element, meta: etree._Element) -> tuple[str, str]:
    found = classify(_licence_statements(meta))
    if found.name == "UNKNOWN":
        found = _licence_in_prose(article)
    return found.name, found.evidence


def _licence_statements(meta: etree._Element) -> list[str]:
    """What the article's own permissions say. A line of copyright counts only where nothing is licensed: "all rights
    reserved" stands beside many an explicit grant."""
    grants: list[str] = []
    copyrights: list[str] = []
    # Permissions of a figure or a box are nested below it, not below the article's own metadata.
    for holder in (meta, *(child for child in meta if local_name(child.tag) == "permissions")):
        for element in holder:
            tag = local_name(element.tag)
            if tag in {"license", "licence"}:
                grants += _grant(element)
            elif tag == "license_ref":
                grants.append(inline_text(element))
            elif tag == "copyright-statement":
                copyrights.append(inline_text(element))
    return grants or copyrights


def _grant(element: etree._Element) -> list[str]:
    links = [element.get(HREF, "")]
    links += [inner.get(HREF, "") for inner in element.iter() if isinstance(inner.tag, str)]
    statement = " ".join([inline_text(element), *dict.fromkeys(link for link in links if link)])
    kind = element.get("license-type", "")
    return [statement] if kind.lower().replace("-", "") == "openaccess" else [statement, kind]


def _licence_in_prose(article: etree._Element) -> Licence:
    """A statement that stands in notes or the body only: counted when it names a licence, never a vague word."""
    for element in article.iter("{*}p", "p"):
        text = inline_text(element)
        if "creative" in text.lower() and len(text) < 2_000:
            found = classify([text])
            if found.name.startswith("CC") and "article" in text.lower():
                return found
    return Licence("UNKNOWN")


def _retraction(article: etree._Element, meta: etree._Element, paper: Paper) -> None:
    targets = [
        link.get(HREF, "").strip()
        for link in meta.iter("related-article", "{*}related-article")
        if link.get("related-article-type") in _RETRACTED and link.get("ext-link-type") in {"pmid", "pubmed"}
    ]
    notice = article.get("article-type") in _RETRACTION_TYPES
    paper.retracts = tuple(target for target in targets if target.isdecimal()) if notice or targets else ()
    paper.retracted = article.get("article-type") == "retracted-article" or any(
        link.get("related-article-type") in {"retraction", "retraction-forward"}
        for link in meta.iter("related-article", "{*}related-article")
    )


def _child(element: etree._Element, name: str) -> etree._Element | None:
    return next((child for child in element if local_name(child.tag) == name), None)


def _first(element: etree._Element, name: str) -> etree._Element | None:
    return next(element.iter(name, f"{{*}}{name}"), None)
