"""`starling filter explain`: what a filter was taken for, and how many units each of its parts lets through."""

from __future__ import annotations

import orjson
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape

from resources.entity_index import EntityIndexResource
from starling_assets.artifacts.store import Store
from starling_assets.retrieval.explain import explain
from starling_assets.retrieval.filterspec import FilterSpec, Scope
from starling_assets.retrieval.grammar import FilterError, parse_text, validate
from starling_assets.retrieval.vocabulary import Vocabulary

from .errors import UserError
from .project import Project

NOTHING_INDEXED = "nothing is indexed yet: `starling demo`, or `starling add PATH…`"


def explain_filter(filter_text: str, scope: str, *, expand: bool, as_json: bool) -> None:
    """Print the explanation of a filter over all loaded shards."""
    project = Project()
    try:
        spec = read_filter(filter_text, scope, expand=expand)
        found = explain(spec, read_vocabulary(project.store), EntityIndexResource().index(), project.settings.retrieval)
    except FilterError as error:
        raise UserError(f"filter: {error}") from None
    if as_json:
        shown = {"entity_groups": spec.entity_groups, **found.model_dump(mode="json")}
        print(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())
        return
    for line in found.lines:
        Console().print(escape(line), highlight=False, soft_wrap=True)


def read_filter(text: str, scope: str, *, query: str = "", expand: bool = True) -> FilterSpec:
    """A filter as a user writes it: the text form, or ``entity_groups`` as a JSON list of lists.

    Raises FilterError; UserError for a scope that does not exist.
    """
    try:
        unit = Scope(scope)
    except ValueError:
        raise UserError(f"--scope is {scope!r}: it must be one of {', '.join(Scope)}") from None
    if not text.lstrip().startswith("["):
        return parse_text(text, semantic_query=query, scope=unit, expand=expand)
    try:
        spec = FilterSpec(entity_groups=orjson.loads(text), semantic_query=query, scope=unit, expand=expand)
    except (orjson.JSONDecodeError, ValidationError):
        raise FilterError(
            'as JSON it must be a list of lists of names, as in [["SmallMolecule"], ["~Antibody"]]'
        ) from None
    validate(spec)
    return spec


def read_vocabulary(store: Store) -> Vocabulary:
    """The names that the corpus was tagged with. Raises UserError where nothing has been indexed."""
    if not store.exists("lexicon"):
        raise UserError(NOTHING_INDEXED)
    return Vocabulary.from_frames(
        store.read("lexicon"), store.read("lexicon", table="concepts"), store.read("lexicon", table="edges")
    )
