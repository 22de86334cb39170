"""Commands of the command line that need no model: what they print, and one clear line for each mistake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from starling_assets.cli.app import app


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), catch_exceptions=True)


def refused(*arguments: str) -> str:
    """The message of a command that must fail without a traceback."""
    result = call(*arguments)
    assert result.exit_code != 0
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return " ".join(result.output.split())


def test_config_shows_values_sources_and_no_secret(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STARLING_LLM_API_KEY", "sk-very-secret")
    shown = json.loads(call("config", "--json").output)
    assert shown["llm.api_key"] == {"value": "********", "source": "STARLING_LLM_API_KEY"}
    assert shown["profile"] == {"value": "embedded", "source": "default"}
    assert "sk-very-secret" not in call("config").output


def test_an_unknown_setting_is_one_line_and_exit_code_two(project: Path) -> None:
    (project / "starling.toml").write_text("[llm]\nmodle = 'x'\n")
    result = call("config")
    assert result.exit_code == 2
    assert "llm.modle" in result.output


def test_tasks_are_listed_with_their_state(project: Path) -> None:
    tasks = {task["name"]: task for task in json.loads(call("task", "list", "--json").output)}
    assert {"bbb", "oral", "ld50"} <= set(tasks)
    assert tasks["bbb"]["approved"]


def test_a_copied_task_waits_for_approval(project: Path) -> None:
    assert call("task", "copy", "bbb", "my_task").exit_code == 0
    tasks = {task["name"]: task for task in json.loads(call("task", "list", "--json").output)}
    assert not tasks["my_task"]["approved"]
    assert call("task", "approve", "my_task").exit_code == 0
    tasks = {task["name"]: task for task in json.loads(call("task", "list", "--json").output)}
    assert tasks["my_task"]["approved"]


@pytest.mark.parametrize("name", ["../escape", "Bbb", "a b", "x;rm -rf", "bbb", "", "a'; drop table records; --"])
def test_task_names_are_checked(project: Path, name: str) -> None:
    refused("task", "copy", "bbb", name)
    assert not (project.parent / "escape").exists()


def test_an_unknown_task_lists_the_known_ones(project: Path) -> None:
    assert "bbb" in refused("run", "nothing")
    assert "bbb" in refused("records", "nothing")


def test_running_without_papers_says_how_to_add_some(project: Path) -> None:
    assert "starling add" in refused("run", "bbb")


def test_records_before_a_run_say_what_to_run(project: Path) -> None:
    assert "starling run bbb" in refused("records", "bbb")


def test_adding_an_empty_folder_is_refused(project: Path) -> None:
    (project / "empty").mkdir()
    assert "no files" in refused("add", str(project / "empty"))


def test_adding_a_path_that_is_not_there_is_refused(project: Path) -> None:
    assert "neither a file nor a folder" in refused("add", str(project / "nowhere"))


def test_adding_without_running_closes_a_shard_once(project: Path) -> None:
    paper = project / "a.nxml"
    paper.write_text("<article/>")
    assert "closed 1 new files" in call("add", "--no-run", str(paper)).output
    assert "nothing to do" in call("add", "--no-run", str(paper)).output


def test_an_endpoint_that_is_not_there_stops_before_any_work(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paper = project / "a.nxml"
    paper.write_text("<article/>")
    call("add", "--no-run", str(paper))
    monkeypatch.setenv("STARLING_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("STARLING_LLM_MODEL", "m")
    message = refused("run", "bbb")
    assert "127.0.0.1:9" in message
    assert not (project / ".starling" / "store").exists()


def test_status_of_an_empty_project_says_how_to_begin(project: Path) -> None:
    assert "starling demo" in call("status").output
    state = json.loads(call("status", "--json").output)
    assert state["shards"] == {}
    assert state["missing"] == []


def test_status_lists_what_is_missing(project: Path) -> None:
    paper = project / "a.nxml"
    paper.write_text("<article/>")
    call("add", "--no-run", "--name", "mine", str(paper))
    state = json.loads(call("status", "--json").output)
    assert [cell["shard"] for cell in state["missing"]] == ["mine"]
    assert "starling retry" in call("status").output


def test_search_before_an_index_says_so(project: Path) -> None:
    assert "nothing is indexed" in refused("search", "x")


def test_doctor_names_what_is_needed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {item["name"]: item for item in json.loads(call("doctor", "--json").output)}
    assert found["Python"]["ok"]
    assert found["disk"]["needed"]
    monkeypatch.setenv("STARLING_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("STARLING_LLM_MODEL", "m")
    result = call("doctor", "--json")
    assert result.exit_code == 1
    endpoint = next(item for item in json.loads(result.output) if item["name"] == "model endpoint")
    assert not endpoint["ok"]
    assert "127.0.0.1:9" in endpoint["meaning"]
