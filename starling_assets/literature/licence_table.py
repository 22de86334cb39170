"""What a corpus may be used for: papers and files by licence class, beside what the settings and the class permit."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from .licences import CLASSES, REDISTRIBUTABLE

_REFUSED = re.compile(r"^licence class (\S+) is not among literature\.licences")


@dataclass(frozen=True, slots=True)
class LicenceRow:
    """One licence class of :data:`~starling_assets.literature.licences.CLASSES`.

    ``papers`` counts those that stand, ``set_aside`` the files the policy refused. ``ingest``: papers of the class are
    read at all. ``redistribute``: the class lets whole texts be handed on; of the others only short quotations.
    ``evidence`` are the words that one paper, ``example``, was classified by.
    """

    licence: str
    papers: int
    set_aside: int
    ingest: bool
    redistribute: bool
    example: str | None
    evidence: str | None


def licence_rows(papers: pl.DataFrame, files: pl.DataFrame, permitted: Collection[str]) -> list[LicenceRow]:
    """One row per class, the freest first, also for classes that no paper has.

    ``papers``: rows of PAPERS that stand (columns ``paper_id``, ``licence``, ``licence_evidence``). ``files``: FILES of
    all shards. ``permitted``: the classes of the setting ``literature.licences``. A class nobody knows counts as the
    class ``UNKNOWN``.
    """
    known = papers.with_columns(
        pl.when(pl.col("licence").is_in(list(CLASSES))).then("licence").otherwise(pl.lit("UNKNOWN")).alias("licence")
    )
    counts = dict(known.group_by("licence").len().iter_rows())
    samples = {
        licence: (paper_id, evidence)
        for licence, paper_id, evidence in known.filter(pl.col("licence_evidence").str.len_chars() > 0)
        .sort("paper_id")
        .unique("licence", keep="first", maintain_order=True)
        .select("licence", "paper_id", "licence_evidence")
        .iter_rows()
    }
    refused = refused_files(files)
    return [
        LicenceRow(
            licence,
            counts.get(licence, 0),
            refused.get(licence, 0),
            licence in permitted,
            licence in REDISTRIBUTABLE,
            *samples.get(licence, (None, None)),
        )
        for licence in CLASSES
    ]


def refused_files(files: pl.DataFrame) -> dict[str, int]:
    """Licence class -> files that were set aside because the settings do not permit it. ``files``: FILES rows."""
    found: dict[str, int] = {}
    for reason in files.filter(pl.col("status") == "set_aside")["reason"].drop_nulls():
        match = _REFUSED.match(reason)
        if match:
            found[match.group(1)] = found.get(match.group(1), 0) + 1
    return found
