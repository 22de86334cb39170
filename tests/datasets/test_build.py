from __future__ import annotations

import polars as pl

from starling_assets.datasets.build import build_dataset, current_papers
from starling_assets.datasets.tables import JUDGED

from .made import TASK, papers, record, records, verdicts


def test_kept_are_those_that_passed_and_judged_are_all() -> None:
    rows = records(record("a"), record("b", label="inactive"), record("c", paper=2))
    made = build_dataset(TASK, rows, verdicts(rows, failing=("b",)), papers(2))
    assert made.judged.schema == made.kept.schema == pl.Schema(JUDGED)
    assert made.kept["record_id"].to_list() == ["a", "c"]
    assert (made.counts.judged, made.counts.kept, made.counts.not_kept, made.counts.merged) == (3, 2, 1, 0)
    assert made.counts.by_axis["accuracy"] == 1
    assert made.papers["paper_id"].to_list() == ["pmid:1", "pmid:2"]


def test_kept_records_of_one_fact_are_joined_with_all_their_evidence() -> None:
    rows = records(
        record("a"),
        record("b", quote="aspirin, again", fields='{"species":"rat"}'),
        record("c", quote="in mice it was active too", fields='{"species":"mouse"}'),
        record("d", quote="elsewhere", paper=2),
    )
    made = build_dataset(TASK, rows, verdicts(rows), papers(2))
    same = dict(made.judged.select("record_id", "same_as").iter_rows())
    assert same == {"a": "b", "b": None, "c": None, "d": None}
    kept = {row["record_id"]: row for row in made.kept.iter_rows(named=True)}
    assert [item["block_key"] for item in kept["b"]["evidence"]] == ["b", "a"]
    assert made.counts.judged == made.counts.kept + made.counts.merged + made.counts.not_kept == 4


def test_a_refused_record_lends_no_evidence_to_a_kept_one() -> None:
    rows = records(record("a"), record("b", fields='{"species":"rat"}'))
    made = build_dataset(TASK, rows, verdicts(rows, failing=("b",)), papers(1))
    (kept,) = made.kept.iter_rows(named=True)
    assert [item["block_key"] for item in kept["evidence"]] == ["a"]


def test_the_newest_version_of_a_paper_wins_whatever_the_shard_order() -> None:
    old, new = records(record("old")), records(record("new"), shard="s2")
    frames = [papers(1), papers(1, shard="s2", version=2)]
    for order in (frames, frames[::-1]):
        both = pl.concat([old, new])
        made = build_dataset(TASK, both, pl.concat([verdicts(old), verdicts(new)]), pl.concat(order))
        assert made.kept["record_id"].to_list() == ["new"]
        assert made.counts.masked == 1


def test_the_same_paper_in_two_shards_counts_once_the_later_shard_wins() -> None:
    rows = pl.concat([records(record("first")), records(record("second"), shard="s2")])
    made = build_dataset(TASK, rows, verdicts(rows), pl.concat([papers(1), papers(1, shard="s2")]))
    assert made.kept["record_id"].to_list() == ["second"]


def test_a_deletion_reaches_the_dataset() -> None:
    rows = records(record("a"), record("b", paper=2))
    tombstone = papers(1, shard="s2", version=9, deleted=True)
    made = build_dataset(TASK, rows, verdicts(rows), pl.concat([papers(2), tombstone]))
    assert made.kept["record_id"].to_list() == ["b"]
    assert made.counts.masked == 1


def test_a_retraction_is_a_flag_on_every_record_of_the_paper() -> None:
    rows = records(record("a"), record("b", paper=2))
    notice = papers(3, shard="s2").tail(1).with_columns(retracts=pl.lit(["1"], pl.List(pl.String)))
    made = build_dataset(TASK, rows, verdicts(rows), pl.concat([papers(2), notice]))
    assert dict(made.kept.select("record_id", "retracted").iter_rows()) == {"a": True, "b": False}
    flags = dict(current_papers(pl.concat([papers(2), notice])).select("paper_id", "retracted").iter_rows())
    assert flags == {"pmid:1": True, "pmid:2": False, "pmid:3": False}


def test_records_of_another_schema_are_left_out_and_counted() -> None:
    rows = records(record("a"), record("b", schema_hash="old"))
    made = build_dataset(TASK, rows, verdicts(rows), papers(1))
    assert made.judged["record_id"].to_list() == ["a"]
    assert (made.counts.other_schema, made.counts.masked) == (1, 0)


def test_a_record_without_a_verdict_is_not_kept_and_says_so() -> None:
    rows = records(record("a"))
    made = build_dataset(TASK, rows, verdicts(rows).clear(), papers(1))
    assert made.kept.is_empty()
    (row,) = made.judged.iter_rows(named=True)
    assert (row["status"], row["failure"], row["kept"]) == ("failed", "not judged yet", False)
    assert made.counts.by_axis["not_judged"] == 1


def test_nothing_in_nothing_out() -> None:
    rows = records()
    made = build_dataset(TASK, rows, verdicts(rows), papers(0))
    assert made.judged.is_empty()
    assert made.kept.schema == pl.Schema(JUDGED)
    assert made.counts.judged == 0
