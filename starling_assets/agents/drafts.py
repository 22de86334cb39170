"""A new task from one sentence: its folder as a draft, and what a draft still lacks before it may be approved."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from starling_assets.artifacts.files import write_text
from starling_assets.tagging.entity_types import EntityType

from .tasks import NAME, RecordSchema, Task, TaskError, load_task

#: Words that name an entity type in a sentence. The first word of the sentence that is here decides.
_TYPE_WORDS: dict[str, EntityType] = {
    "molecule": EntityType.SMALL_MOLECULE,
    "compound": EntityType.SMALL_MOLECULE,
    "drug": EntityType.SMALL_MOLECULE,
    "chemical": EntityType.SMALL_MOLECULE,
    "reaction": EntityType.SMALL_MOLECULE,
    "gene": EntityType.GENE,
    "variant": EntityType.GENE_VARIANT,
    "protein": EntityType.PROTEIN,
    "enzyme": EntityType.PROTEIN,
    "peptide": EntityType.PEPTIDE,
    "antibody": EntityType.ANTIBODY,
    "antibodies": EntityType.ANTIBODY,
    "disease": EntityType.DISEASE,
    "organism": EntityType.ORGANISM,
    "species": EntityType.ORGANISM,
    "pathway": EntityType.PATHWAY,
    "trial": EntityType.CLINICAL_TRIAL,
}
#: Words that say nothing of the task and do not go into its name.
_PLAIN = frozenset(
    [
        "a",
        "all",
        "and",
        "any",
        "are",
        "been",
        "by",
        "find",
        "for",
        "from",
        "has",
        "have",
        "in",
        "is",
        "its",
        "list",
        "of",
        "on",
        "or",
        "reported",
        "small",
        "that",
        "the",
        "their",
        "there",
        "to",
        "was",
        "were",
        "which",
        "whose",
        "with",
    ]
)


def entity_type_of(sentence: str) -> EntityType:
    """The type that the sentence asks for, by its first telling word. Raises TaskError where there is none."""
    for word in re.findall(r"[a-z]+", sentence.casefold()):
        kind = _TYPE_WORDS.get(word) or _TYPE_WORDS.get(word.removesuffix("s"))
        if kind is not None:
            return kind
    raise TaskError(
        "the sentence does not say what kind of thing to find: name it with --entity-type, one of "
        + ", ".join(kind.value for kind in EntityType)
    )


def name_of(sentence: str) -> str:
    """A task name from the sentence: its last three telling words. Raises TaskError where no name comes of it."""
    words = [word for word in re.findall(r"[a-z0-9]+", sentence.casefold()) if word not in _PLAIN]
    name = "_".join(words[-3:])[:40].rstrip("_").lstrip("0123456789_")
    if not NAME.fullmatch(name):
        raise TaskError("no task name can be made of the sentence: give one with --name")
    return name


def write_draft(folder: Path, sentence: str, entity_type: EntityType) -> Task:
    """Write the files of a draft into ``folder`` (its last part is the task's name) and read them back.

    Raises TaskError when the folder is there already, or the sentence is empty.
    """
    said = " ".join(sentence.split())
    if not said:
        raise TaskError("a task needs a sentence that says what to find")
    if not NAME.fullmatch(folder.name):
        raise TaskError(f"{folder.name!r} is not a task name: use lower-case letters, digits and _, a letter first")
    if folder.exists():
        raise TaskError(f"{folder} is there already: choose another name, or remove it")
    head: dict[str, object] = {"name": folder.name, "sentence": said, "entity_type": entity_type.value}
    write_text(folder / "probes.json", "[]\n")
    write_text(folder / "schema.yaml", _yaml(_draft_schema(said, entity_type)))
    # Last, for it is what makes the folder a task: a draft that was cut short is none.
    write_text(folder / "task.yaml", _yaml(head))
    return load_task(folder.name, [folder.parent])


def lacks(task: Task) -> list[str]:
    """What must be written before the task can be approved, one line each; empty for a whole task."""
    found = []
    if not task.probes:
        found.append(f"{task.folder / 'probes.json'} has no probe: nothing would be read")
    if task.record == RecordSchema.model_validate(_draft_schema(task.sentence, task.entity_type)):
        found.append(f"{task.folder / 'schema.yaml'} is still the draft: write the label, the fields and what counts")
    return found


def state_of(task: Task) -> str:
    """``approved``, ``complete`` (waits for approval) or ``draft`` (lacks something)."""
    missing = lacks(task)
    if task.approved and not missing:
        return "approved"
    return "draft" if missing else "complete"


def _draft_schema(sentence: str, entity_type: EntityType) -> dict[str, object]:
    return {
        "entity": f"the {entity_type.value} that the task asks for",
        "label": {"name": "outcome", "description": "what is reported of the entity", "allowed": []},
        "value": {"description": "the printed number, if any"},
        "fields": [],
        "instantiation": {"counts": [sentence], "not_counts": []},
    }


def _yaml(values: dict[str, object]) -> str:
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=110)
