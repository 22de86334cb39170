"""`starling plan`: what reading the missing windows of a task would take, before anything is paid for."""

from __future__ import annotations

from dataclasses import asdict

import orjson
from rich.console import Console
from rich.table import Table

from resources.endpoints.building import build_client
from resources.endpoints.planning import plan_calls
from starling_assets.agents.extractor import extract_call, system_prompt
from starling_assets.agents.tasks import load_task
from starling_assets.artifacts.journal import Journal
from starling_assets.extraction.extract import shard_windows
from starling_assets.extraction.windows import Window
from starling_assets.inference.calls import Role
from starling_assets.inference.estimates import Estimate

from .bars import bars, terminal
from .errors import UserError
from .instance import open_instance
from .pipeline import Pipeline, StageFailed
from .project import Project


def plan_task(name: str, *, as_json: bool) -> None:
    """Retrieve (which costs nothing), then print what the extraction that is missing would take."""
    project, console = Project(), terminal(stderr=as_json)
    project.check_task(name)
    if not project.book.keys():
        raise UserError("there are no papers yet: add some with `starling add PATH…`")
    with open_instance(project.settings) as instance, bars(console):
        try:
            Pipeline(project.settings, instance).retrieve(name)
        except StageFailed as error:
            raise UserError(str(error)) from None
    found = estimate_missing(project, name)
    if as_json:
        print(orjson.dumps(asdict(found), option=orjson.OPT_INDENT_2).decode())
        return
    _show(name, found, console)


def missing_windows(project: Project, name: str) -> list[Window]:
    """Windows of all shards that have no outcome yet for the configured extractor."""
    task, store, settings = load_task(name, project.task_folders), project.store, project.settings
    model = build_client(settings).model_name(Role.EXTRACTOR)
    missing: list[Window] = []
    for shard in project.book.in_order():
        if not store.exists("subcorpus", name, shard):
            continue
        chosen, papers = store.read("subcorpus", name, shard), store.read("papers", shard)
        windows = shard_windows(task, chosen, store.read("papers", shard, table="blocks"), papers, model, settings)
        journal = Journal(store.folder("raw_extractions", name, shard) / "journal")
        done = {unit for unit, outcome in journal.outcomes().items() if outcome.counts_as_done()}
        missing += [window for window in windows if window.unit not in done]
    return missing


def estimate_missing(project: Project, name: str) -> Estimate:
    """Tokens, seconds and dollars of one extraction call per missing window."""
    task, settings = load_task(name, project.task_folders), project.settings
    most = settings.extraction.max_output_tokens
    users = [extract_call(task, w.unit, w.text, most).user for w in missing_windows(project, name)]
    return plan_calls(settings, Role.EXTRACTOR, f"{name}/extract", system_prompt(task), users, most)


def _show(name: str, found: Estimate, console: Console) -> None:
    console.print(estimate_table(f"Extraction of {name} that is still to be paid for", "windows", found))
    console.print(f"judging comes on top, by the number of records; `starling run {name}` starts")


def estimate_table(title: str, unit: str, found: Estimate) -> Table:
    """What calls would take; ``unit`` is what one of them reads."""
    table = Table(title=title, show_header=False)
    table.add_row(f"calls ({unit})", f"{found.calls:,}")
    table.add_row("prompt tokens", f"{found.prompt_tokens:,}, of them cached by the server {found.cached_tokens:,}")
    table.add_row("completion tokens", f"{found.completion_tokens:,}")
    table.add_row("time", f"{found.seconds / 60:,.1f} minutes")
    cost = "unknown: set llm.price_prompt and llm.price_completion" if found.cost is None else f"{found.cost:,.4f}"
    table.add_row("US dollars", cost if found.most_cost is None else f"{cost}, at most {found.most_cost:,.4f}")
    table.add_row("basis", found.basis)
    return table
