"""`starling paper` and `starling licences` over shards read and a task run before; one clear line for each mistake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from starling_assets.artifacts.store import Store, empty
from starling_assets.cli.app import app
from starling_assets.datasets.tables import JUDGED
from starling_assets.extraction.tables import COVERAGE, RECORDS
from starling_assets.literature.shards import ShardBook
from starling_assets.literature.tables import FILES, PAPERS
from starling_assets.settings import load_settings
from tests.literature.papers_on_disk import article, citation, citation_set, read_all, write

ABSTRACT = "<Abstract><AbstractText>An abstract [of] sorts.</AbstractText></Abstract>"
NOTICE = (
    "<CommentsCorrectionsList><CommentsCorrections RefType='RetractionOf'><RefSource>J</RefSource>"
    "<PMID Version='1'>11</PMID></CommentsCorrections></CommentsCorrectionsList>"
)
SHARDS = {
    "one": citation_set(citation(11, "The [old] title.", inside=ABSTRACT), citation(12, inside=ABSTRACT)),
    "two": citation_set(citation(11, "The [new] title.", version=2, inside=ABSTRACT)),
    "three": citation_set(
        citation(20, "Retraction.", more=NOTICE, inside=ABSTRACT),
        "<DeleteCitation><PMID Version='1'>12</PMID></DeleteCitation>",
    ),
    "four": article(ids='<article-id pub-id-type="pmc">PMC77</article-id>'),
}


@pytest.fixture
def project(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tables wide enough that no cell wraps."""
    monkeypatch.setenv("COLUMNS", "220")
    return project


@pytest.fixture
def corpus(project: Path) -> Path:
    """Four shards closed one after the other; the task bbb has read the first two."""
    settings = load_settings(project)
    store, book = Store(settings.store_root), ShardBook(settings.home)
    incoming = project / "incoming"
    incoming.mkdir()
    for key, content in SHARDS.items():
        source = write(incoming, f"{key}.xml", content)
        book.close([source.path], key=key)
        citations, papers, _ = read_all([source])
        files = citations.files if citations.files.height else papers.files
        store.write(papers.papers, "papers", key, schema=PAPERS)
        store.write(files, "papers", key, table="files", schema=FILES)
    for shard, paper, windows, ok in (("one", "pmid:11", 3, 2), ("one", "pmid:12", 9, 8), ("two", "pmid:11", 4, 1)):
        row = {"paper_id": paper, "windows": windows, "ok": ok, "empty": 1, "failed": windows - ok - 1, "pending": 0}
        path = store.path("raw_extractions", "bbb", shard, table="coverage")
        earlier = pl.read_parquet(path) if path.exists() else empty(COVERAGE)
        added = pl.DataFrame([row | {"status": "partial", "reasons": []}], schema=COVERAGE)
        store.write(pl.concat([earlier, added]), "raw_extractions", "bbb", shard, table="coverage")
    for shard, papers_of_records in (("one", ["pmid:11", "pmid:12"]), ("two", ["pmid:11", "pmid:11"])):
        store.write(blank(RECORDS, papers_of_records, shard), "raw_extractions", "bbb", shard)
    store.write(blank(JUDGED, ["pmid:11", "pmid:11"], "two"), "judged_dataset", "bbb", table="judged")
    store.write(blank(JUDGED, ["pmid:11"], "two"), "judged_dataset", "bbb")
    return project


def blank(schema: Any, papers: list[str], shard: str) -> pl.DataFrame:
    """Rows that say no more than their paper and shard."""
    rows = [{"paper_id": paper, "shard": shard} for paper in papers]
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), catch_exceptions=True)


def shown(*arguments: str) -> Any:
    result = call(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def test_the_history_names_the_version_that_counts_and_the_retraction(corpus: Path) -> None:
    paper = shown("paper", "11")
    assert [(row["shard"], row["reason"]) for row in paper["versions"]] == [("one", "newer version"), ("two", None)]
    assert paper["current"]["title"] == "The [new] title."
    assert paper["retracted"]
    assert paper["retraction_notices"] == ["20"]


def test_each_task_says_what_it_read_of_each_version_and_kept(corpus: Path) -> None:
    uses = {use["shard"]: use for use in shown("paper", "pmid:11")["used_by"]}
    assert uses["one"] == {
        "task": "bbb", "shard": "one", "windows": 3, "windows_read": 3, "windows_failed": 0, "records": 1, "judged": 0,
        "kept": 0,
    }  # fmt: skip
    assert (uses["two"]["windows_read"], uses["two"]["windows_failed"]) == (2, 2)
    assert (uses["two"]["records"], uses["two"]["judged"], uses["two"]["kept"]) == (2, 2, 1)


def test_a_deleted_paper_keeps_its_history(corpus: Path) -> None:
    paper = shown("paper", "12")
    assert paper["current"] is None
    assert [row["reason"] for row in paper["versions"]] == ["deleted", "tombstone"]
    assert "the paper was deleted" in call("paper", "12").output


def test_the_table_prints_titles_as_they_are(corpus: Path) -> None:
    text = call("paper", "11").output
    assert "The [new] title." in text  # square brackets are no markup
    assert "RETRACTED by pmid:20" in text
    assert "newer version in two" in text
    assert "bbb" in text


def test_a_paper_that_no_task_read(corpus: Path) -> None:
    assert "no task has read it" in call("paper", "PMC77").output
    assert shown("paper", "pmc77")["used_by"] == []


@pytest.mark.parametrize(
    ("identifier", "message"), [("99", "no shard"), ("aspirin", "is no PMID"), ("[x]", "[x]"), ("[/x]", "[/x]")]
)
def test_a_paper_that_is_not_there_is_one_line(corpus: Path, identifier: str, message: str) -> None:
    result = call("paper", identifier)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert message in " ".join(result.output.split())


def test_before_any_shard_there_is_no_paper_and_no_licence(project: Path) -> None:
    assert call("paper", "11").exit_code == 1
    assert sum(row["papers"] for row in shown("licences")) == 0


def test_licences_count_papers_that_stand_once(corpus: Path) -> None:
    rows = {row["licence"]: row for row in shown("licences")}
    assert {name: row["papers"] for name, row in rows.items() if row["papers"]} == {"CC-BY": 1, "UNKNOWN": 2}
    assert rows["CC-BY"]["redistribute"]
    assert not rows["UNKNOWN"]["redistribute"]
    assert not rows["ALL-RIGHTS-RESERVED"]["ingest"]


def test_licences_follow_the_settings(corpus: Path) -> None:
    (corpus / "starling.toml").write_text('[literature]\nlicences = ["CC0"]\n')
    assert [row["licence"] for row in shown("licences") if row["ingest"]] == ["CC0"]
    text = call("licences").output
    assert "short quotations" in text
    assert "creativecommons.org/licenses/by/4.0" in text


def test_words_of_a_file_are_no_markup_in_the_list_of_files_set_aside(corpus: Path) -> None:
    store = Store(load_settings(corpus).store_root)
    row = {"file": "a[b].xml", "sha256": "", "kind": "jats", "status": "set_aside", "reason": "licence: [/red] [all]"}
    files = pl.DataFrame([row | {"papers": 0, "seconds": 0.0}], schema=FILES)
    store.write(files, "papers", "four", table="files", schema=FILES)
    result = call("status")
    assert result.exit_code == 0, result.output
    assert "a[b].xml" in result.output
    assert "[/red] [all]" in result.output
