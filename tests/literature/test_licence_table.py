"""The table of licence classes: every paper counted once, refused files counted, the policy beside them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from starling_assets.literature.licence_table import LicenceRow, licence_rows, refused_files
from starling_assets.literature.licences import CLASSES, REDISTRIBUTABLE

from .papers_on_disk import LIMITS, article, citation, citation_set, read_all, write

RESERVED = "<license><license-p>All rights reserved.</license-p></license>"


def doi(number: int) -> str:
    return f'<article-id pub-id-type="doi">10.5555/x.{number}</article-id>'


def table(folder: Path) -> dict[str, LicenceRow]:
    files = [
        write(folder, "a.nxml", article(ids=doi(1))),
        write(folder, "b.nxml", article(ids=doi(2))),
        write(folder, "closed.nxml", article(ids=doi(3), permissions=RESERVED)),
        write(
            folder, "c.xml", citation_set(citation(11, inside="<Abstract><AbstractText>A.</AbstractText></Abstract>"))
        ),
        write(folder, "junk.bin", b"\x00\x01"),
    ]
    _, papers, reports = read_all(files)
    frame = pl.DataFrame([{"status": row["status"], "reason": row["reason"]} for row in reports.values()])
    return {row.licence: row for row in licence_rows(papers.papers, frame, LIMITS.licences)}


def test_every_class_has_a_row_and_every_paper_is_counted_once(tmp_path: Path) -> None:
    rows = table(tmp_path)
    assert tuple(rows) == CLASSES
    assert {name: row.papers for name, row in rows.items() if row.papers} == {"CC-BY": 2, "UNKNOWN": 1}


def test_a_file_refused_for_its_licence_is_counted_and_other_refusals_are_not(tmp_path: Path) -> None:
    rows = table(tmp_path)
    assert {name: row.set_aside for name, row in rows.items() if row.set_aside} == {"ALL-RIGHTS-RESERVED": 1}


def test_the_policy_of_the_settings_and_of_the_class_stand_beside_the_counts(tmp_path: Path) -> None:
    rows = table(tmp_path)
    assert {name for name, row in rows.items() if row.ingest} == set(LIMITS.licences)
    assert {name for name, row in rows.items() if row.redistribute} == set(REDISTRIBUTABLE)


def test_the_evidence_is_that_of_the_example(tmp_path: Path) -> None:
    rows = table(tmp_path)
    assert rows["CC-BY"].example == "doi:10.5555/x.1"
    assert "creativecommons.org/licenses/by/4.0" in (rows["CC-BY"].evidence or "")
    assert rows["UNKNOWN"].example == "pmid:11"
    assert rows["CC0"].example is None


def test_a_class_of_an_unknown_name_is_not_lost() -> None:
    papers = pl.DataFrame({"paper_id": ["pmid:1"], "licence": ["SOMETHING"], "licence_evidence": ["words"]})
    rows = licence_rows(papers, pl.DataFrame(schema={"status": pl.String, "reason": pl.String}), [])
    assert [(row.licence, row.papers) for row in rows if row.papers] == [("UNKNOWN", 1)]


def test_reasons_that_only_mention_a_licence_are_not_counted() -> None:
    files = pl.DataFrame(
        {
            "status": ["set_aside", "ok", "set_aside"],
            "reason": ["damaged: licence class X", "licence class CC0 is not among literature.licences: x", None],
        }
    )
    assert refused_files(files) == {}
