"""Chooses the tagger by ``tagging.engine``: the one place that knows all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import polars as pl

from starling_assets.inference.calls import Role
from starling_assets.settings import Settings, SettingsError

from .collecting import Tagged
from .entity_types import EntityType

if TYPE_CHECKING:
    from .llm.tagger import ModelWork


class Tagger(Protocol):
    """Blocks of papers to tags and mentions, with offsets of the stored text. The same input gives the same rows."""

    def tag(self, blocks: pl.DataFrame) -> Tagged:
        """Tags of ``blocks`` (``literature.tables.BLOCKS``), paper by paper."""
        ...


def model_role(settings: Settings) -> Role | None:
    """The role that the configured engine asks; None where tagging calls no model."""
    return {"student": Role.TAGGER, "teacher": Role.TEACHER}.get(settings.tagging.engine)


def passes(engine: str) -> list[EntityType | None]:
    """What one window is read for: every type by itself by the teacher, all at once (None) by the student."""
    return list(EntityType) if engine == "teacher" else [None]


def build_tagger(settings: Settings, lexicon: pl.DataFrame, work: ModelWork | None = None) -> Tagger:
    """The tagger that the settings name.

    ``work`` is needed by the engines that ask a model (see :func:`model_role`). Raises :class:`SettingsError` for an
    engine that is not part of this installation.
    """
    engine = settings.tagging.engine
    if engine == "dictionary":
        from .dictionary import DictionaryTagger

        return DictionaryTagger(lexicon, settings.tagging)
    if engine == "encoder":
        from .encoder_tagger import EncoderTagger

        return EncoderTagger(lexicon, settings.tagging)
    if engine in {"student", "teacher"}:
        from .llm.tagger import ModelTagger

        if work is None:
            raise ValueError(f"the engine {engine!r} asks a model: give it a door and a journal")
        return ModelTagger(passes(engine), lexicon, settings.tagging, work)
    raise SettingsError(
        f"tagging.engine is {engine!r}, which this installation does not have: choose dictionary, encoder, student or "
        "teacher"
    )
