"""The commands. Each is a thin face over one function of a module beside this one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .errors import friendly

app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Biomedical papers into judged, structured datasets."
)
task_app = typer.Typer(no_args_is_help=True, help="Tasks: what to extract.")
app.add_typer(task_app, name="task")
filter_app = typer.Typer(no_args_is_help=True, help="Entity filters: what they are taken for.")
app.add_typer(filter_app, name="filter")

Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]


@app.command()
def demo() -> None:
    """Run the task `bbb` over the bundled papers, from source files to a judged dataset."""
    from .demo import run_demo

    with friendly():
        run_demo()


@app.command()
def up(
    port: Annotated[int | None, typer.Option(help="Port of the UI; default from the settings.")] = None,
) -> None:
    """Serve the Dagster UI and the daemon (drop folder, automation) until Ctrl-C."""
    from .serve import serve

    with friendly():
        serve(port)


@app.command()
def add(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders: JATS, PDF, PubMed XML, .gz accepted.")],
    run: Annotated[bool, typer.Option("--run/--no-run", help="Read, tag and index the new shard now.")] = True,
    name: Annotated[str | None, typer.Option(help="Name of the shard; default drop-<date>-<number>.")] = None,
    as_json: Json = False,
) -> None:
    """Close papers into a new shard, and say what was taken and what was set aside."""
    from .add import add_papers

    with friendly():
        add_papers(paths, run=run, name=name, as_json=as_json)


@app.command()
def run(
    task: Annotated[str, typer.Argument(help="Task name, e.g. bbb.")],
    shard: Annotated[list[str] | None, typer.Option(help="Only these shards; may be repeated.")] = None,
) -> None:
    """Run a task over all shards; only what is missing is paid for."""
    from .run import run_task

    with friendly():
        run_task(task, shard)


@app.command()
def plan(task: Annotated[str, typer.Argument(help="Task name.")], as_json: Json = False) -> None:
    """What reading the missing windows of a task would take: calls, tokens, dollars, minutes. Pays for nothing."""
    from .plan import plan_task

    with friendly():
        plan_task(task, as_json=as_json)


@app.command("tag-plan")
def tag_plan(
    engine: Annotated[str | None, typer.Option(help="student or teacher; default the configured one.")] = None,
    as_json: Json = False,
) -> None:
    """What tagging the papers by a model would take: calls, tokens, dollars, minutes. Pays for nothing."""
    from .tag_plan import plan_tagging

    with friendly():
        plan_tagging(engine, as_json=as_json)


@app.command()
def backfill(task: Annotated[str, typer.Argument(help="Task name.")]) -> None:
    """Extract and judge a task again over all its shards, and nothing else; finished windows are not paid twice."""
    from .run import run_task

    with friendly():
        run_task(task, None, backfill=True)


@app.command()
def retry(task: Annotated[str | None, typer.Argument(help="Only this task.")] = None) -> None:
    """Run again exactly what failed: shards, windows, verdicts."""
    from .run import retry_failed

    with friendly():
        retry_failed(task)


@app.command()
def status(as_json: Json = False) -> None:
    """Shards × stages × tasks, units by outcome, files set aside with their reasons."""
    from .status import show_status

    with friendly():
        show_status(as_json=as_json)


@app.command()
def records(
    task: Annotated[str, typer.Argument(help="Task name.")],
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV on standard output.")] = False,
    rejected: Annotated[bool, typer.Option(help="Also the records that the judge did not keep.")] = False,
) -> None:
    """The dataset of a task as a table, JSON lines or CSV."""
    from .records import show_records

    with friendly():
        show_records(task, as_json=as_json, as_csv=as_csv, rejected=rejected)


@app.command()
def paper(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="PMID, PMCID, DOI or paper_id.")],
    as_json: Json = False,
) -> None:
    """Versions of one paper over all shards, which of them counts, and what each task read and kept of it."""
    from .paper import show_paper

    with friendly():
        show_paper(identifier, as_json=as_json)


@app.command()
def licences(as_json: Json = False) -> None:
    """Papers by licence class, the words that say so, and what each class permits."""
    from .licences import show_licences

    with friendly():
        show_licences(as_json=as_json)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for, in words.")],
    filter_text: Annotated[
        str, typer.Option("--filter", help='E.g. (SmallMolecule) AND ("blood-brain barrier" OR brain) AND NOT Antibody')
    ] = "",
    scope: Annotated[str, typer.Option(help="paragraph, chunk or paper: the unit the filter is true of.")] = "chunk",
    limit: Annotated[int, typer.Option("-n", min=1, help="Most hits shown.")] = 10,
    as_json: Json = False,
) -> None:
    """Passages closest to a query among those an entity filter lets through."""
    from .search import run_search

    with friendly():
        run_search(query, filter_text, scope, limit, as_json=as_json)


@filter_app.command("explain")
def filter_explain(
    filter_text: Annotated[
        str,
        typer.Argument(metavar="FILTER", help='E.g. (SmallMolecule) AND ("blood-brain barrier" OR brain), or JSON.'),
    ],
    scope: Annotated[str, typer.Option(help="paragraph, chunk or paper: the unit the filter is true of.")] = "chunk",
    expand: Annotated[bool, typer.Option(help="Take narrower concepts too.")] = True,
    as_json: Json = False,
) -> None:
    """What each term of a filter was taken for, and how many units every part lets through."""
    from .filter import explain_filter

    with friendly():
        explain_filter(filter_text, scope, expand=expand, as_json=as_json)


@app.command()
def doctor(as_json: Json = False) -> None:
    """What this machine has and lacks, and what each lack costs."""
    from .doctor import examine

    with friendly():
        examine(as_json=as_json)


@app.command()
def config(as_json: Json = False) -> None:
    """The effective settings with their source; secrets are masked."""
    from .config import show_config

    with friendly():
        show_config(as_json=as_json)


@task_app.command("list")
def task_list(as_json: Json = False) -> None:
    """Tasks that can be run."""
    from .tasks import list_tasks

    with friendly():
        list_tasks(as_json=as_json)


@task_app.command("new")
def task_new(
    sentence: Annotated[str, typer.Argument(help='E.g. "find all molecules whose solubility in water is reported".')],
    name: Annotated[str | None, typer.Option(help="Name of the task; default from the sentence.")] = None,
    entity_type: Annotated[str | None, typer.Option(help="What to find, e.g. Gene; default from the sentence.")] = None,
    induce: Annotated[bool, typer.Option("--induce", help="Then let the models write probes and schema.")] = False,
    max_cost: Annotated[float | None, typer.Option(min=0, help="With --induce: most US dollars it may cost.")] = None,
) -> None:
    """Start an own task from one sentence: a draft whose probes and schema are still to be written.

    With --induce the models write them (as `task induce` does); the same command again goes on after a stop.
    """
    if induce:
        from .induce import new_and_induce

        with friendly():
            new_and_induce(sentence, name, entity_type, max_cost)
        return
    from .task_files import new_task

    with friendly():
        new_task(sentence, name, entity_type)


@task_app.command("show")
def task_show(name: Annotated[str, typer.Argument(help="Task name.")], as_json: Json = False) -> None:
    """State of a task, the hash of its schema, its files and what they lack."""
    from .task_files import show_task

    with friendly():
        show_task(name, as_json=as_json)


@task_app.command("edit")
def task_edit(name: Annotated[str, typer.Argument(help="Task name.")]) -> None:
    """Open an own task's files in $EDITOR (without a terminal: print their paths), then check them."""
    from .task_files import edit_task

    with friendly():
        edit_task(name)


@task_app.command("induce")
def task_induce(
    name: Annotated[str, typer.Argument(help="An own task that is not approved.")],
    max_cost: Annotated[float | None, typer.Option(min=0, help="Most US dollars this run may cost.")] = None,
) -> None:
    """Let the models propose, measure and revise a task's probes and schema over the indexed papers."""
    from .induce import induce_task

    with friendly():
        induce_task(name, max_cost)


@task_app.command("approve")
def task_approve(name: Annotated[str, typer.Argument(help="Task name.")]) -> None:
    """Approve a task's probes and schema: only then is anything extracted."""
    from .tasks import approve_task

    with friendly():
        approve_task(name)


@task_app.command("copy")
def task_copy(
    source: Annotated[str, typer.Argument(help="Task to start from, e.g. bbb.")],
    name: Annotated[str, typer.Argument(help="Name of the new task.")],
) -> None:
    """Copy a task's files as the start of an own task; the copy is not approved."""
    from .tasks import copy_task

    with friendly():
        copy_task(source, name)


def main() -> None:
    """Entry point of the console script."""
    app()
