"""Tagging windows as the model sees them: a few paragraphs, numbered, with their place in the stored text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from starling_assets.artifacts.keys import content_key
from starling_assets.inference.prompting import visible
from starling_assets.inference.tokens import estimate_tokens
from starling_assets.literature.windows import cut_windows
from starling_assets.tagging.collecting import Block

_SENTENCE_END = re.compile(r"\n|(?<=[.;!?])\s+(?=[A-Z0-9(\[])")
_SPACE = re.compile(r"\s+")
_COLUMNS = ("paper_ordinal", "paper_id", "block_key", "para_idx", "para_ordinal", "text")


@dataclass(frozen=True, slots=True)
class Piece:
    """``text`` is ``block.text[start:start + len(text)]``; ``number`` is what the model calls the paragraph."""

    number: int
    block: Block
    start: int
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A window, or a part of a long one. ``key`` names its content; equal contents share what is paid for them."""

    key: str
    pieces: tuple[Piece, ...]

    @property
    def paper_id(self) -> str:
        """The paper; a passage is never of two."""
        return self.pieces[0].block.paper_id

    @property
    def text(self) -> str:
        """Numbered paragraphs without hidden characters."""
        return "\n".join(f"[{piece.number}] {visible(piece.text)}" for piece in self.pieces)

    def halves(self) -> tuple[Passage, Passage] | None:
        """Two passages that cover this one, cut between paragraphs, else inside the only one; None if too short.

        Paragraphs keep their numbers, so that what is read of the halves is read of the whole.
        """
        if len(self.pieces) > 1:
            sizes = [len(piece.text) for piece in self.pieces]
            middle = min(range(1, len(sizes)), key=lambda cut: (abs(2 * sum(sizes[:cut]) - sum(sizes)), cut))
            return Passage(self.key, self.pieces[:middle]), Passage(self.key, self.pieces[middle:])
        parts = list(_cut(self.pieces[0], len(self.pieces[0].text) // 2 + 1))
        if len(parts) < 2:
            return None
        return Passage(self.key, (parts[0],)), Passage(self.key, tuple(parts[1:]))


def plan_passages(blocks: pl.DataFrame, paragraphs: int, max_tokens: int) -> list[Passage]:
    """The passages of a shard's BLOCKS, paper by paper: every paragraph in exactly one, or cut over several.

    A window is ``paragraphs`` consecutive paragraphs; one above ``max_tokens`` (estimated) is cut into smaller ones.
    """
    rows = blocks.filter(pl.col("para_idx").is_not_null()).select(_COLUMNS)
    by_place = {(row[0], row[3]): Block(*row) for row in rows.iter_rows()}
    windows = cut_windows(blocks, paragraphs, paragraphs)
    found = []
    for paper, first, count in windows.select("paper_ordinal", "first_para", "n").iter_rows():
        places = [by_place[paper, index] for index in range(first, first + count) if (paper, index) in by_place]
        pieces = [Piece(number, block, 0, block.text) for number, block in enumerate(places, start=1)]
        found += [_passage(part) for part in _bounded(pieces, max_tokens)]
    return found


def _passage(pieces: Sequence[Piece]) -> Passage:
    parts = [[piece.number, piece.block.block_key, piece.start, len(piece.text)] for piece in pieces]
    return Passage(content_key(*parts), tuple(pieces))


def _bounded(pieces: Iterable[Piece], max_tokens: int) -> Iterator[list[Piece]]:
    batch: list[Piece] = []
    used = 0
    for piece in pieces:
        size = estimate_tokens(piece.text)
        parts = [piece] if size <= max_tokens else list(_cut(piece, max(1, len(piece.text) * max_tokens // size)))
        for part in parts:
            tokens = estimate_tokens(part.text)
            if batch and used + tokens > max_tokens:
                yield batch
                batch, used = [], 0
            batch.append(part)
            used += tokens
    if batch:
        yield batch


def _cut(piece: Piece, limit: int) -> Iterator[Piece]:
    """``piece`` in parts of at most ``limit`` characters, at line or sentence ends, else at blanks."""
    text, start = piece.text, 0
    while len(text) - start > limit:
        ends = [match.end() for match in _SENTENCE_END.finditer(text, start, start + limit)]
        ends = [end for end in ends if end > start] or [
            match.end() for match in _SPACE.finditer(text, start, start + limit) if match.end() > start
        ]
        end = ends[-1] if ends else start + limit
        yield Piece(piece.number, piece.block, piece.start + start, text[start:end])
        start = end
    yield Piece(piece.number, piece.block, piece.start + start, text[start:])
