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
_CHANGE = (
    rf"(?:[{_BASE}]+\s?(?:>|→|&gt;)\s?[{_BASE}]+|del(?:[{_BASE}]+|\d+)?(?:ins[{_BASE}]+)?|dup(?:[{_BASE}]+|\d+)?"
    rf"|ins[{_BASE}\d]+|inv\d*|=)"
)
_FRAME = r"(?:fs(?:\s?(?:\*|X|Ter)\s?\d*)?)"

#: Type, signs of which one must be in the text for the pattern to be tried at all (none = any code), pattern. A pattern
#: without a sign starts with a set of characters, which the engine skips to quickly.
_GRAMMAR: list[tuple[str, tuple[str, ...], str]] = [
    ("GeneVariant", ("rs",), r"rs(?<!\wrs)\s?\d{2,}\b"),
    ("GeneVariant", ("c.", "g.", "m.", "n.", "r."), rf"\b[cgmnr]\.\s?{_RANGE}\s?{_CHANGE}"),
    (
        "GeneVariant",
        ("p.",),
        (
            rf"\bp\.\s?\(?(?:{_AMINO}|[{_ONE}])\d+(?:_(?:{_AMINO}|[{_ONE}])\d+)?"
            rf"(?:{_AMINO}|[{_ONE}]|\*|X|=|del|dup|ins(?:{_AMINO}|[{_ONE}])+)?{_FRAME}?\)?"
        ),
    ),
    (
        "GeneVariant",
        (),
        rf"(?:{_AMINO})(?<!\w...)[-\s]?\d+(?:[-\s]|\s?(?:→|>|to)\s?)?(?:{_AMINO}|stop|STOP|X|\*)(?:{_FRAME})?(?![A-Za-z])",
    ),
    ("GeneVariant", (), rf"[{_ONE}](?<![\w.-].)[1-9]\d{{1,3}}(?:[{_ONE}]|\*|X)(?:fs(?:\*|X)?\d*)?(?![\w])"),
    (
        "GeneVariant",
        (">", "→", "-to-"),
        r"(?<![\w.])[-+]?[1-9]\d{0,5}(?:[+-]\d+)?\s?[ACGT]\s?(?:>|→|-->|-to-)\s?[ACGT](?![\w])",
    ),
    (
        "GeneVariant",
        (),
        r"[ACGT](?<![\w.].)(?:\s?[-+(]\s?)?[1-9]\d{1,5}(?:[+-]\d+)?\)?(?:\s?(?:>|→)\s?)?[ACGT](?![\w])",
    ),
    ("GeneVariant", ("IVS",), rf"\bIVS\s?\d+\s?[+-]\s?\d+\s?[{_BASE}]\s?(?:>|→)\s?[{_BASE}]"),
    ("GeneVariant", ("del", "ins", "dup"), r"(?<![\w.])\d+(?:[_-]\d+)?(?:del|ins|dup)[ACGT]{1,12}(?![\w])"),
    ("GeneVariant", ("Δ", "∆"), rf"[Δ∆][{_ONE}]\d{{2,4}}\b"),
    ("ClinicalTrial", ("NCT",), r"\bNCT\s?0\d{7}\b"),
    ("ClinicalTrial", ("ISRCTN",), r"\bISRCTN\s?\d{8}\b"),
    ("ClinicalTrial", ("-00",), r"\b(?:EudraCT\s?(?:number|no\.?)?:?\s?)?20\d{2}-\d{6}-\d{2}\b"),
    ("ClinicalTrial", ("ChiCTR",), r"\bChiCTR(?:-[A-Z]{2,4})?-?\d{8,10}\b"),
    ("ClinicalTrial", ("ACTRN",), r"\bACTRN\s?\d{14}\b"),
    ("ClinicalTrial", ("UMIN",), r"\bUMIN\s?0\d{8}\b"),
    ("ClinicalTrial", ("CTRI/",), r"\bCTRI/\d{4}/\d{2,3}/\d{6}\b"),
    (
        "RNA",
        ("miR", "mir", "MIR", "miRNA", "microRNA"),
        r"\b(?:[a-z]{3}-)?(?:miR|miRNA|microRNA|mir|MIR)-?\s?\d{1,5}[a-z]?(?:[-*](?:[35]p|\d))*\b",
    ),
    ("RNA", ("let-7",), r"\b(?:[a-z]{3}-)?let-7[a-k]?(?:-[35]p)?\b"),
]
_PATTERNS = [(kind, signs, re.compile(pattern)) for kind, signs, pattern in _GRAMMAR]
_DIGIT = re.compile(r"\d")
#: A capital or an amino acid before a position: without it the rules that have no sign cannot fit.
_CODE = re.compile(r"[A-Z](?:[a-z]{2})?[-\s+(]{0,3}[1-9]")

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
    found: dict[tuple[int, int], Found] = {}
    coded = bool(_CODE.search(text))
    for kind, signs, pattern in _PATTERNS:
        if not (any(sign in text for sign in signs) if signs else coded):
            continue
        for match in pattern.finditer(text):
            surface = match.group()
            if kind == "GeneVariant" and _NOT_VARIANTS.fullmatch(surface):
                continue
            start, end = _trim(text, match.start(), match.end())
            found.setdefault((start, end), Found(start, end, kind, canonical(text[start:end], kind)))
    return _outermost(sorted(found.values()))


def _outermost(found: list[Found]) -> list[Found]:
    """Several rules can see one variant; the longest reading stays."""
    kept: list[Found] = []
    for item in sorted(found, key=lambda item: (item.start - item.end, item.start)):
        if all(item.end <= other.start or item.start >= other.end for other in kept):
            kept.append(item)
    return sorted(kept)


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
