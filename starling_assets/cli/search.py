"""`starling search`: passages closest to a query among those that an entity filter lets through."""

from __future__ import annotations

from dataclasses import asdict

import orjson
from rich.console import Console
from rich.table import Table

from resources.embedder import EmbedderResource
from resources.entity_index import EntityIndexResource
from resources.project import ProjectResource
from resources.vector_index import VectorIndexResource
from starling_assets.retrieval.grammar import FilterError
from starling_assets.retrieval.resolution import resolve
from starling_assets.retrieval.search import Hit, search_shards

from .errors import UserError
from .filter import read_filter, read_vocabulary
from .project import Project


def run_search(query: str, filter_text: str, scope: str, limit: int, *, as_json: bool) -> None:
    """Print the best ``limit`` chunks."""
    project = Project()
    store = project.store
    vocabulary = read_vocabulary(store)
    try:
        resolved = resolve(read_filter(filter_text, scope, query=query), vocabulary, project.settings.retrieval)
    except FilterError as error:
        raise UserError(f"filter: {error}") from None
    hits = search_shards(
        resolved,
        query,
        limit,
        store,
        EntityIndexResource().index(),
        VectorIndexResource().index(),
        EmbedderResource().embedder(),
        ProjectResource(root=str(project.root)).standing(),
    )
    _show(hits, as_json=as_json)


def _show(hits: list[Hit], *, as_json: bool) -> None:
    if as_json:
        print(orjson.dumps([asdict(hit) for hit in hits], option=orjson.OPT_INDENT_2).decode())
        return
    table = Table("similarity", "paper", "section", "text")
    for hit in hits:
        table.add_row(f"{hit.similarity:.3f}", hit.paper_id, hit.section, hit.text[:300])
    Console().print(table)
    if not hits:
        Console().print("no passage passes the filter")
