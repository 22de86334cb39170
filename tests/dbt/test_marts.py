"""What the marts say about a store whose content is known."""

from __future__ import annotations

import pytest

from .conftest import Dbt

# The first test waits for a whole build, in a process of its own.
pytestmark = pytest.mark.timeout(180)


def test_only_kept_records_are_in_the_mart(built: Dbt) -> None:
    ids = [row[0] for row in built.rows("select record_id from kept_records order by 1")]
    assert ids == ["r1", "r2", "r3", "r4"]


def test_a_retracted_paper_keeps_its_records_with_the_flag(built: Dbt) -> None:
    assert built.rows("select record_id from kept_records where retracted") == [("r3",)]


def test_an_unlinked_entity_is_known_by_its_name(built: Dbt) -> None:
    assert built.rows("select entity_key from kept_records where record_id = 'r4'") == [("compound 6f",)]


def test_labels_are_counted_per_entity_with_distinct_papers(built: Dbt) -> None:
    rows = built.rows(
        "select entity_name, label, records, papers, entity_records, entity_papers, entity_labels"
        " from records_per_entity order by entity_name, label"
    )
    assert rows == [
        ("Compound 6f", "", 1, 1, 1, 1, 1),
        ("caffeine", "BBB+", 2, 2, 3, 2, 2),
        ("caffeine", "BBB-", 1, 1, 3, 2, 2),
    ]


def test_label_shares_of_an_entity_add_up(built: Dbt) -> None:
    shares = built.rows("select sum(label_share) from records_per_entity group by entity_key")
    assert [round(share, 9) for (share,) in shares] == [1.0, 1.0]


def test_fill_rate_of_universal_fields(built: Dbt) -> None:
    rates = dict(built.rows("select field, fill_rate from field_fill_rate where origin = 'universal'"))
    assert rates["concept_id"] == 0.75
    assert rates["value"] == 0.25
    assert rates["normalised_value"] == 0.0


def test_fill_rate_of_task_fields_does_not_count_null_and_empty_values(built: Dbt) -> None:
    rows = built.rows("select field, filled, fill_rate from field_fill_rate where origin = 'task' order by field")
    assert rows == [("models", 0, 0.0), ("note", 0, 0.0), ("route", 1, 0.25), ("species", 1, 0.25)]


def test_cost_per_kept_record_counts_all_stages_and_all_judged_records(built: Dbt) -> None:
    rows = built.rows(
        "select judged, kept, calls, cost, cost_per_kept_record from cost_per_kept_record where task='bbb'"
    )
    judged, kept, calls, cost, each = rows[0]
    assert (judged, kept, calls) == (5, 4, 14)
    assert abs(cost - 0.6) < 1e-9
    assert abs(each - 0.15) < 1e-9


def test_a_task_without_records_has_a_cost_and_no_cost_per_record(built: Dbt) -> None:
    rows = built.rows("select judged, kept, cost, cost_per_kept_record from cost_per_kept_record where task = 'oral'")
    assert rows == [(0, 0, 0.03, None)]


def test_two_builds_give_the_same_rows(built: Dbt) -> None:
    queries = [
        "select * from kept_records order by all",
        "select * from records_per_entity order by all",
        "select * from field_fill_rate order by all",
        "select * from cost_per_kept_record order by all",
    ]
    before = [built.rows(query) for query in queries]
    result = built.run("run")
    assert result.returncode == 0, result.stdout
    assert [built.rows(query) for query in queries] == before
