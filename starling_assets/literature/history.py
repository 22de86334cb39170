"""The history of one paper over all shards: every stored version, which of them counts, and what was said of it."""

from __future__ import annotations

import re

import polars as pl

#: What :func:`find_versions` gives: a row per stored version, in the order in which the shards were closed.
HISTORY: dict[str, pl.DataType | type[pl.DataType]] = {
    "shard": pl.String,
    "paper_id": pl.String,
    "pmid": pl.String,
    "pmcid": pl.String,
    "doi": pl.String,
    "version": pl.UInt32,
    "title": pl.String,
    "journal": pl.String,
    "source_kind": pl.String,
    "source_file": pl.String,
    "licence": pl.String,
    "licence_evidence": pl.String,
    "blocks": pl.UInt32,
    "paragraphs": pl.UInt32,
    "current": pl.Boolean,
    "reason": pl.String,  # why it does not count, see STANDING
    "superseded_by": pl.String,
    "retracted": pl.Boolean,
}
#: Columns of PAPERS that this module and :func:`starling_assets.literature.versions.standing` read.
READ = [
    "paper_ordinal", "paper_id", "pmid", "pmcid", "doi", "version", "title", "journal", "source_kind", "source_file",
    "licence", "licence_evidence", "blocks", "paragraphs", "retracted", "retracts", "deleted",
]  # fmt: skip

_PMID = re.compile(r"(?:pmid:)?\s*(\d{1,9})", re.IGNORECASE)
_PMCID = re.compile(r"(?:pmcid:)?\s*(PMC\d{1,9})(?:\.\d+)?", re.IGNORECASE)
_DOI = re.compile(r"(?:doi:|https?://(?:dx\.)?doi\.org/)?\s*(10\.\d{4,9}/\S+)", re.IGNORECASE)
_FILE = re.compile(r"sha256:[0-9a-f]{64}")


def read_identifier(text: str) -> tuple[str, str]:
    """The column of PAPERS that ``text`` is looked up in, and the value as stored there.

    Takes a PMID, a PMCID, a DOI (also as a link) or a ``paper_id``. Raises ValueError with a line for a person.
    """
    text = text.strip()
    if match := _PMID.fullmatch(text):
        return "pmid", match.group(1).lstrip("0") or "0"
    if match := _PMCID.fullmatch(text):
        return "pmcid", match.group(1).upper()
    if match := _DOI.fullmatch(text):
        return "doi", match.group(1).lower()
    if _FILE.fullmatch(text):
        return "paper_id", text
    raise ValueError(f"{text!r} is no PMID (12345678), PMCID (PMC1234567), DOI (10.1000/xyz) or paper_id (sha256:…)")


def find_versions(column: str, value: str, papers: pl.DataFrame, standing: pl.DataFrame) -> pl.DataFrame:
    """All stored versions (HISTORY) of the paper that ``column`` (of :func:`read_identifier`) names by ``value``.

    ``papers``: columns READ of PAPERS with ``shard``; ``standing``: STANDING of the same shards. Versions stored under
    another identifier of the same paper are found too. Empty when no shard knows it.
    """
    stored = papers.drop("paper_id", "retracted", "deleted")  # a notice in another shard may retract it
    rows = standing.join(stored, on=["shard", "paper_ordinal"], how="inner", maintain_order="left")
    wanted = pl.col(column).str.to_lowercase() == value if column == "doi" else pl.col(column) == value
    named = rows.filter(wanted)["canonical_id"].unique().implode()
    return rows.filter(pl.col("canonical_id").is_in(named)).select(
        pl.col(name).cast(dtype) for name, dtype in HISTORY.items()
    )


def retraction_notices(versions: pl.DataFrame, papers: pl.DataFrame) -> list[str]:
    """PMIDs, sorted, of the stored notices that retract one of ``versions`` (HISTORY)."""
    pmids = versions["pmid"].drop_nulls().unique().to_list()
    if not pmids:
        return []
    notices = papers.filter(pl.col("retracts").list.eval(pl.element().is_in(pmids)).list.any())
    return sorted(notices["pmid"].drop_nulls().unique().to_list())
