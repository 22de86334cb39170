"""What the words around a mention say: gene or protein, which species, whether a short code is a cell line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

_GENE_AFTER = re.compile(
    r"\W{0,3}(?:gene|genes|mRNA|mRNAs|allele|alleles|locus|loci|promoter|transcript|transcripts|polymorphism|"
    r"polymorphisms|SNP|SNPs|variant|variants|mutation|mutations|genotype|genotypes|exon|knock-?out|deletion|"
    r"haplotype|cDNA|deficient|null|mutant|mutants|-/-|\+/-)\b",
    re.IGNORECASE,
)
_GENE_BEFORE = re.compile(
    r"(?:\bgenes?|\ballele|\bpolymorphisms? (?:of|in)|\bmutations? (?:of|in)|\bdeletion of|\btranscription of"
    r"|\bmRNA of|\bvariants? (?:of|in))"
    r"(?: the)?\W{1,2}$",
    re.IGNORECASE,
)
_ANY_CUE = re.compile(
    r"\b(?:gene|protein|express\w*|mRNA|receptors?|kinase|levels?|signal\w*|pathway|antibod\w+|mutat\w+|knock\w*|"
    r"transcript\w*|inhibit\w*|activat\w*|phosphorylat\w*|polymorphism|allele|subunit|ligand|domain|enzyme)\b",
    re.IGNORECASE,
)
_CELL_CUE = re.compile(r"[\w\s/,()+-]{0,24}?\bcell(?:s|ular|\b)|\W{0,2}line", re.IGNORECASE)
_CELL_BEFORE = re.compile(r"\bcell lines?\W{1,3}(?:[\w-]+\W{1,6}){0,6}$", re.IGNORECASE)


class SpeciesMention(NamedTuple):
    """An organism named at ``start:end`` of a paragraph."""

    start: int
    end: int
    taxon: str


def gene_rather_than_protein(text: str, start: int, end: int) -> bool:
    """Whether the neighbouring words speak of a gene. Without a sign a symbol is read as the protein."""
    return bool(_GENE_AFTER.match(text, end) or _GENE_BEFORE.search(text, max(0, start - 30), start))


def has_gene_cue(text: str, start: int, end: int) -> bool:
    """Whether words of molecular biology stand near: needed before a short alias is believed."""
    return bool(_ANY_CUE.search(text, max(0, start - 40), start) or _ANY_CUE.search(text, end, end + 40))


def has_cell_cue(text: str, start: int, end: int) -> bool:
    """Whether "cells" or "cell line" stands next to a code."""
    return bool(_CELL_CUE.match(text, end) or _CELL_BEFORE.search(text, max(0, start - 60), start))


def species_of(
    position: int, in_paragraph: Sequence[SpeciesMention], in_paper: Counter[str], wanted: Collection[str]
) -> str | None:
    """Taxon, out of ``wanted``, that a gene at ``position`` belongs to; None when the paper gives no hint.

    The nearest organism named before it in the paragraph, else the next one after it, else the most frequent one of
    the paper. Ties go to the smaller id, so that the answer does not depend on any order.
    """
    usable = [mention for mention in in_paragraph if mention.taxon in wanted]
    before = [mention for mention in usable if mention.end <= position]
    if before:
        return max(before, key=lambda mention: mention.end).taxon
    if usable:
        return min(usable, key=lambda mention: mention.start).taxon
    counts = [(-count, taxon) for taxon, count in in_paper.items() if taxon in wanted]
    return min(counts)[1] if counts else None
