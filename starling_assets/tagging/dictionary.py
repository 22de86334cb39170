"""The embedded tagger: vocabularies, patterns and the paper's own definitions; no model, no network.

Every mention's offsets are those of the stored text: ``text[start:end] == surface``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

import polars as pl

from starling_assets.settings.model import TaggingSettings
from starling_assets.tagging import aliases, patterns
from starling_assets.tagging.abbreviations import Definition, definitions
from starling_assets.tagging.choosing import Choice, choose, needs_context
from starling_assets.tagging.collecting import Block, Collector, Mention, Tagged
from starling_assets.tagging.context import SpeciesMention
from starling_assets.tagging.encoder_features import Found
from starling_assets.tagging.salts import join_salts
from starling_assets.tagging.vocabulary import Entry, Vocabulary, full_span

__all__ = ["DictionaryTagger", "Tagged"]

TAGGER = "dictionary"
_LONG_FORM_SHARE = 0.5
_REMEMBERED = 200_000
#: Paragraphs that get their second look together; what is remembered of them bounds the memory.
_TOGETHER = 512
_WORD = re.compile(r"\w")
_GOES_ON = re.compile(r"\w|-\w*\d")


@dataclass
class Read:
    """A paragraph with what was found in it so far."""

    block: Block
    hits: list[tuple[int, int, list[Entry]]]
    species: list[SpeciesMention]
    labels: list[aliases.Label]


#: Paragraphs of a paper, each with the mentions read there so far.
Paper = list[tuple[Read, list[Mention]]]


class DictionaryTagger:
    """Tags blocks of papers with all types that the lexicon or a pattern covers."""

    name = TAGGER

    def __init__(self, lexicon: pl.DataFrame, settings: TaggingSettings) -> None:
        self._vocabulary = Vocabulary(lexicon, settings.min_name_length)
        self._fixed: dict[tuple[str, str, int, str], Choice | None] = {}

    @property
    def vocabulary(self) -> Vocabulary:
        """The names in memory; for look-ups and benchmarks."""
        return self._vocabulary

    def tag(self, blocks: pl.DataFrame) -> Tagged:
        """Tags and mentions of ``blocks`` (``literature.tables.BLOCKS``), paper by paper.

        Blocks without ``para_idx`` (headings, references) are not read. The result is sorted and depends on the
        blocks and the lexicon alone.
        """
        collector = Collector(self.name)
        columns = ["paper_ordinal", "paper_id", "block_key", "para_idx", "para_ordinal", "text"]
        readable = blocks.filter(pl.col("para_idx").is_not_null()).select(columns).sort("paper_ordinal", "para_idx")
        group: list[Paper] = []
        paragraphs = 0
        for _, rows in groupby(readable.iter_rows(), key=lambda row: row[1]):
            paper = self._looked_up([Block(*row) for row in rows])
            group.append(paper)
            paragraphs += len(paper)
            if paragraphs >= _TOGETHER:
                self._finish(group, collector)
                group, paragraphs = [], 0
        self._finish(group, collector)
        return collector.finish()

    def mentions(self, text: str) -> list[Mention]:
        """Mentions of one paragraph taken as a whole paper; for benchmarks and look-ups."""
        collector = Collector(self.name)
        self._finish([self._looked_up([Block(0, "text", "text", 0, 0, text)])], collector)
        return collector.mentions

    def found(self, text: str) -> list[Found]:
        """What the encoder is told of a paragraph: names that fit, what is chosen of them, what a pattern finds."""
        ((read, chosen),) = self._looked_up([Block(0, "text", "text", 0, 0, text)])
        return found_in(read, [*chosen, *pattern_mentions(text)])

    def refined(self, papers: list[Paper]) -> list[Paper]:
        """The mentions of several papers after a second look; the dictionary alone has none."""
        return papers

    def _looked_up(self, blocks: list[Block]) -> Paper:
        reads = [self._read(block) for block in blocks]
        in_paper = Counter(mention.taxon for read in reads for mention in read.species)
        return [(read, self._choose(read, in_paper)) for read in reads]

    def _finish(self, papers: list[Paper], collector: Collector) -> None:
        for paper in self.refined(papers):
            defined = self._abbreviations(paper)
            labels = {label.label for read, _ in paper for label in read.labels}
            for read, mentions in paper:
                text = read.block.text
                if defined:
                    mentions = [item for item in mentions if text[item.start : item.end] not in defined]
                    mentions.extend(_short_mentions(text, defined))
                more = pattern_mentions(text)
                if labels:
                    more.extend(_alias_mentions(text, read.labels, labels, mentions))
                if more or defined:
                    mentions = longest([*mentions, *more])
                collector.add(read.block, mentions)

    def _read(self, block: Block) -> Read:
        hits: list[tuple[int, int, list[Entry]]] = []
        species: list[SpeciesMention] = []
        for hit in self._vocabulary.find(block.text):
            entries = self._vocabulary.fitting(hit, block.text)
            if not entries:
                continue
            start, end = full_span(entries[0], hit)
            hits.append((start, end, entries))
            species.extend(
                SpeciesMention(start, end, entry.concept_id)
                for entry in entries
                if entry.entity_type == "Organism" and entry.concept_id.startswith("NCBITaxon:")
            )
        return Read(block, hits, species, aliases.introduced(block.text))

    def _choose(self, read: Read, in_paper: Counter[str]) -> list[Mention]:
        mentions = []
        for start, end, entries in read.hits:
            choice = self._reading(read, entries, start, end, in_paper)
            if choice is not None:
                mentions.append(Mention(start, end, choice))
        return join_salts(read.block.text, longest(mentions))

    def _reading(self, read: Read, entries: list[Entry], start: int, end: int, in_paper: Counter[str]) -> Choice | None:
        """The choice for a mention; remembered where the words around cannot change it."""
        surface = read.block.text[start:end]
        slot = (entries[0].concept_id, entries[0].name, len(entries), surface)
        if slot in self._fixed:
            return self._fixed[slot]
        choice = choose(entries, read.block.text, start, end, read.species, in_paper)
        if len(self._fixed) < _REMEMBERED and not needs_context(entries, surface):
            self._fixed[slot] = choice
        return choice

    def _abbreviations(self, paper: Paper) -> dict[str, Choice | None]:
        """Short forms of the paper; None for one whose long form no vocabulary knows: it is not tagged as other."""
        defined: dict[str, Choice | None] = {}
        for read, mentions in paper:
            for definition in definitions(read.block.text):
                choice = _long_form(definition, mentions)
                if choice is not None or definition.short not in defined:
                    defined[definition.short] = choice
        return defined


def found_in(read: Read, mentions: Iterable[Mention]) -> list[Found]:
    """Spans of ``read`` as the encoder takes them."""
    fitting = {(start, end, entry.entity_type) for start, end, entries in read.hits for entry in entries}
    found = [Found(start, end, kind, False) for start, end, kind in sorted(fitting)]
    found.extend(Found(item.start, item.end, item.choice.entity_type, True) for item in mentions)
    return found


def _long_form(definition: Definition, mentions: Iterable[Mention]) -> Choice | None:
    inside = [
        item
        for item in mentions
        if item.end == definition.long_end
        and item.end - max(item.start, definition.long_start)
        >= _LONG_FORM_SHARE * (definition.long_end - definition.long_start)
    ]
    return max(inside, key=lambda item: item.end - item.start).choice if inside else None


def _short_mentions(text: str, defined: dict[str, Choice | None]) -> list[Mention]:
    """Whole-word uses of the paper's abbreviations. Plain search: a compiled pattern per paper would cost more."""
    found = []
    for short, choice in defined.items():
        start = text.find(short) if choice is not None else -1
        while start >= 0 and choice is not None:
            end = start + len(short)
            if not (start and _WORD.match(text[start - 1])) and not _GOES_ON.match(text, end):
                found.append(Mention(start, end, choice))
            start = text.find(short, end)
    return found


def pattern_mentions(text: str) -> list[Mention]:
    return [
        Mention(found.start, found.end, Choice(found.entity_type, found.canonical, (), None), 1)
        for found in patterns.find_patterns(text)
    ]


def _alias_mentions(
    text: str, introduced: list[aliases.Label], labels: set[str], mentions: list[Mention]
) -> list[Mention]:
    found = {(item.start, item.end): item.label for item in (*introduced, *aliases.repeated(text, labels))}
    result = []
    for (start, end), label in sorted(found.items()):
        # "donepezil derivative (6f)" names the label; the name in front of the bracket resolves it.
        named = next(
            (
                item.choice.canonical
                for item in mentions
                if item.choice.entity_type == "SmallMolecule" and text[item.end : start].strip() in {"(", ", ("}
            ),
            None,
        )
        result.append(Mention(start, end, Choice("SmallMolecule", f"compound {label}", (), None, (), label, named)))
    return result


def longest(mentions: Iterable[Mention]) -> list[Mention]:
    """Mentions that do not overlap: longer ones first, then patterns, then the earlier place."""
    order = sorted(mentions, key=lambda item: (item.start - item.end, -item.source, item.start, item.choice.canonical))
    starts: list[int] = []
    kept: dict[int, Mention] = {}
    for item in order:
        place = bisect_left(starts, item.start)
        after = starts[place] if place < len(starts) else item.end
        before = kept[starts[place - 1]].end if place else 0
        if item.end <= after and before <= item.start:
            starts.insert(place, item.start)
            kept[item.start] = item
    return [kept[start] for start in starts]
