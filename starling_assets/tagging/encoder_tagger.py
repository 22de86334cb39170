"""The embedded tagger: spans of the encoder, names and ids of the dictionary, patterns for what follows a grammar.

For the types that the encoder learnt it decides where a mention is; a name of the dictionary there gives the concept.
A name that the encoder passed over stays when the encoder thought it possible. All other types are the dictionary's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl

from starling_assets.settings.model import TaggingSettings
from starling_assets.tagging.choosing import Choice, choose
from starling_assets.tagging.collecting import Mention
from starling_assets.tagging.context import gene_rather_than_protein
from starling_assets.tagging.dictionary import DictionaryTagger, Paper, Read, found_in, longest, pattern_mentions
from starling_assets.tagging.encoder import Encoder, EncoderSpan
from starling_assets.tagging.encoder import Read as EncoderRead
from starling_assets.tagging.encoder_features import FeatureReader, Features
from starling_assets.tagging.gold_corpora import PEOPLE

_LONG_SHARE = 0.5


#: A name that the encoder passed over stays when it was a mention with at least this probability.
_DOUBT = 0.5
#: Types that a head's mentions may have; the first is that of a mention without a name in the dictionary.
READINGS: dict[str, tuple[str, ...]] = {
    "Chemical": ("SmallMolecule", "SmallMoleculeClass"),
    "Disease": ("Disease", "Phenotype"),
    "Gene": ("Protein", "Gene", "RNA", "Protein/GeneFamily", "Peptide"),
    "Species": ("Organism",),
    "CellLine": ("CellLine",),
    "Variant": ("GeneVariant",),
    "Anatomy": ("Anatomy",),
    "Cell": ("CellType", "CellLine"),
    "Component": ("GOTerm", "Anatomy"),
    "Cancer": ("Disease",),
}


class EncoderTagger(DictionaryTagger):
    """See the module. ``encoder`` may be given for tests; else the packaged one is loaded."""

    name = "encoder"

    def __init__(self, lexicon: pl.DataFrame, settings: TaggingSettings, encoder: Encoder | None = None) -> None:
        super().__init__(lexicon, settings)
        self._encoder = encoder or Encoder.packaged()
        self._features = FeatureReader.packaged()

    def refined(self, papers: list[Paper]) -> list[Paper]:
        """The papers with the encoder's mentions in the place of the dictionary's."""
        features = [
            self._features.read(read.block.text, found_in(read, [*mentions, *pattern_mentions(read.block.text)]))
            for paper in papers
            for read, mentions in paper
        ]
        results = iter(zip(features, self._encoder.read(features), strict=True))
        refined = []
        for paper in papers:
            in_paper = Counter(mention.taxon for read, _ in paper for mention in read.species)
            refined.append([(read, self._merged(read, found, in_paper, *next(results))) for read, found in paper])
        return refined

    def _merged(
        self, read: Read, found: list[Mention], in_paper: Counter[str], features: Features, result: EncoderRead
    ) -> list[Mention]:
        spans = _apart(result.spans)
        mentions = [Mention(span.start, span.end, _choice(read, found, span, in_paper)) for span in spans]
        mentions.extend(
            item
            for item in found
            if all(item.end <= span.start or span.end <= item.start or _wider(item, span) for span in spans)
            and (
                read.block.text[item.start : item.end].lower() in PEOPLE
                or self._possible(item, features, result.outside)
            )
        )
        return longest(mentions)

    def _possible(self, item: Mention, features: Features, outside: np.ndarray) -> bool:
        """Whether the encoder leaves room for a mention of the dictionary; it knows nothing of the other types."""
        heads = [place for place, head in enumerate(self._encoder.heads) if item.choice.entity_type in READINGS[head]]
        if not heads:
            return True
        first = int(np.searchsorted(features.ends, item.start, side="right"))
        last = int(np.searchsorted(features.starts, item.end, side="left"))
        return any(1 - float(np.exp(outside[first:last, place]).mean()) >= _DOUBT for place in heads)


def _wider(item: Mention, span: EncoderSpan) -> bool:
    """A mention of a type that the encoder does not know, around its span: "anti-CD20 antibody" around "CD20"."""
    return (
        item.start <= span.start
        and span.end <= item.end
        and item.end - item.start > span.end - span.start
        and item.choice.entity_type not in _LEARNT
    )


_LEARNT = {kind for types in READINGS.values() for kind in types}


def _apart(spans: Sequence[EncoderSpan]) -> list[EncoderSpan]:
    """Spans that do not overlap: longer ones first, of equals the surer one.

    A cell line comes before the cells it is said of: "HeLa" of "HeLa cells" is the name that a vocabulary knows.
    """
    kept: list[EncoderSpan] = []
    for span in sorted(spans, key=lambda one: (one.head == "Cell", one.start - one.end, -one.score, one.head)):
        if all(span.end <= other.start or other.end <= span.start for other in kept):
            kept.append(span)
    return sorted(kept)


def _choice(read: Read, found: list[Mention], span: EncoderSpan, in_paper: Counter[str]) -> Choice:
    text, types = read.block.text, READINGS[span.head]
    surface = text[span.start : span.end]
    for item in found:
        if (item.start, item.end) == (span.start, span.end) and item.choice.entity_type in types:
            return item.choice
    entries = [
        entry
        for start, end, fitting in read.hits
        if (start, end) == (span.start, span.end)
        for entry in fitting
        if entry.entity_type in types
    ]
    choice = choose(entries, text, span.start, span.end, read.species, in_paper, sure=True) if entries else None
    if choice is None:
        choice = _last_words(found, span, types)
    if choice is not None:
        return choice
    kind = types[0]
    if span.head == "Gene" and gene_rather_than_protein(text, span.start, span.end):
        kind = "Gene"
    return Choice(kind, surface, (), None)


def _last_words(found: list[Mention], span: EncoderSpan, types: tuple[str, ...]) -> Choice | None:
    """The name that a longer span ends with, such as "hypertension" of "severe hypertension"."""
    inside = [
        item
        for item in found
        if item.end == span.end
        and item.choice.entity_type in types
        and item.end - max(item.start, span.start) >= _LONG_SHARE * (span.end - span.start)
    ]
    return max(inside, key=lambda item: item.end - item.start).choice if inside else None
