"""Gold corpora of entity spans: their files, what each annotates, and which documents are never trained on.

Offsets count characters of ``title + " " + abstract`` (PubTator) or of the text file (standoff).
"""

from __future__ import annotations

import gzip
import hashlib
import re
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

#: What one output of the encoder reads. The order is the model's order of outputs.
HEADS = ("Chemical", "Disease", "Gene", "Species", "CellLine", "Variant", "Anatomy", "Cell", "Component", "Cancer")

#: Organisms in BioRED, not in S800 and LINNAEUS: the encoder is never told, and the dictionary keeps the word.
PEOPLE = frozenset(
    {
        "patient", "patients", "man", "men", "woman", "women", "child", "children", "boy", "boys", "girl", "girls",
        "infant", "infants", "people", "person", "persons", "participant", "participants", "subject", "subjects",
        "male", "males", "female", "females", "individual", "individuals",
    }
)  # fmt: skip

_KINDS = {
    "Chemical": "Chemical",
    "ChemicalEntity": "Chemical",
    "Disease": "Disease",
    "DiseaseOrPhenotypicFeature": "Disease",
    "DiseaseClass": "Disease",
    "SpecificDisease": "Disease",
    "Modifier": "Disease",
    "CompositeMention": "Disease",
    "Gene": "Gene",
    "GeneOrGeneProduct": "Gene",
    "FamilyName": "Gene",
    "Species": "Species",
    "OrganismTaxon": "Species",
    "CellLine": "CellLine",
    "SequenceVariant": "Variant",
    "SNP": "Variant",
    "DNAMutation": "Variant",
    "ProteinMutation": "Variant",
    "DNAAllele": "Variant",
    "ProteinAllele": "Variant",
    "OtherMutation": "Variant",
    "AcidChange": "Variant",
}
_ANATEM = {"Cell": "Cell", "Cancer": "Cancer", "Cellular_component": "Component"}


class Corpus(NamedTuple):
    """``files``: how the names of its files begin; ``heads``: all that its authors annotated."""

    files: tuple[str, ...]
    heads: tuple[str, ...]
    licence: str


CORPORA = {
    "bc5cdr": Corpus(("CDR_",), ("Chemical", "Disease"), "US Government public domain"),
    "ncbi_disease": Corpus(("NCBI",), ("Disease",), "US Government public domain"),
    "biored": Corpus(
        ("Train", "Dev", "Test"),
        ("Chemical", "Disease", "Gene", "Species", "CellLine", "Variant"),
        "US Government public domain",
    ),
    "nlm_chem": Corpus(("NLMchem",), ("Chemical",), "US Government public domain"),
    "nlm_gene": Corpus(("NLMgene",), ("Gene",), "US Government public domain"),
    "gnormplus": Corpus(("GNormPlus",), ("Gene",), "US Government public domain"),
    "tmvar3": Corpus(("tmVar3",), ("Variant", "Gene", "Disease"), "US Government public domain"),
    "linnaeus": Corpus(("Linnaeus",), ("Species",), "believed CC BY (articles of PMC open access)"),
    "species800": Corpus(("SPECIES",), ("Species",), "believed CC BY"),
    "bioid_cellline": Corpus(("BioID",), ("CellLine",), "believed CC BY 4.0"),
    "seth": Corpus(("seth",), ("Variant",), "Apache-2.0"),
    "anatem": Corpus(("anatem",), ("Anatomy", "Cell", "Component", "Cancer"), "CC BY-SA 3.0"),
}


class Span(NamedTuple):
    """A gold mention ``text[start:end]``; ``ids`` as the corpus writes them."""

    start: int
    end: int
    head: str
    ids: str


@dataclass
class Document:
    """A text and its gold mentions."""

    id: str
    text: str
    gold: list[Span] = field(default_factory=list)


def development(document_id: str) -> bool:
    """Whether a document is never trained on: one of eight, on the same side in all corpora."""
    digest = int(hashlib.md5(_article(document_id).encode(), usedforsecurity=False).hexdigest(), 16)
    return digest // 4 % 8 == 0


def documents(gold: Path, corpus: str) -> Iterator[Document]:
    """All documents of a corpus, sorted by file and place in it. A text met twice is given once."""
    seen: set[str] = set()
    for path in sorted((gold / corpus).iterdir()):
        if not path.name.startswith(CORPORA[corpus].files):
            continue
        for document in _standoff(path, corpus) if path.name.endswith(".tar.gz") else _pubtator(path):
            if document.text not in seen:
                seen.add(document.text)
                yield document


def _article(document_id: str) -> str:
    section = re.match(r"(PMC|PMID)-(\d+)", document_id)
    if section:
        return section[2] if section[1] == "PMID" else "PMC" + section[2]
    return document_id[:7] if len(document_id) == 11 and document_id.isdigit() else document_id


def _pubtator(path: Path) -> Iterator[Document]:
    document: Document | None = None
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            line = line.rstrip("\n")
            head = line[:40]
            if "|t|" in head and head.split("|t|")[0].strip().isdigit():
                if document is not None:
                    yield document
                identifier, _, title = line.partition("|t|")
                document = Document(identifier.strip(), title)
            elif "|a|" in head and document is not None and line.startswith(document.id):
                document.text += " " + line.partition("|a|")[2]
            elif document is not None and line.count("\t") >= 4:
                _, start, end, _, kind, *ids = line.split("\t")
                if kind in _KINDS and start.isdigit() and end.isdigit():
                    document.gold.append(Span(int(start), int(end), _KINDS[kind], ids[0] if ids else ""))
    if document is not None:
        yield document


def _standoff(path: Path, corpus: str) -> Iterator[Document]:
    parts: dict[str, dict[str, str]] = defaultdict(dict)
    with tarfile.open(path) as archive:
        for member in archive.getmembers():
            stem, _, suffix = member.name.rpartition(".")
            handle = archive.extractfile(member) if member.isfile() and suffix in {"txt", "ann"} else None
            if handle is not None:
                parts[stem.rpartition("/")[2]][suffix] = handle.read().decode("utf-8")
    for stem, found in sorted(parts.items()):
        if found.keys() < {"txt", "ann"}:
            continue
        document = Document(stem, found["txt"])
        for line in found["ann"].splitlines():
            values = line.split("\t")
            if not line.startswith("T") or ";" in values[1]:
                continue
            kind, start, end = values[1].split(" ")
            head = _ANATEM.get(kind, "Anatomy") if corpus == "anatem" else _KINDS.get(kind)
            if head in CORPORA[corpus].heads:
                document.gold.append(Span(int(start), int(end), str(head), ""))
        yield document
