"""`starling tag-plan`: what tagging the missing passages by a model would take, before anything is paid for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import orjson

from resources.endpoints.building import build_client
from resources.endpoints.planning import plan_calls
from starling_assets.artifacts.journal import Journal
from starling_assets.inference.estimates import Estimate
from starling_assets.tagging.engines import passes
from starling_assets.tagging.entity_types import EntityType
from starling_assets.tagging.llm.passages import plan_passages
from starling_assets.tagging.llm.prompts import system_prompt
from starling_assets.tagging.llm.reading import Pass, plan_passes, purpose_of, role_of, tag_call

from .bars import terminal
from .errors import UserError
from .plan import estimate_table
from .project import Project

ENGINES = ("student", "teacher")


def plan_tagging(engine: str | None, *, as_json: bool) -> None:
    """Print what tagging by ``engine`` would take; by default the configured one, else the student."""
    project = Project()
    configured = project.settings.tagging.engine
    chosen = engine or (configured if configured in ENGINES else "student")
    if chosen not in ENGINES:
        raise UserError(f"the engine {chosen!r} asks no model: choose {' or '.join(ENGINES)}")
    if not project.book.keys():
        raise UserError("there are no papers yet: add some with `starling add PATH…`")
    found = estimate_tagging(project, chosen)
    if as_json:
        print(orjson.dumps({"engine": chosen, **asdict(found)}, option=orjson.OPT_INDENT_2).decode())
        return
    console = terminal()
    title = f"Tagging by the {chosen} that is still to be paid for"
    console.print(estimate_table(title, "passes over passages", found))
    console.print(f"set tagging.engine to {chosen} and materialise tag_shards to start; tagging.max_cost bounds it")


def estimate_tagging(project: Project, engine: str) -> Estimate:
    """The sum over all passes of all shards that have been read and not been paid for with the configured model."""
    parts = []
    for entity_type in passes(engine):
        missing = list(_missing(project, entity_type))
        users = [_user(item, project.settings.tagging.max_output_tokens) for item in missing]
        parts.append(
            plan_calls(
                project.settings,
                role_of(entity_type),
                purpose_of(entity_type),
                system_prompt(entity_type).text,
                users,
                project.settings.tagging.max_output_tokens,
            )
        )
    return _sum(parts)


def _missing(project: Project, entity_type: EntityType | None) -> Iterator[Pass]:
    settings, store = project.settings.tagging, project.store
    model = build_client(project.settings).model_name(role_of(entity_type))
    seen: set[str] = set()
    for shard in project.book.in_order():
        if not store.exists("papers", shard, table="blocks"):
            continue
        outcomes = Journal(store.folder("tag_shards", shard) / "journal").outcomes()
        done = {unit for unit, outcome in outcomes.items() if outcome.counts_as_done()}
        blocks = store.read("papers", shard, table="blocks")
        passages = plan_passages(blocks, settings.window_paragraphs, settings.max_window_tokens)
        for item in plan_passes(passages, [entity_type], model):
            if item.unit not in done and (shard + item.unit) not in seen:
                seen.add(shard + item.unit)
                yield item


def _user(item: Pass, max_output_tokens: int) -> str:
    return tag_call(item.unit, item.passage, item.entity_type, max_output_tokens, purpose_of(item.entity_type)).user


def _sum(parts: list[Estimate]) -> Estimate:
    """Types are read one after the other, so times add up too; an unknown cost makes the whole unknown."""
    costs, most = [part.cost for part in parts], [part.most_cost for part in parts]
    return Estimate(
        calls=sum(part.calls for part in parts),
        prompt_tokens=sum(part.prompt_tokens for part in parts),
        cached_tokens=sum(part.cached_tokens for part in parts),
        completion_tokens=sum(part.completion_tokens for part in parts),
        seconds=round(sum(part.seconds for part in parts), 1),
        cost=None if None in costs else sum(cost for cost in costs if cost is not None),
        most_cost=None if None in most else sum(cost for cost in most if cost is not None),
        basis="; ".join(dict.fromkeys(part.basis for part in parts)),
    )
