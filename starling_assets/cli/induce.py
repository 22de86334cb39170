"""`starling task induce`: the probe loop and the schema loop over the papers that are indexed here."""

from __future__ import annotations

from rich.console import Console

from resources.embedder import EmbedderResource
from resources.endpoints.building import build_client
from resources.entity_index import EntityIndexResource
from resources.vector_index import VectorIndexResource
from starling_assets.agents.drafts import lacks
from starling_assets.agents.indexed_passages import IndexedPassages, ShardPassages
from starling_assets.agents.induction import induce
from starling_assets.agents.tasks import PACKAGED, load_task
from starling_assets.artifacts.locks import partition_lock
from starling_assets.inference.budget import Budget
from starling_assets.inference.ledger import Ledger

from .errors import UserError
from .filter import NOTHING_INDEXED, read_vocabulary
from .project import Project


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
    with partition_lock(home, f"induction of {name}"):
        outcome = induce(task, source, client, home)
    console = Console()
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
    shards = {
        shard: ShardPassages(
            store.read("papers", shard, table="blocks"), store.read("papers", shard), store.read("chunks", shard)
        )
        for shard in sorted({*entities.shards()} & {*vectors.shards()})
    }
    if not shards:
        raise UserError(NOTHING_INDEXED)
    return IndexedPassages(shards, entities, vectors, model, vocabulary, project.settings.retrieval)
