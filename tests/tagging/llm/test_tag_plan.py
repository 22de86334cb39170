"""`starling tag-plan`: an estimate that agrees with what is then paid for, and one clear line for mistakes."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner, Result

from starling_assets.artifacts.journal import Journal, Outcome
from starling_assets.artifacts.store import Store
from starling_assets.cli.app import app
from starling_assets.literature.shards import ShardBook
from starling_assets.literature.tables import BLOCKS
from starling_assets.tagging.llm.passages import plan_passages
from starling_assets.tagging.llm.reading import plan_passes

from .world import blocks_of

BLOCKS_FRAME = blocks_of([[f"Paragraph {n} of some words." for n in range(7)]])


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "starling.toml").write_text(
        f'home = "{tmp_path / ".starling"}"\n[llm]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
        "price_prompt = 1.0\nprice_completion = 2.0\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STARLING_HOME", str(tmp_path / ".starling"))
    return tmp_path


@pytest.fixture
def store(project: Path) -> Store:
    (project / "paper.txt").write_text("a source")
    ShardBook(project / ".starling").close([project / "paper.txt"], key="s1")
    store = Store(project / ".starling" / "store")
    store.write(BLOCKS_FRAME, "papers", "s1", table="blocks", schema=BLOCKS)
    return store


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["tag-plan", *arguments])


def test_calls_tokens_and_dollars_of_both_engines(store: Store) -> None:
    student = orjson.loads(call("--json").stdout)
    teacher = orjson.loads(call("--engine", "teacher", "--json").stdout)
    assert (student["engine"], student["calls"], teacher["calls"]) == ("student", 3, 57)
    assert 3_000 < student["prompt_tokens"] < 5_000
    assert student["cost"] == pytest.approx((student["prompt_tokens"] + 2 * student["completion_tokens"]) / 1e6)
    assert teacher["most_cost"] > teacher["cost"] > student["cost"]


def test_what_was_paid_for_is_not_counted_again(store: Store) -> None:
    (first, *_) = plan_passes(plan_passages(BLOCKS_FRAME, 3, 900), [None], "m")
    Journal(store.folder("tag_shards", "s1") / "journal").record([Outcome(unit=first.unit, status="empty")])
    assert orjson.loads(call("--json").stdout)["calls"] == 2


def test_the_table_says_how_to_start(store: Store) -> None:
    shown = call("--engine", "teacher").stdout
    assert "57" in shown
    assert "tagging.max_cost" in shown


def test_mistakes_get_one_line(project: Path) -> None:
    done = call()
    assert done.exit_code != 0
    assert "there are no papers yet" in done.output
    done = call("--engine", "dictionary")
    assert "the engine 'dictionary' asks no model: choose student or teacher" in done.output
    assert "Traceback" not in done.output


def test_a_failed_pass_is_listed_and_retried_only_while_a_model_tags(
    store: Store, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(store.folder("tag_shards", "s1") / "journal")
    journal.plan(["a", "b"])
    journal.record([Outcome(unit="a", status="ok"), Outcome(unit="b", status="failed", reason="truncated")])

    def units() -> list[dict[str, object]]:
        return list(orjson.loads(CliRunner().invoke(app, ["status", "--json"]).stdout)["units"])

    assert units() == []
    monkeypatch.setenv("STARLING_TAGGING_ENGINE", "teacher")
    (unit,) = units()
    assert (unit["task"], unit["shard"], unit["asset"]) == (None, "s1", "tag_shards")
    shown = CliRunner().invoke(app, ["status"]).stdout
    assert "tag_shards" in shown
