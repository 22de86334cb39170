"""Progress where the output is no terminal: a line at the start, at the end, and now and then."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from starling_assets.artifacts.progress import Progress, listen, report
from starling_assets.cli import bars as module
from starling_assets.cli.bars import bars, facts_text


def test_plain_lines_are_few_and_hold_the_numbers() -> None:
    out = io.StringIO()
    with bars(Console(file=out, width=200)):
        for done in range(101):
            report("windows", done, 100, tokens=done * 1_000)
    lines = out.getvalue().splitlines()
    assert lines[0].startswith("windows: 0 of 100")
    assert lines[-1].startswith("windows: 100 of 100 100,000 tokens")
    assert len(lines) < 5


def test_seconds_left_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 30.0])
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    out = io.StringIO()
    lines = module._Lines(Console(file=out, width=200))
    lines.show(Progress("windows", 0, 40))
    lines.show(Progress("windows", 10, 40))
    assert "about 90 s left" in out.getvalue()


def test_a_terminal_gets_bars() -> None:
    out = io.StringIO()
    with bars(Console(file=out, width=120, force_terminal=True)):
        report("windows", 1, 2, tokens=5)
        report("windows", 2, 2, tokens=10)
    assert "windows" in out.getvalue()
    assert "10 tokens" in out.getvalue()


def test_listeners_hear_only_while_they_listen() -> None:
    heard: list[Progress] = []
    with listen(heard.append):
        report("a", 1, 1)
    report("a", 1, 1)
    assert [item.stage for item in heard] == ["a"]
    assert facts_text(Progress("a", 1, None, {"tokens": 1234})) == "1,234 tokens"
