"""Looking a paper up over shards: identifiers in any form, all its versions, the notices that retract it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.literature.history import READ, find_versions, read_identifier, retraction_notices
from starling_assets.literature.versions import standing

from .papers_on_disk import article, citation, citation_set, read_all, write

ABSTRACT = "<Abstract><AbstractText>An abstract.</AbstractText></Abstract>"
DELETION = "<DeleteCitation><PMID Version='1'>{}</PMID></DeleteCitation>"
NOTICE = (
    "<CommentsCorrectionsList><CommentsCorrections RefType='RetractionOf'><RefSource>J</RefSource>"
    "<PMID Version='1'>{}</PMID></CommentsCorrections></CommentsCorrectionsList>"
)


def corpus(folder: Path, *contents: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """PAPERS of one shard per content, named s0, s1 …, and their standing."""
    shards = []
    for number, content in enumerate(contents):
        _, papers, _ = read_all([write(folder, f"s{number}.xml", content)])
        shards.append((f"s{number}", papers.papers.select(READ)))
    named = [frame.with_columns(pl.lit(shard).alias("shard")) for shard, frame in shards]
    return pl.concat(named), standing(shards)


def states(versions: pl.DataFrame) -> list[tuple[str, bool, str | None, str | None]]:
    return list(versions.select("shard", "current", "reason", "superseded_by").iter_rows())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("12345", ("pmid", "12345")),
        (" pmid:12345 ", ("pmid", "12345")),
        ("PMID: 12345", ("pmid", "12345")),
        ("pmc77", ("pmcid", "PMC77")),
        ("pmcid:PMC77", ("pmcid", "PMC77")),
        ("PMC77.2", ("pmcid", "PMC77")),
        ("10.5555/X.1", ("doi", "10.5555/x.1")),
        ("doi:10.5555/x.1", ("doi", "10.5555/x.1")),
        ("https://doi.org/10.5555/x.1", ("doi", "10.5555/x.1")),
        ("sha256:" + "a" * 64, ("paper_id", "sha256:" + "a" * 64)),
    ],
)
def test_an_identifier_is_read_in_any_of_its_forms(text: str, found: tuple[str, str]) -> None:
    assert read_identifier(text) == found


@pytest.mark.parametrize("text", ["", "aspirin", "10.5555", "PMC", "sha256:12", "-1", "1; drop table papers"])
def test_anything_else_is_refused_with_the_forms_there_are(text: str) -> None:
    with pytest.raises(ValueError, match="PMCID"):
        read_identifier(text)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        column, value = read_identifier(text)
    except ValueError:
        return
    assert column in {"pmid", "pmcid", "doi", "paper_id"}
    assert value


def test_the_newer_version_counts_and_the_older_says_where_it_is(tmp_path: Path) -> None:
    papers, stands = corpus(
        tmp_path,
        citation_set(citation(11, inside=ABSTRACT), citation(12, inside=ABSTRACT)),
        citation_set(citation(11, "A better title.", version=2, inside=ABSTRACT)),
    )
    versions = find_versions("pmid", "11", papers, stands)
    assert states(versions) == [("s0", False, "newer version", "s1"), ("s1", True, None, None)]
    assert versions["title"].to_list() == ["A title.", "A better title."]


def test_a_deleted_paper_has_no_version_that_counts(tmp_path: Path) -> None:
    papers, stands = corpus(tmp_path, citation_set(citation(11, inside=ABSTRACT)), citation_set(DELETION.format(11)))
    versions = find_versions("pmid", "11", papers, stands)
    assert not versions["current"].any()
    assert versions["reason"].to_list() == ["deleted", "tombstone"]


def test_versions_under_another_identifier_are_found_from_either(tmp_path: Path) -> None:
    both = '<article-id pub-id-type="pmid">11</article-id><article-id pub-id-type="doi">10.5555/x.1</article-id>'
    papers, stands = corpus(tmp_path, article(), article(ids=both, title="With a PMID"))
    by_pmid = find_versions("pmid", "11", papers, stands)
    assert by_pmid["shard"].to_list() == ["s0", "s1"]
    assert by_pmid.equals(find_versions("doi", "10.5555/x.1", papers, stands))


def test_a_retraction_names_its_notice(tmp_path: Path) -> None:
    papers, stands = corpus(
        tmp_path,
        citation_set(citation(11, inside=ABSTRACT), citation(12, inside=ABSTRACT)),
        citation_set(citation(20, "Retraction.", more=NOTICE.format(11), inside=ABSTRACT)),
    )
    versions = find_versions("pmid", "11", papers, stands)
    assert versions["retracted"].to_list() == [True]
    assert retraction_notices(versions, papers) == ["20"]
    sound = find_versions("pmid", "12", papers, stands)
    assert sound["retracted"].to_list() == [False]
    assert retraction_notices(sound, papers) == []


def test_an_unknown_paper_has_no_versions(tmp_path: Path) -> None:
    papers, stands = corpus(tmp_path, citation_set(citation(11, inside=ABSTRACT)))
    assert find_versions("pmid", "99", papers, stands).is_empty()
