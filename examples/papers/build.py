"""Make the example papers from a copy of their sources.

``python examples/papers/build.py SOURCES`` where SOURCES holds ``jats/``, ``pdf_twins/`` and
``abstracts/ontopic_abstracts.jsonl`` as collected from the public repositories that NOTICE names. The files are copied
as they are (full texts unpacked, PDF unchanged); the abstracts are written in the form of PubMed's citation files.
Fields that the corpora do not hold (journal, date, authors) are left out, not made up. NOTICE is written beside them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

HERE = Path(__file__).resolve().parent
INBOX = HERE.parent / "inbox"
BC5CDR = "BC5CDR corpus, a United States Government work in the public domain; abstract text from PubMed"
DRUGPROT = "DrugProt corpus, CC BY 4.0, https://doi.org/10.5281/zenodo.4955410; abstract text from PubMed"
DOCTYPE = (
    '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2019//EN" '
    '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_190101.dtd">'
)


@dataclass(frozen=True)
class FullText:
    """A full text that is copied: where from, under which name, and what its licence asks to be said."""

    source: str
    name: str
    attribution: str
    licence: str


FULL_TEXTS = (
    FullText(
        "jats/10.1186_1741-7015-2-5.nxml.gz",
        "sitosterolemia-mouse-model.nxml",
        "A mouse model of sitosterolemia: absence of Abcg8/sterolin-2 results in failure to secrete biliary "
        "cholesterol. BMC Medicine 2004, 2:5. https://doi.org/10.1186/1741-7015-2-5",
        "BioMed Central open access: verbatim copying and redistribution in all media, with this notice and the "
        "original URL",
    ),
    FullText(
        "jats/PMC3580400.nxml.gz",
        "PMC3580400.nxml",
        "Oral curcumin for Alzheimer's disease: tolerability and efficacy in a 24-week randomized, double blind, "
        "placebo-controlled study. Alzheimer's Research & Therapy 2012. https://doi.org/10.1186/alzrt146",
        "CC BY 2.0, https://creativecommons.org/licenses/by/2.0/",
    ),
    FullText(
        "jats/PMC6163711.nxml.gz",
        "PMC6163711.nxml",
        "Successful Green Synthesis of Gold Nanoparticles using a Corchorus olitorius Extract and Their "
        "Antiproliferative Effect in Cancer Cells. International Journal of Molecular Sciences 2018. "
        "https://doi.org/10.3390/ijms19092612",
        "CC BY 4.0, https://creativecommons.org/licenses/by/4.0/",
    ),
    FullText(
        "jats/PMC1065104.nxml.gz",
        "PMC1065104.nxml",
        "Effect of magnesium sulfate administration on blood-brain barrier in a rat model of intraperitoneal "
        "sepsis: a randomized controlled experimental study. Critical Care 2005. https://doi.org/10.1186/cc3004",
        "CC BY 2.0, https://creativecommons.org/licenses/by/2.0/",
    ),
    FullText(
        "pdf_twins/trials16_2.pdf",
        "drug-monitoring-program.pdf",
        "Effectiveness of a computerized drug-monitoring program. Trials 2015, 16:2. "
        "https://doi.org/10.1186/1745-6215-16-2",
        "CC BY 4.0, https://creativecommons.org/licenses/by/4.0/",
    ),
)
INBOX_FULL_TEXTS = (
    FullText(
        "jats/PMC3094237.nxml.gz",
        "PMC3094237.nxml",
        "L-lysine as adjunctive treatment in patients with schizophrenia: a single-blinded, randomized, cross-"
        "over pilot study. BMC Medicine 2011, 9:40. https://doi.org/10.1186/1741-7015-9-40",
        "CC BY 2.0, https://creativecommons.org/licenses/by/2.0/",
    ),
)
ABSTRACTS = {
    "137340": BC5CDR, "8242725": DRUGPROT, "8919272": BC5CDR, "8955532": BC5CDR, "9399012": DRUGPROT, "17019386":
    BC5CDR,
    "20135071": DRUGPROT, "23353658": DRUGPROT, "23414838": DRUGPROT, "23477419": DRUGPROT,
}  # fmt: skip
INBOX_ABSTRACTS = {"23042954": DRUGPROT, "23123250": DRUGPROT}


def main(arguments: list[str]) -> int:
    """Write both folders."""
    if len(arguments) != 1 or not (Path(arguments[0]) / "abstracts").is_dir():
        print("usage: build.py SOURCES (a folder with jats/, pdf_twins/ and abstracts/)", file=sys.stderr)
        return 2
    sources = Path(arguments[0])
    abstracts = _abstracts(sources)
    for folder, texts, sets in (
        (HERE, FULL_TEXTS, {"citations.xml": ABSTRACTS}),
        (INBOX, INBOX_FULL_TEXTS, {f"pmid-{pmid}.xml": {pmid: source} for pmid, source in INBOX_ABSTRACTS.items()}),
    ):
        folder.mkdir(parents=True, exist_ok=True)
        notice = ["Works bundled in this folder, unchanged but for unpacking; the abstracts are in PubMed's form.", ""]
        for text in texts:
            data = _unpacked(sources / text.source)
            (folder / text.name).write_bytes(data)
            notice += [text.name, f"  {text.attribution}", f"  {text.licence}", f"  sha256 {_sha256(data)}", ""]
        for name, pmids in sets.items():
            data = _citations([abstracts[pmid] for pmid in pmids])
            (folder / name).write_bytes(data)
            notice += [name, f"  sha256 {_sha256(data)}"]
            notice += [f"  PMID {pmid}: {abstracts[pmid]['title']} ({source})" for pmid, source in pmids.items()]
            notice.append("")
        (folder / "NOTICE").write_text("\n".join(notice), encoding="utf-8")
    return 0


def _abstracts(sources: Path) -> dict[str, dict[str, str]]:
    lines = (sources / "abstracts" / "ontopic_abstracts.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["pmid"]: row for row in map(json.loads, lines)}


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _citations(rows: list[dict[str, str]]) -> bytes:
    root = etree.Element("PubmedArticleSet")
    for row in rows:
        article = etree.SubElement(root, "PubmedArticle")
        citation = etree.SubElement(article, "MedlineCitation", Status="MEDLINE", Owner="NLM")
        etree.SubElement(citation, "PMID", Version="1").text = row["pmid"]
        body = etree.SubElement(citation, "Article", PubModel="Print")
        etree.SubElement(body, "ArticleTitle").text = row["title"]
        abstract = etree.SubElement(body, "Abstract")
        etree.SubElement(abstract, "AbstractText").text = row["abstract"]
        data = etree.SubElement(article, "PubmedData")
        ids = etree.SubElement(data, "ArticleIdList")
        etree.SubElement(ids, "ArticleId", IdType="pubmed").text = row["pmid"]
    return etree.tostring(root, encoding="UTF-8", xml_declaration=True, pretty_print=True, doctype=DOCTYPE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
