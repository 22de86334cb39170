"""FilterSpec: the CNF entity constraint with a semantic query (figure 4 of the paper)."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Scope(StrEnum):
    """The unit that a filter is true or false of."""

    PARAGRAPH = "paragraph"
    CHUNK = "chunk"
    PAPER = "paper"


class FilterSpec(BaseModel):
    """Outer AND over groups, inner OR over terms; ``~`` negates a term.

    A term is one of the 19 type names or an entity name. ``expand`` adds narrower concepts.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    entity_groups: list[list[str]] = Field(default_factory=list)
    semantic_query: str = ""
    scope: Scope = Scope.CHUNK
    expand: bool = True


class Term(BaseModel):
    """A term with what it was resolved to."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str
    negated: bool = False
    kind: Literal["type", "entity"]
    ids: list[str]  # posting ids: `type:<EntityType>` or concept CURIEs incl. narrower ones, sorted
    candidates: list[str] = []  # every concept the name could mean, `CURIE name`
    chosen: list[str] = []  # the concepts taken before expansion
    truncated: bool = False
    expansion_total: int = 0


class ResolvedFilter(BaseModel):
    """A filter whose every term is resolved; the only thing an index evaluates."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    groups: list[list[Term]]
    scope: Scope
