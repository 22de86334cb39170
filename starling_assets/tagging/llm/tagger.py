"""Teacher and student as taggers: plan the passes, pay for those that are missing, ground and merge what came back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import polars as pl

from starling_assets.artifacts.journal import Journal, Outcome, Tally
from starling_assets.inference.calls import ModelClient, Usage
from starling_assets.inference.stopping import Stop
from starling_assets.journalled import OnProgress, run_journalled
from starling_assets.settings.model import TaggingSettings
from starling_assets.tagging.collecting import Collector, Mention, Tagged
from starling_assets.tagging.entity_types import EntityType

from .concepts import ConceptNames
from .grounding import Found, Rejected, ground
from .merging import Merged, merge
from .passages import Passage, plan_passages
from .reading import Pass, entities_of, plan_passes, read_pass, role_of

#: Forms and fields that a model gave and the text does not bear out.
REJECTED: dict[str, pl.DataType | type[pl.DataType]] = {
    "paper_id": pl.String,
    "first_para": pl.UInt32,  # para_idx of the passage's first paragraph
    "entity_type": pl.String,
    "name": pl.String,
    "form": pl.String,
    "reason": pl.String,
}
#: One row per passage: how its passes ended. A passage with a failed pass is no example to learn from.
PASSAGES: dict[str, pl.DataType | type[pl.DataType]] = {
    "passage": pl.String,  # content key
    "paper_id": pl.String,
    "paper_ordinal": pl.UInt32,
    "parts": pl.List(  # the stretch of each paragraph that the passage shows
        pl.Struct({"para_idx": pl.UInt32, "number": pl.UInt32, "start": pl.UInt32, "end": pl.UInt32})
    ),
    "passes": pl.UInt32,
    "ok": pl.UInt32,
    "empty": pl.UInt32,
    "failed": pl.UInt32,
}


@dataclass(frozen=True)
class ModelWork:
    """What paying for a tagging run takes: the door, where outcomes are kept, how many calls at once, who watches."""

    client: ModelClient
    journal: Journal
    in_flight: int = 1
    on_progress: OnProgress | None = None
    stop: Stop | None = None


@dataclass(frozen=True)
class ModelTagged(Tagged):
    """Tags and mentions, with REJECTED and PASSAGES frames and the tally of passes."""

    rejected: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=REJECTED))
    passages: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=PASSAGES))
    tally: Tally = field(default_factory=lambda: Tally(planned=0, ok=0, empty=0, failed=0, pending=0))


class ModelTagger:
    """Tags by a language model: ``types`` are the passes, one per type or the single joint one (``[None]``)."""

    def __init__(
        self, types: Sequence[EntityType | None], lexicon: pl.DataFrame, settings: TaggingSettings, work: ModelWork
    ) -> None:
        self._types = list(types)
        self._lexicon = lexicon
        self._settings = settings
        self._work = work

    @property
    def name(self) -> str:
        """Engine and model, as the tags state them."""
        role = role_of(self._types[0])
        engine = "student" if self._types == [None] else "teacher"
        return f"{engine}:{self._work.client.model_name(role)}"

    def plan(self, blocks: pl.DataFrame) -> tuple[list[Passage], list[Pass]]:
        """Passages of ``blocks`` and the passes over them; costs nothing."""
        passages = plan_passages(blocks, self._settings.window_paragraphs, self._settings.max_window_tokens)
        model = self._work.client.model_name(role_of(self._types[0]))
        return passages, plan_passes(passages, self._types, model)

    def tag(self, blocks: pl.DataFrame) -> ModelTagged:
        """Tags of ``blocks``; passes that have an outcome in the journal are not paid for again.

        A fatal failure (wrong key, quota, budget, stop) or an endpoint that is gone is raised as
        :class:`~starling_assets.inference.calls.ModelFailure`, after everything paid for has been stored.
        """
        passages, passes = self.plan(blocks)
        work, most = self._work, self._settings.max_output_tokens

        async def read(item: Pass) -> tuple[Outcome, Usage]:
            return await read_pass(item, work.client, most)

        tally = run_journalled(passes, read, work.journal, work.in_flight, work.on_progress, work.stop)
        outcomes = work.journal.outcomes()
        return self.assemble(passages, passes, outcomes, tally)

    def assemble(
        self, passages: Sequence[Passage], passes: Sequence[Pass], outcomes: Mapping[str, Outcome], tally: Tally
    ) -> ModelTagged:
        """The tables of what is in the journal; pure, so a better rule needs no new call."""
        by_passage: dict[str, list[Outcome]] = {}
        seen: set[str] = set()
        for item in passes:
            # Equal passages (a paper given twice) share one outcome: it is taken once per content.
            if item.unit in outcomes and item.unit not in seen:
                seen.add(item.unit)
                by_passage.setdefault(item.passage.key, []).append(outcomes[item.unit])
        rejected: list[Rejected] = []
        papers: list[tuple[list[Passage], Merged]] = []
        for _, group in groupby(passages, key=lambda passage: passage.pieces[0].block.paper_ordinal):
            paper = list(group)
            found: list[Found] = []
            for passage in paper:
                entities = [entity for one in by_passage.get(passage.key, []) for entity in entities_of(one)]
                grounded = ground(passage, entities)
                found += grounded.found
                rejected += grounded.rejected
            papers.append((paper, merge(found)))
        names = ConceptNames(self._lexicon, (entity for _, merged in papers for entity in merged.entities.values()))
        collector = Collector(self.name)
        for _, merged in papers:
            _collect(merged, names, collector)
        tagged = collector.finish()
        return ModelTagged(
            tagged.tags,
            tagged.mentions,
            pl.DataFrame(rejected, schema=REJECTED, orient="row"),
            _passage_rows(passages, len(self._types), by_passage),
            tally,
        )


def _collect(merged: Merged, names: ConceptNames, collector: Collector) -> None:
    choices = {key: names.choice(entity) for key, entity in merged.entities.items()}
    for _, group in groupby(merged.spots, key=lambda spot: spot.block):
        spots = list(group)
        collector.add(spots[0].block, (Mention(spot.start, spot.end, choices[spot.key]) for spot in spots))


def _passage_rows(
    passages: Sequence[Passage], passes: int, by_passage: Mapping[str, Sequence[Outcome]]
) -> pl.DataFrame:
    rows = []
    for passage in passages:
        first = passage.pieces[0].block
        statuses = Counter(outcome.status for outcome in by_passage.get(passage.key, []))
        parts = [
            {
                "para_idx": piece.block.para_idx,
                "number": piece.number,
                "start": piece.start,
                "end": piece.start + len(piece.text),
            }
            for piece in passage.pieces
        ]
        rows.append(
            (
                passage.key,
                first.paper_id,
                first.paper_ordinal,
                parts,
                passes,
                statuses["ok"],
                statuses["empty"],
                statuses["failed"],
            )
        )
    return pl.DataFrame(rows, schema=PASSAGES, orient="row")
