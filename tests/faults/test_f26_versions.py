"""F26: updates of PubMed. The newest version wins, deletions mask, a retraction is a flag; closed shards stay."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.literature.tables import PAPERS
from starling_assets.literature.versions import STANDING, standing
from tests.literature.papers_on_disk import article, citation, citation_set, read_all, write

ABSTRACT = "<Abstract><AbstractText>Words.</AbstractText></Abstract>"
RETRACTED = (
    '<PublicationTypeList><PublicationType UI="D016441">Retracted Publication</PublicationType></PublicationTypeList>'
)


class Shards:
    """Shards made from files, closed one after another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.papers: list[tuple[str, pl.DataFrame]] = []

    def close(self, key: str, **files: str) -> pl.DataFrame:
        sources = [write(self.folder, f"{key}-{name}.xml", content) for name, content in files.items()]
        _, papers, reports = read_all(sources)
        assert all(report["status"] == "ok" for report in reports.values()), reports
        self.papers.append((key, papers.papers))
        return papers.papers

    def of(self, paper_id: str) -> dict[str, dict]:
        rows = standing(self.papers).filter(pl.col("canonical_id") == paper_id)
        return {row["shard"]: row for row in rows.iter_rows(named=True)}

    def current(self) -> dict[str, str]:
        rows = standing(self.papers).filter("current")
        return dict(rows.select("canonical_id", "shard").iter_rows())


@pytest.fixture
def shards(tmp_path) -> Shards:
    return Shards(tmp_path)


def deletion(*pmids: int) -> str:
    return citation_set(
        "<DeleteCitation>" + "".join(f'<PMID Version="1">{n}</PMID>' for n in pmids) + "</DeleteCitation>"
    )


def test_the_newest_version_wins(shards):
    shards.close("base", a=citation_set(citation(1, "Old."), citation(2)))
    shards.close("update", a=citation_set(citation(1, "New.", version=2)))
    assert shards.current() == {"pmid:1": "update", "pmid:2": "base"}
    old = shards.of("pmid:1")["base"]
    assert (old["reason"], old["superseded_by"]) == ("newer version", "update")


def test_an_older_version_that_arrives_late_does_not_win(shards):
    shards.close("first", a=citation_set(citation(1, version=3)))
    shards.close("late", a=citation_set(citation(1, version=2)))
    assert shards.current() == {"pmid:1": "first"}


def test_the_same_version_again_is_the_later_one(shards):
    shards.close("base", a=citation_set(citation(1, "A first title.")))
    shards.close("update", a=citation_set(citation(1, "A corrected title.")))
    assert shards.current() == {"pmid:1": "update"}


def test_within_one_shard_only_the_newest_is_a_paper(shards):
    papers = shards.close(
        "update",
        a=citation_set(citation(1, "Old."), citation(1, "New.", version=2)),
        b=citation_set(citation(1, "Old.")),
    )
    assert papers.select("paper_id", "version", "title").rows() == [("pmid:1", 2, "New.")]


def test_a_full_text_is_not_masked_by_a_revised_abstract(shards):
    shards.close("drop", a=article(ids='<article-id pub-id-type="pmid">1</article-id>'))
    shards.close("update", a=citation_set(citation(1, inside=ABSTRACT)))
    assert shards.current() == {"pmid:1": "drop"}
    assert shards.of("pmid:1")["update"]["reason"] == "better source"


def test_a_deletion_masks_what_came_before_it(shards):
    shards.close("base", a=citation_set(citation(1), citation(2)))
    shards.close("update", a=deletion(1))
    assert shards.current() == {"pmid:2": "base"}
    rows = shards.of("pmid:1")
    assert (rows["base"]["reason"], rows["update"]["reason"]) == ("deleted", "tombstone")
    assert rows["base"]["superseded_by"] is None


def test_a_deletion_in_the_same_file_and_of_an_unknown_paper(shards):
    papers = shards.close(
        "update",
        a=citation_set(citation(1), citation(2)).replace(
            "</PubmedArticleSet>", deletion(1, 99)[deletion(1, 99).index("<DeleteCitation>") :]
        ),
    )
    marks = dict(papers.select("paper_id", "deleted").iter_rows())
    assert marks == {"pmid:1": True, "pmid:2": False, "pmid:99": True}
    assert papers.filter("deleted")["paragraphs"].to_list() == [0, 0]
    assert shards.current() == {"pmid:2": "update"}


def test_a_paper_that_comes_back_after_its_deletion(shards):
    shards.close("base", a=citation_set(citation(1)))
    shards.close("gone", a=deletion(1))
    shards.close("again", a=citation_set(citation(1)))
    assert shards.current() == {"pmid:1": "again"}


def test_a_deletion_masks_a_full_text_too(shards):
    shards.close("drop", a=article(ids='<article-id pub-id-type="pmid">1</article-id>'))
    shards.close("gone", a=deletion(1))
    assert shards.current() == {}


def test_a_retraction_notice_flags_its_target_in_every_shard(shards):
    notice = citation(
        5,
        "Retraction of: A title.",
        more="<CommentsCorrectionsList><CommentsCorrections RefType='RetractionOf'><RefSource>J</RefSource>"
        "<PMID Version='1'>1</PMID></CommentsCorrections></CommentsCorrectionsList>",
    )
    shards.close("base", a=citation_set(citation(1)))
    shards.close("drop", a=article(ids='<article-id pub-id-type="pmid">1</article-id>'))
    assert not any(row["retracted"] for row in shards.of("pmid:1").values())
    shards.close("update", a=citation_set(notice))
    assert [row["retracted"] for row in shards.of("pmid:1").values()] == [True, True]
    assert shards.of("pmid:5")["update"]["retracted"] is False
    assert shards.current()["pmid:1"] == "drop"


def test_a_retracted_type_in_an_update_flags_the_full_text(shards):
    shards.close("drop", a=article(ids='<article-id pub-id-type="pmid">1</article-id>'))
    shards.close("update", a=citation_set(citation(1, inside=RETRACTED)))
    assert shards.of("pmid:1")["drop"]["retracted"] is True


@pytest.mark.parametrize("retracts", ["pmid", "pubmed"])
def test_a_jats_notice_names_its_target(shards, retracts):
    notice = article(ids='<article-id pub-id-type="pmid">5</article-id>').replace(
        "</title-group>",
        '</title-group><related-article related-article-type="retracted-article" '
        f'ext-link-type="{retracts}" xlink:href="1"/>',
    )
    notice = notice.replace('article-type="research-article"', 'article-type="retraction"')
    shards.close("base", a=citation_set(citation(1)))
    shards.close("drop", a=notice)
    assert shards.of("pmid:1")["base"]["retracted"] is True
    assert shards.of("pmid:5")["drop"]["retracted"] is False


def test_a_paper_stored_under_its_doi_is_the_one_that_gets_a_pmid(shards):
    shards.close("drop", a=article(ids='<article-id pub-id-type="doi">10.5555/AB</article-id>'))
    linked = citation(1).replace(
        "</MedlineCitation>",
        "</MedlineCitation><PubmedData><ArticleIdList><ArticleId IdType='doi'>10.5555/ab</ArticleId>"
        "</ArticleIdList></PubmedData>",
    )
    shards.close("update", a=citation_set(linked))
    assert shards.current() == {"pmid:1": "drop"}
    assert set(shards.of("pmid:1")) == {"drop", "update"}


def test_closed_shards_are_not_changed(shards):
    before = shards.close("base", a=citation_set(citation(1))).clone()
    shards.close("gone", a=deletion(1))
    standing(shards.papers)
    assert shards.papers[0][1].equals(before)


def test_nothing_stored():
    assert dict(standing([]).schema) == STANDING


def paper(pmid: int, version: int, deleted: bool, kind: str) -> dict:
    row = dict.fromkeys(PAPERS)
    return row | {
        "paper_id": f"pmid:{pmid}",
        "pmid": str(pmid),
        "version": version,
        "deleted": deleted,
        "source_kind": kind,
        "retracted": False,
        "retracts": [],
    }


@given(
    st.lists(
        st.dictionaries(
            st.integers(1, 4),
            st.tuples(st.integers(1, 3), st.booleans(), st.sampled_from(["jats", "pdf", "abstract"])),
            min_size=1,
        ),
        max_size=6,
    )
)
def test_at_most_one_version_counts_and_it_is_the_right_one(history):
    frames = []
    for number, shard in enumerate(history):
        rows = [
            paper(pmid, version, deleted, kind) | {"paper_ordinal": n}
            for n, (pmid, (version, deleted, kind)) in enumerate(sorted(shard.items()))
        ]
        frames.append((f"s{number}", pl.DataFrame(rows, schema=PAPERS)))
    table = standing(frames)
    assert table.height == sum(len(shard) for shard in history)
    expected = {}
    for pmid in range(1, 5):
        alive: list[tuple] = []
        for number, shard in enumerate(history):
            if pmid in shard:
                version, deleted, kind = shard[pmid]
                alive = [] if deleted else [*alive, (version, ["abstract", "pdf", "jats"].index(kind), number)]
        if alive:
            expected[f"pmid:{pmid}"] = f"s{max(alive)[2]}"
    assert dict(table.filter("current").select("canonical_id", "shard").iter_rows()) == expected
    assert table.filter(pl.col("current"))["reason"].null_count() == table["current"].sum()
    assert table.filter(~pl.col("current"))["reason"].null_count() == 0
