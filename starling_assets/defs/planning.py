"""Assets of a task's plan: its specification, its probes resolved against the vocabulary, its frozen schema."""

import dagster as dg
import polars as pl
from pydantic import ValidationError

from resources.project import ProjectResource
from starling_assets.agents.tasks import Task, load_task, schema_hash
from starling_assets.artifacts.files import StoreError, write_bytes
from starling_assets.artifacts.store import Store
from starling_assets.partitions import tasks
from starling_assets.retrieval.probes import Probe, ResolvedProbe, resolve_probe
from starling_assets.retrieval.vocabulary import Vocabulary

from .metadata import sample_table
from .ontology import lexicon

_TASK = dg.BackfillPolicy.multi_run(max_partitions_per_run=1)


@dg.asset(group_name="planning", partitions_def=tasks, backfill_policy=_TASK, pool="cpu", kinds={"yaml"})
def task_spec(context: dg.AssetExecutionContext, project: ProjectResource) -> dg.MaterializeResult:
    """The task as its folder states it: sentence, entity type, labels, fields, budget."""
    task = load_task(context.partition_key, project.task_folders)
    folder = project.store.folder("task_spec", task.name)
    write_bytes(folder / "task.json", task.model_dump_json(indent=1).encode() + b"\n")
    return dg.MaterializeResult(
        metadata={
            "sentence": task.sentence,
            "entity_type": task.entity_type.value,
            "labels": ", ".join(task.record.label.allowed),
            "fields": ", ".join(field.name for field in task.record.fields),
            "approved": task.approved,
        }
    )


@dg.asset(
    group_name="planning",
    partitions_def=tasks,
    backfill_policy=_TASK,
    deps=[task_spec, lexicon],
    pool="cpu",
    kinds={"json"},
)
def probe_set(context: dg.AssetExecutionContext, project: ProjectResource) -> dg.MaterializeResult:
    """The task's probes with every term resolved to concepts and their narrower ones."""
    task, store = read_task(project.store, context.partition_key), project.store
    vocabulary = Vocabulary.from_frames(
        store.read("lexicon"), store.read("lexicon", table="concepts"), store.read("lexicon", table="edges")
    )
    resolved = [
        resolve_probe(Probe(name=probe.name, filter=probe.filter), vocabulary, project.settings.retrieval)
        for probe in task.probes
    ]
    for probe in resolved:
        write_bytes(
            store.folder("probe_set", task.name) / f"{probe.name}.json",
            probe.model_dump_json(indent=1).encode() + b"\n",
        )
    frame = pl.DataFrame(
        {
            "probe": [probe.name for probe in resolved],
            "query": [probe.semantic_query for probe in resolved],
            "resolved": [probe.model_dump_json() for probe in resolved],
        }
    )
    store.write(frame, "probe_set", task.name)
    terms = pl.DataFrame(
        [
            {
                "probe": probe.name,
                "term": ("NOT " if term.negated else "") + term.text,
                "concepts": ", ".join(term.chosen),
                "ids": len(term.ids),
                "truncated": term.truncated,
            }
            for probe in resolved
            for group in probe.resolved.groups
            for term in group
        ],
        schema={"probe": pl.String, "term": pl.String, "concepts": pl.String, "ids": pl.Int64, "truncated": pl.Boolean},
    )
    return dg.MaterializeResult(
        metadata={
            "probes": len(resolved),
            "truncated_terms": int(terms["truncated"].sum()),
            "terms": sample_table(terms, terms.columns, rows=60),
        }
    )


@dg.asset(
    group_name="planning", partitions_def=tasks, backfill_policy=_TASK, deps=[task_spec], pool="cpu", kinds={"json"}
)
def frozen_schema(context: dg.AssetExecutionContext, project: ProjectResource) -> dg.MaterializeResult:
    """The extraction schema with its hash. Only an approved task has one: nothing is extracted before."""
    task = read_task(project.store, context.partition_key)
    if not task.approved:
        raise dg.Failure(
            description=f"task {task.name} is not approved: look at its schema.yaml and probes.json, then run "
            f"`starling task approve {task.name}`",
            allow_retries=False,
        )
    digest = schema_hash(task)
    frame = pl.DataFrame({"schema_hash": [digest], "task": [task.model_dump_json()]})
    project.store.write(frame, "frozen_schema", task.name)
    fields = pl.DataFrame([{"field": f.name, "type": f.type, "meaning": f.description} for f in task.record.fields])
    return dg.MaterializeResult(
        metadata={"schema_hash": digest, "fields": sample_table(fields, ["field", "type", "meaning"], rows=60)},
        data_version=dg.DataVersion(digest),
    )


def read_task(store: Store, name: str) -> Task:
    """The task as `task_spec` stored it."""
    return _stored_task((store.folder("task_spec", name) / "task.json").read_bytes(), name)


def read_frozen_task(store: Store, name: str) -> tuple[Task, str]:
    """The task behind the frozen schema, and the schema's hash."""
    row = store.read("frozen_schema", name).row(0, named=True)
    return _stored_task(row["task"], name), row["schema_hash"]


def _stored_task(text: str | bytes, name: str) -> Task:
    try:
        return Task.model_validate_json(text)
    except ValidationError:
        raise StoreError(
            f"the plan of {name} was stored by another version of Starling: materialise task_spec, probe_set and "
            f"frozen_schema of {name} again (`starling run {name}` does)"
        ) from None


def read_probes(store: Store, name: str) -> list[ResolvedProbe]:
    """The resolved probes of a task."""
    return [ResolvedProbe.model_validate_json(text) for text in store.read("probe_set", name)["resolved"]]
