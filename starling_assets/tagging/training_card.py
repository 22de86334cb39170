"""The card of a training set: what is in it, where it comes from, under which terms, what it is not good for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from starling_assets.tagging.entity_types import EntityType
from starling_assets.tagging.llm.prompts import student_prompt

from .training_set import DEV_ONE_IN, Counts

LIMITS = (
    (
        "The answers are a model's. Only their spans are checked: every form is printed in its passage. Types and "
        "names are not, but for the validated ones. A student learns the teacher's mistakes."
    ),
    "Papers whose licence does not allow redistribution are left out, so the set leans to open journals.",
    "Papers of public benchmarks may be among the sources: leave their identifiers out before scoring on them.",
    "Token counts are estimates from text length.",
)


class Source(NamedTuple):
    """A vocabulary that gave validated names."""

    name: str
    version: str
    licence: str
    attribution: str


def training_card(counts: Counts, validated: Sequence[tuple[str, int, int, str]], sources: Iterable[Source]) -> str:
    """Markdown text; the same set gives the same text.

    ``validated``: per type how many entities were held against the ontology, how many were chosen, overlay version.
    """
    splits = sorted(counts.examples)
    parts = [
        "# Training set for the tagging student",
        (
            "Chats of three messages (system, user, assistant), one JSON object a line, in `examples.jsonl`; the key "
            f"`split` says which part. System prompt `{student_prompt().reference}`. "
            f"Made by {', '.join(sorted(counts.taggers)) or 'no teacher'}."
        ),
        "## Counts",
        _table(
            ("split", "examples", "papers"),
            [(name, counts.examples[name], len(counts.papers.get(name, ()))) for name in splits],
        ),
        (
            f"One paper in {DEV_ONE_IN} is in `dev`, by a hash of its identifier. Passages without any entity: "
            f"{counts.empty}. Estimated tokens: {counts.tokens}."
        ),
        "Left out:",
        _table(("reason", "passages"), sorted(counts.left_out.items())),
        "## Entities",
        _table(("type", "entities"), [(item.value, counts.types[item.value]) for item in EntityType]),
        "## Validated names",
        "The most frequent entities of a type carry the ontology's name and synonyms where a model found the entry.",
        _table(("type", "validated", "chosen", "overlay"), validated),
        "## Licences of the sources",
        _table(("licence", "papers"), [(name, len(ids)) for name, ids in sorted(counts.licences.items())]),
        "Each line names its paper and licence; attribution is due to the papers.",
        "## Vocabularies",
        _table(("name", "version", "licence", "attribution"), sources),
        "## Limits",
        "\n".join(f"- {line}" for line in LIMITS),
    ]
    return "\n\n".join(parts) + "\n"


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) if len(lines) > 2 else "None."
