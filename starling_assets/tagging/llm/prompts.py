"""The prompts: one file per entity type, one frame for the teacher's passes, one for the student's joint pass."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starling_assets.artifacts.keys import content_key
from starling_assets.inference.prompting import read_prompt_file
from starling_assets.tagging.entity_types import EntityType

from .replies import OF_SPECIES

FOLDER = Path(__file__).resolve().parent.parent / "prompts"
SECTIONS = ("Definition", "Mark", "Do not mark", "Edge cases")
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_ORGANISM = "- organism: the species as a scientific name if the passage tells it or clearly implies it, else null"
_MOLECULE = (
    "- alias: the paper's own label of the compound (6f), else null\n"
    "- resolved_name: the systematic name if the passage prints it, else null"
)


class PromptError(ValueError):
    """A prompt file is not of the form it should have: a mistake in the program."""


@dataclass(frozen=True, slots=True)
class TypeRules:
    """A type's file: rules as Markdown lists, and the examples as (passage, answer) pairs."""

    entity_type: EntityType
    definition: str
    mark: str
    not_mark: str
    edge: str
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """What a pass says before the passage; ``reference`` is ``name@hash`` of all of it."""

    text: str
    reference: str


def file_name(entity_type: EntityType) -> str:
    """``Protein/GeneFamily`` is described in ``protein_gene_family.md``."""
    return EntityType(entity_type).name.lower() + ".md"


@cache
def type_rules(entity_type: EntityType) -> TypeRules:
    """The rules of one type. Raises :class:`PromptError` where a section is missing."""
    prompt = read_prompt_file(FOLDER / file_name(entity_type))
    parts = _HEADING.split(prompt.text)
    if parts[0].strip() != f"# {entity_type.value}":
        raise PromptError(f"{prompt.name}.md must begin with '# {entity_type.value}'")
    sections = [(name, body.strip()) for name, body in zip(parts[1::2], parts[2::2], strict=True)]
    texts = dict(sections)
    missing = [name for name in (*SECTIONS, "Example") if not texts.get(name)]
    if missing:
        raise PromptError(f"{prompt.name}.md lacks {', '.join(missing)}")
    examples = tuple(_example(body, prompt.name) for name, body in sections if name == "Example")
    definition, mark, not_mark, edge = (texts[name] for name in SECTIONS)
    return TypeRules(entity_type, definition, mark, not_mark, edge, examples)


@cache
def teacher_prompt(entity_type: EntityType) -> SystemPrompt:
    """The system prompt of the pass over one type."""
    rules = type_rules(entity_type)
    extra = _ORGANISM if entity_type in OF_SPECIES else ""
    if entity_type is EntityType.SMALL_MOLECULE:
        extra = _MOLECULE
    examples = "\n".join(f"Passage: {text}\nAnswer: {answer}" for text, answer in rules.examples)
    text = read_prompt_file(FOLDER / "teacher.md").fill(
        {
            "type": entity_type.value,
            "definition": rules.definition,
            "mark": rules.mark,
            "not_mark": rules.not_mark,
            "edge": rules.edge,
            "extra": extra,
            "examples": examples,
        }
    )
    return SystemPrompt(text, f"tag-{entity_type.name.lower()}@{content_key(text)[:12]}")


@cache
def student_prompt() -> SystemPrompt:
    """The system prompt of the joint pass: every type with its definition."""
    types = "\n".join(f"- {item.value}: {type_rules(item).definition}" for item in EntityType)
    text = read_prompt_file(FOLDER / "student.md").fill({"types": types})
    return SystemPrompt(text, f"tag-joint@{content_key(text)[:12]}")


def system_prompt(entity_type: EntityType | None) -> SystemPrompt:
    """The prompt of a pass: over one type, or over all for ``None``."""
    return student_prompt() if entity_type is None else teacher_prompt(entity_type)


def _example(body: str, name: str) -> tuple[str, str]:
    text, mark, answer = body.partition("\nAnswer: ")
    if not mark or not text.startswith("Text: "):
        raise PromptError(f"{name}.md: an example needs a line 'Text: …' and a line 'Answer: …'")
    return text.removeprefix("Text: "), answer.strip()
