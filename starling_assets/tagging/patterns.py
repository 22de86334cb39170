"""Entities that follow a grammar instead of a vocabulary: variants, trial identifiers, microRNA.

Variants: HGVS (https://hgvs-nomenclature.org), dbSNP numbers and the short forms papers use (V600E, Val600Glu).
"""

from __future__ import annotations

import re
from typing import NamedTuple

_AMINO = "Ala|Arg|Asn|Asp|Cys|Gln|Glu|Gly|His|Ile|Leu|Lys|Met|Phe|Pro|Ser|Thr|Trp|Tyr|Val|Ter|Sec"
_ONE = "ACDEFGHIKLMNPQRSTVWY"
_BASE = "ACGTUacgtu"
_POSITION = r"[-*]?\d+(?:[+-]\d+)?"
_RANGE = rf"\(?{_POSITION}(?:_{_POSITION})?\)?"
_CHANGE = rf"(?:[{_BASE}]+\s?(?:>|→|&gt;)\s?[{_BASE}]+|del(?:[{_BASE}]+|\d+)?(?:ins[{_BASE}]+)?|dup(?:[{_BASE}]+|\d+)?|ins[{_BASE}\d]+|inv\d*|=)"
_FRAME = r"(?:fs(?:\s?(?:\*|X|Ter)\s?\d*)?)"

_PIECES: dict[str, list[str]] = {
    "GeneVariant": [
        r"\brs\s?\d{2,}\b",
        rf"\b[cgmnr]\.\s?{_RANGE}\s?{_CHANGE}",
        rf"\bp\.\s?\(?(?:{_AMINO}|[{_ONE}])\d+(?:_(?:{_AMINO}|[{_ONE}])\d+)?(?:{_AMINO}|[{_ONE}]|\*|X|=|del|dup|ins(?:{_AMINO}|[{_ONE}])+)?{_FRAME}?\)?",
        rf"\b(?:{_AMINO})[-\s]?\d+(?:[-\s]|\s?(?:→|>|to)\s?)?(?:{_AMINO}|stop|STOP|X|\*)(?:{_FRAME})?(?![A-Za-z])",
        rf"(?<![\w.-])[{_ONE}][1-9]\d{{1,3}}(?:[{_ONE}]|\*|X)(?:fs(?:\*|X)?\d*)?(?![\w])",
        rf"(?<![\w.])[-+]?[1-9]\d{{0,5}}(?:[+-]\d+)?\s?[ACGT]\s?(?:>|→|/|-->|-to-)\s?[ACGT](?![\w])",
        rf"(?<![\w.])[ACGT]\s?(?:[-+(]\s?)?[1-9]\d{{0,5}}(?:[+-]\d+)?\)?\s?(?:>|→)?\s?[ACGT](?![\w])",
        rf"\bIVS\s?\d+\s?[+-]\s?\d+\s?[{_BASE}]\s?(?:>|→)\s?[{_BASE}]",
        rf"(?<![\w.])\d+(?:[_-]\d+)?(?:del|ins|dup)[ACGT]{{1,12}}(?![\w])",
        rf"[Δ∆][{_ONE}]\d{{2,4}}\b",
    ],
    "ClinicalTrial": [
        r"\bNCT\s?0\d{7}\b",
        r"\bISRCTN\s?\d{8}\b",
        r"\b(?:EudraCT\s?(?:number|no\.?)?:?\s?)?20\d{2}-\d{6}-\d{2}\b",
        r"\bChiCTR(?:-[A-Z]{2,4})?-?\d{8,10}\b",
        r"\bACTRN\s?\d{14}\b",
        r"\bUMIN\s?0\d{8}\b",
        r"\bCTRI/\d{4}/\d{2,3}/\d{6}\b",
    ],
    "RNA": [
        r"\b(?:[a-z]{3}-)?(?:miR|miRNA|microRNA|mir|MIR)-?\s?\d{1,5}[a-z]?(?:[-*](?:[35]p|\d))*\b",
        r"\b(?:[a-z]{3}-)?let-7[a-k]?(?:-[35]p)?\b",
    ],
}

#: One compiled alternation per type, and a cheap sign that must be in the text for it to be tried.
_PATTERNS = {kind: re.compile("|".join(pieces)) for kind, pieces in _PIECES.items()}
_DIGIT = re.compile(r"\d")
_SIGNS: dict[str, re.Pattern[str]] = {
    "GeneVariant": re.compile(
        rf"rs\s?\d|[cgmnrp]\.\s?\(?[\w*-]*\d|(?:{_AMINO})[-\s]?\d|[{_ONE}][1-9]\d+[{_ONE}X*]|\d\s?[ACGT]\s?[>→/-]|[ACGT]\W{{0,2}}\d|IVS|\d(?:del|ins|dup)|[Δ∆]"
    ),
    "ClinicalTrial": re.compile(r"NCT|ISRCTN|20\d\d-\d{6}|ChiCTR|ACTRN|UMIN|CTRI"),
    "RNA": re.compile(r"[mM][iI][rR]-?|microRNA|let-7"),
}

#: Codes of cell lines, strains and compounds that look like a substitution.
_NOT_VARIANTS = re.compile(r"[HT]\d{1,2}[A-Z]$|C\d{1,2}[CHNOS]$|[A-Z]\d{1,2}[A-Z]$")


class Found(NamedTuple):
    """``text[start:end]`` is an entity of that type; ``canonical`` is its spelling without variation."""

    start: int
    end: int
    entity_type: str
    canonical: str


def find_patterns(text: str) -> list[Found]:
    """All pattern entities of a paragraph, ordered by place."""
    if not _DIGIT.search(text):
        return []
    found: list[Found] = []
    for kind, pattern in _PATTERNS.items():
        if not _SIGNS[kind].search(text):
            continue
        for match in pattern.finditer(text):
            surface = match.group()
            if kind == "GeneVariant" and _NOT_VARIANTS.fullmatch(surface):
                continue
            start, end = _trim(text, match.start(), match.end())
            found.append(Found(start, end, kind, canonical(text[start:end], kind)))
    return sorted(found)


def canonical(surface: str, kind: str) -> str:
    """One spelling per identifier: ``NCT 01234567`` is ``NCT01234567``, ``p.(Val600Glu)`` is ``p.V600E``."""
    compact = re.sub(r"\s+", "", surface)
    if kind == "RNA":
        body = re.sub(r"^(?:[a-z]{3}-)?(?:miRNA|microRNA|miR|mir|MIR)-?", "miR-", compact)
        return body if body.startswith("miR-") else compact
    if kind == "GeneVariant":
        compact = compact.replace("→", ">").replace("&gt;", ">")
        protein = re.fullmatch(rf"(?:p\.)?\(?({_AMINO})-?(\d+)(?:-|>|to)?({_AMINO}|stop|STOP|X|\*)\)?", compact)
        if protein:
            return f"p.{_ONE_LETTER[protein.group(1)]}{protein.group(2)}{_ONE_LETTER.get(protein.group(3), '*')}"
        short = re.fullmatch(rf"(?:p\.)?\(?([{_ONE}])(\d+)([{_ONE}*X])\)?", compact)
        if short:
            return f"p.{short.group(1)}{short.group(2)}{short.group(3).replace('X', '*')}"
    return compact


_ONE_LETTER = {
    "Ala": "A", "Arg": "R", "Asn": "N", "Asp": "D", "Cys": "C", "Gln": "Q", "Glu": "E", "Gly": "G", "His": "H",
    "Ile": "I", "Leu": "L", "Lys": "K", "Met": "M", "Phe": "F", "Pro": "P", "Ser": "S", "Thr": "T", "Trp": "W",
    "Tyr": "Y", "Val": "V", "Ter": "*", "Sec": "U", "stop": "*", "STOP": "*", "X": "*", "*": "*",
}  # fmt: skip


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    # A bracket that was opened before the match, or not closed in it, is not part of it.
    surface = text[start:end]
    if surface.endswith(")") and "(" not in surface:
        end -= 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
