"""Reads the gene cell of a table, also one that a spreadsheet turned into a date (FC-05, F43).

``1-Mar`` was MARCH1 or MARC1: the way back is not a function. A date is read as a gene only when other cells of its row
decide; otherwise all candidates come back and none is chosen. This is for cells: prose is never read this way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

import polars as pl

from starling_assets.ontology.folding import fold

_MONTHS = {
    "jan": ("JAN",),
    "feb": ("FEB",),
    "mar": ("MARCH", "MARC", "MAR"),
    "apr": ("APR",),
    "may": ("MAY",),
    "jun": ("JUN",),
    "jul": ("JUL",),
    "aug": ("AUG",),
    "sep": ("SEPT", "SEP"),
    "oct": ("OCT",),
    "nov": ("NOV",),
    "dec": ("DEC",),
}
_NUMBERS = list(_MONTHS)
_DAY_MONTH = re.compile(r"(?P<day>\d{1,2})[-/ ](?P<month>[A-Za-z]{3})[a-z]*\.?(?:[-/ ]\d{2,4})?", re.IGNORECASE)
_MONTH_DAY = re.compile(r"(?P<month>[A-Za-z]{3})[a-z]*\.?[-/ ](?P<day>\d{1,2})(?:[-/, ]+\d{4})?", re.IGNORECASE)
_ISO = re.compile(r"\d{4}[-/](?P<number>\d{2})[-/](?P<day>\d{2})(?:[T ]00:00(?::00)?)?")
_CHROMOSOME = re.compile(r"\bchr(?:omosome)?\s?(?P<name>\d{1,2}|[XY])\b", re.IGNORECASE)
_GENE_ID = re.compile(r"(?:Gene\s?ID|Entrez)\W{0,3}(?P<id>\d+)", re.IGNORECASE)
_ACCESSION = re.compile(r"\b(?P<id>[OPQ]\d[A-Z0-9]{3}\d|[A-NR-Z]\d[A-Z][A-Z0-9]{2}\d(?:[A-Z][A-Z0-9]{2}\d)?)\b")
_SYMBOL = re.compile(r"symbol\W{0,3}(?P<id>[A-Za-z][\w-]*)", re.IGNORECASE)
_VIA = {"symbol": 0, "preferred": 0, "exact": 1, "previous": 1, "related": 2}


@dataclass(frozen=True)
class GeneCandidate:
    """A gene that the cell can mean. ``via``: what kind of name it is found by (symbol, previous, related)."""

    concept_id: str
    symbol: str
    via: str


@dataclass(frozen=True)
class GeneReading:
    """``raw`` is the cell as found. ``chosen`` is None when nothing decides; ``conflicts`` name cells that disagree."""

    raw: str
    chosen: GeneCandidate | None
    candidates: tuple[GeneCandidate, ...]
    reason: str
    conflicts: tuple[str, ...] = ()


def spreadsheet_date(cell: str) -> list[str]:
    """Symbols that a spreadsheet shows as this date; empty when the cell is no date."""
    text = cell.strip()
    match = _DAY_MONTH.fullmatch(text) or _MONTH_DAY.fullmatch(text)
    if match:
        stems = _MONTHS.get(match.group("month").lower(), ())
    else:
        match = _ISO.fullmatch(text)
        number = int(match.group("number")) if match else 0
        stems = _MONTHS[_NUMBERS[number - 1]] if 1 <= number <= 12 else ()
    return [f"{stem}{int(match.group('day'))}" for stem in stems] if match else []


class GeneCells:
    """Gene names, previous symbols, aliases and cross-references of one release (HGNC)."""

    def __init__(self, concepts: pl.DataFrame, names: pl.DataFrame) -> None:
        current = concepts.filter(~pl.col("obsolete") & (pl.col("entity_type") == "Gene"))
        self._symbols = dict(current.select("concept_id", "name").iter_rows())
        self._names: dict[str, dict[str, str]] = {}
        self._xrefs: dict[str, str] = {}
        for concept_id, name, kind in names.sort("concept_id", "name", "kind").iter_rows():
            if concept_id not in self._symbols:
                continue
            if kind == "xref":
                self._xrefs[name] = concept_id
                continue
            known = self._names.setdefault(fold(name), {})
            if _VIA.get(kind, 2) <= _VIA.get(known.get(concept_id, ""), 3):
                known[concept_id] = kind

    def read(self, cell: str, others: Iterable[str] = ()) -> GeneReading:
        """The gene of ``cell``, given the ``others`` of its row. The raw cell is always kept."""
        dated = spreadsheet_date(cell)
        candidates = self._candidates(dated or [cell])
        row = "; ".join(others)
        stated = self._stated(row)
        if stated:
            return self._from_identifiers(cell, candidates, stated, row)
        located = self._on_chromosome(candidates, row)
        if len(located) == 1:
            return GeneReading(cell, located[0], candidates, "the chromosome of the row decides")
        if dated:
            return GeneReading(cell, None, candidates, "a date in place of a gene, and nothing in the row decides")
        return self._from_symbol(cell, candidates)

    def _from_identifiers(
        self, cell: str, candidates: tuple[GeneCandidate, ...], stated: dict[str, str], row: str
    ) -> GeneReading:
        genes = sorted(set(stated.values()))
        if len(genes) > 1:
            conflicts = tuple(f"{identifier} is {self._symbols[gene]}" for identifier, gene in sorted(stated.items()))
            return GeneReading(cell, None, candidates, "the identifiers of the row disagree", conflicts)
        gene = genes[0]
        chosen = next((item for item in candidates if item.concept_id == gene), None)
        chosen = chosen or GeneCandidate(gene, self._symbols[gene], "xref")
        conflicts = tuple(
            f"symbol {match.group('id')} is not {chosen.symbol}"
            for match in _SYMBOL.finditer(row)
            if gene not in self._names.get(fold(match.group("id")), {})
        )
        listed = candidates if chosen in candidates else (chosen, *candidates)
        return GeneReading(cell, chosen, listed, f"{' and '.join(sorted(stated))} of the row decide", conflicts)

    def _from_symbol(self, cell: str, candidates: tuple[GeneCandidate, ...]) -> GeneReading:
        if not candidates:
            return GeneReading(cell, None, (), "no gene has this name")
        best = [item for item in candidates if _VIA[item.via] == _VIA[candidates[0].via]]
        if len(best) > 1:
            return GeneReading(cell, None, candidates, "several genes have this name")
        return GeneReading(cell, best[0], candidates, f"{best[0].via} symbol" if best[0].via != "symbol" else "symbol")

    def _candidates(self, written: Sequence[str]) -> tuple[GeneCandidate, ...]:
        found = {
            concept_id: GeneCandidate(concept_id, self._symbols[concept_id], kind)
            for name in reversed(written)
            for concept_id, kind in self._names.get(fold(name), {}).items()
        }
        return tuple(sorted(found.values(), key=lambda item: (_VIA.get(item.via, 2), item.symbol)))

    def _stated(self, row: str) -> dict[str, str]:
        keys = [f"NCBIGene:{match.group('id')}" for match in _GENE_ID.finditer(row)]
        keys += [f"UniProt:{match.group('id')}" for match in _ACCESSION.finditer(row)]
        return {key: self._xrefs[key] for key in keys if key in self._xrefs}

    @staticmethod
    def _on_chromosome(candidates: Sequence[GeneCandidate], row: str) -> list[GeneCandidate]:
        wanted = {match.group("name").upper() for match in _CHROMOSOME.finditer(row)}
        return [item for item in candidates if _chromosomes().get(item.concept_id) in wanted]


@lru_cache(maxsize=1)
def _chromosomes() -> dict[str, str]:
    """Chromosome of the genes whose names turn into dates, per HGNC id."""
    text = (
        resources.files("starling_assets.ontology").joinpath("vocabulary/date_gene_chromosomes.tsv").read_text("utf-8")
    )
    rows = [line.split("\t") for line in text.splitlines()[1:]]
    return {concept_id: chromosome for concept_id, _, chromosome in rows}
