"""`starling task induce`: the probe loop and the schema loop over the papers that are indexed here."""

from __future__ import annotations

from rich.console import Console

from resources.embedder import EmbedderResource
from resources.endpoints.building import build_client
from resources.entity_index import EntityIndexResource
from resources.project import ProjectResource
from resources.vector_index import VectorIndexResource
from starling_assets.agents.drafts import lacks, name_of
from starling_assets.agents.indexed_passages import IndexedPassages, ShardPassages
from starling_assets.agents.induction import InductionLimits, induce, state_folder
from starling_assets.agents.tasks import PACKAGED, load_task, task_names
from starling_assets.artifacts.locks import partition_lock
from starling_assets.inference.budget import Budget
from starling_assets.inference.ledger import Ledger
from starling_assets.retrieval.masks import current_papers

from .errors import UserError
from .filter import NOTHING_INDEXED, read_vocabulary
from .induction_report import show_bounds, show_iterations
from .project import Project
from .task_files import new_task


def new_and_induce(sentence: str, name: str | None, entity_type: str | None, max_cost: float | None) -> None:
    """A draft from the sentence, then both loops; the same sentence and name again go on where they stopped."""
    project, chosen = Project(), name or name_of(sentence)
    known = chosen in task_names(project.task_folders)
    if not known or load_task(chosen, project.task_folders).sentence != " ".join(sentence.split()):
        new_task(sentence, name, entity_type)
    induce_task(chosen, max_cost)


def induce_task(name: str, max_cost: float | None) -> None:
    """Run both loops for an own task, within the smallest bound on cost, and print how they ended.

    Raises UserError for a packaged or an approved task: their files are not to change under anybody's feet.
    """
    project = Project()
    project.check_task(name)
    task = load_task(name, project.task_folders)
    if task.folder.parent == PACKAGED:
        raise UserError(f"{name} comes with the package: `starling task new` starts an own task")
    if task.approved:
        raise UserError(f"{name} is approved; take {task.folder / 'approved'} away to let the loops write its files")
    source, settings = indexed_passages(project), project.settings
    bounds = [b for b in (max_cost, task.budget.max_cost, settings.extraction.max_cost) if b is not None]
    client = build_client(settings, Ledger(settings.ledger_dir), Budget(min(bounds, default=None)))
    home = settings.home / "loops" / name
    console, limits = Console(), InductionLimits()
    place = state_folder(task, home)
    if not (place / "outcome.json").is_file():
        show_bounds(settings, task, limits, source.size, console)
        stop = min(bounds, default=None)
        said = "no bound on cost is set" if stop is None else f"the loops stop at {stop:,.4f} US dollars"
        console.print(said, highlight=False)
    with partition_lock(home, f"induction of {name}"):
        try:
            outcome = induce(task, source, client, home, limits)
        finally:  # a stopped run shows what it has measured
            show_iterations(place, console)
    for line in outcome.lines():
        console.print(line, highlight=False)
    if not outcome.sufficient:
        console.print("the targets were not reached: read the files with care before you approve them")
    for line in lacks(load_task(name, project.task_folders)):
        console.print(f"missing: {line}", soft_wrap=True, highlight=False, markup=False)
    console.print(f"look at `starling task show {name}`, then `starling task approve {name}`", soft_wrap=True)


def indexed_passages(project: Project) -> IndexedPassages:
    """All shards that both indexes hold. Raises UserError where there are none."""
    store = project.store
    vocabulary = read_vocabulary(store)
    model, entities = EmbedderResource().embedder(), EntityIndexResource().index()
    vectors = VectorIndexResource().index(model.name)
    standing, closed = ProjectResource(root=str(project.root)).standing(), set(project.book.keys())
    shards = {
        shard: ShardPassages(
            store.read("papers", shard, table="blocks"),
            store.read("papers", shard),
            store.read("chunks", shard),
            current_papers(standing, shard) if shard in closed else None,
        )
        for shard in sorted({*entities.shards()} & {*vectors.shards()})
    }
    if not shards:
        raise UserError(NOTHING_INDEXED)
    return IndexedPassages(shards, entities, vectors, model, vocabulary, project.settings.retrieval)
