"""What a tagging model answers, as closed types: one per group of entity types, and one for the joint pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from starling_assets.inference.strict_json import absent_to_none
from starling_assets.tagging.entity_types import EntityType

#: Bounds that guided decoding holds the model to; a list that reaches its bound counts as cut off.
MAX_NAME = 160
MAX_SYNONYMS = 5
MAX_FORMS = 16
MAX_PARAGRAPHS = 12
MAX_TYPED = 60
MAX_JOINT = 150

#: Types whose entities belong to a species.
OF_SPECIES = frozenset(
    {
        EntityType.GENE,
        EntityType.GENE_VARIANT,
        EntityType.PROTEIN,
        EntityType.PROTEIN_GENE_FAMILY,
        EntityType.RNA,
    }
)


def _text(limit: int = MAX_NAME) -> dict[str, Any]:
    return {"type": "string", "maxLength": limit}


def _texts(most: int) -> dict[str, Any]:
    return {"type": "array", "maxItems": most, "items": _text()}


_Name = Annotated[str, WithJsonSchema(_text())]
_Synonyms = Annotated[list[str], WithJsonSchema(_texts(MAX_SYNONYMS))]
_Forms = Annotated[list[str], WithJsonSchema(_texts(MAX_FORMS))]
_Paragraphs = Annotated[
    list[int], WithJsonSchema({"type": "array", "maxItems": MAX_PARAGRAPHS, "items": {"type": "integer"}})
]
_Optional = Annotated[
    str | None, BeforeValidator(absent_to_none), WithJsonSchema({"anyOf": [_text(), {"type": "null"}]})
]


@dataclass(frozen=True, slots=True)
class Named:
    """One entity as a model gave it, nothing of it checked against the text yet."""

    entity_type: str
    name: str
    synonyms: tuple[str, ...]
    forms: tuple[str, ...]
    paragraphs: tuple[int, ...]
    organism: str | None = None
    alias: str | None = None
    resolved_name: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain values for the journal."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Named:
        """Inverse of :meth:`as_dict`."""
        lists = {name: tuple(values[name]) for name in ("synonyms", "forms", "paragraphs")}
        return cls(**{**values, **lists})


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PlainEntity(_Shape):
    """An entity of a type without further fields."""

    name: _Name
    synonyms: _Synonyms
    forms: _Forms
    paragraphs: _Paragraphs


class SpeciesEntity(PlainEntity):
    """A gene, protein, family, variant or RNA."""

    organism: _Optional = None


class MoleculeEntity(PlainEntity):
    """A small molecule."""

    alias: _Optional = None
    resolved_name: _Optional = None


class JointEntity(_Shape):
    """An entity of any type, as the student gives it."""

    type: EntityType
    name: _Name
    synonyms: _Synonyms
    forms: _Forms
    paragraphs: _Paragraphs
    organism: _Optional = None
    alias: _Optional = None
    resolved_name: _Optional = None


class PlainReply(_Shape):
    """All entities of one type without further fields."""

    entities: Annotated[list[PlainEntity], Field(json_schema_extra={"maxItems": MAX_TYPED})]


class SpeciesReply(_Shape):
    """All entities of one type that belongs to species."""

    entities: Annotated[list[SpeciesEntity], Field(json_schema_extra={"maxItems": MAX_TYPED})]


class MoleculeReply(_Shape):
    """All small molecules."""

    entities: Annotated[list[MoleculeEntity], Field(json_schema_extra={"maxItems": MAX_TYPED})]


class JointReply(_Shape):
    """All entities of all types."""

    entities: Annotated[list[JointEntity], Field(json_schema_extra={"maxItems": MAX_JOINT})]


type Reply = PlainReply | SpeciesReply | MoleculeReply | JointReply


def reply_type(entity_type: EntityType | None) -> type[Reply]:
    """The reply of a pass over one type; of the joint pass for ``None``."""
    if entity_type is None:
        return JointReply
    if entity_type is EntityType.SMALL_MOLECULE:
        return MoleculeReply
    return SpeciesReply if entity_type in OF_SPECIES else PlainReply


def named(reply: Reply, entity_type: EntityType | None) -> list[Named]:
    """The entities of a reply; ``entity_type`` is the type of the pass, ``None`` for the joint one.

    Fields that do not belong to an entity's type are dropped: the joint form has room for all of them.
    """
    entities: Sequence[PlainEntity | JointEntity] = reply.entities
    found = []
    for entity in entities:
        kind = entity.type if isinstance(entity, JointEntity) else entity_type
        if kind is None:
            raise ValueError("a typed reply needs the type of its pass")
        molecule = kind is EntityType.SMALL_MOLECULE
        found.append(
            Named(
                kind.value,
                entity.name,
                tuple(entity.synonyms[:MAX_SYNONYMS]),
                tuple(entity.forms),
                tuple(entity.paragraphs),
                getattr(entity, "organism", None) if kind in OF_SPECIES else None,
                getattr(entity, "alias", None) if molecule else None,
                getattr(entity, "resolved_name", None) if molecule else None,
            )
        )
    return found


def is_full(reply: Reply) -> bool:
    """Whether a list of the reply reached its bound, so that entities may be missing."""
    most = MAX_JOINT if isinstance(reply, JointReply) else MAX_TYPED
    return len(reply.entities) >= most or any(len(entity.forms) >= MAX_FORMS for entity in reply.entities)
