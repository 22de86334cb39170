"""Extraction windows: what the model is shown, and which stored characters each shown line stands for.

A window is a list of segments. A segment is a stretch of one stored block, usually all of it; a block that is longer
than the token limit is cut at line or sentence ends, so that no window exceeds the limit and every offset stays known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from starling_assets.agents.prompting import visible
from starling_assets.artifacts.keys import content_key

#: Characters of scientific English in one token, measured low so that limits hold for numbers and chemical names too.
CHARACTERS_PER_TOKEN = 3.2
_BREAK = re.compile(r"\n|(?<=[.;!?])\s+(?=[A-Z0-9(\[])")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Segment:
    """``text`` is ``block text[start:start + len(text)]`` of the stored block."""

    block_key: str
    para_idx: int
    kind: str
    section: tuple[str, ...]
    start: int
    text: str

    def tokens(self) -> int:
        """A stated estimate, not a count."""
        return int(len(self.text) / CHARACTERS_PER_TOKEN) + 4


@dataclass(frozen=True, slots=True)
class Window:
    """One unit of extraction. ``unit`` is the journal unit it is paid for."""

    unit: str
    paper_id: str
    title: str
    segments: tuple[Segment, ...]
    probes: tuple[str, ...] = ()
    window_key: str = ""

    @property
    def text(self) -> str:
        """The passage as the model sees it: title, section, numbered paragraphs. No hidden characters."""
        lines = [f"Title: {_one_line(self.title)}"] if self.title else []
        section: tuple[str, ...] | None = None
        for number, segment in enumerate(self.segments, start=1):
            if segment.section != section:
                section = segment.section
                if section:
                    lines.append(f"Section: {' > '.join(_one_line(part) for part in section)}")
            lines.append(f"[{number}] {visible(segment.text)}")
        return "\n".join(lines)

    def halves(self) -> tuple[Window, Window] | None:
        """Two windows that cover this one, cut between paragraphs, else inside the only one; None if too short."""
        if len(self.segments) > 1:
            weights = [len(segment.text) for segment in self.segments]
            middle = min(range(1, len(weights)), key=lambda cut: (abs(2 * sum(weights[:cut]) - sum(weights)), cut))
            return self._part(self.segments[:middle]), self._part(self.segments[middle:])
        if not self.segments:
            return None
        only = self.segments[0]
        pieces = list(_cut(only, max(1, len(only.text) // 2 + 1)))
        if len(pieces) < 2:
            return None
        return self._part(tuple(pieces[:1])), self._part(tuple(pieces[1:]))

    def _part(self, segments: Sequence[Segment]) -> Window:
        return Window(self.unit, self.paper_id, self.title, tuple(segments), self.probes, self.window_key)


def plan_windows(
    subcorpus: pl.DataFrame,
    blocks: pl.DataFrame,
    papers: pl.DataFrame,
    *,
    prompt: str,
    schema: str,
    model: str,
    max_tokens: int,
    max_windows: int | None = None,
) -> list[Window]:
    """The windows of a SUBCORPUS frame in its order (``position``), none above ``max_tokens``.

    ``blocks`` and ``papers`` are the shard's BLOCKS and PAPERS. ``max_windows`` bounds the rows of the subcorpus that
    are read. The unit key is made of the window's block keys, the title, the prompt's hash, the schema's hash and the
    model: an unchanged window is never paid for again, and a changed question is never answered from the journal.
    """
    rows = subcorpus.sort("position")
    if max_windows is not None:
        rows = rows.head(max_windows)
    wanted = rows.select("paper_ordinal").unique()
    lines = _paragraphs(blocks.join(wanted, on="paper_ordinal", how="semi"))
    titles = dict(papers.select("paper_ordinal", "title").iter_rows())
    windows: list[Window] = []
    for row in rows.iter_rows(named=True):
        first, count = row["first_para"], row["n"]
        paper = lines.get(row["paper_ordinal"], {})
        segments = [paper[index] for index in range(first, first + count) if index in paper]
        title = titles.get(row["paper_ordinal"]) or ""
        for part in _bounded(segments, max_tokens):
            key = content_key(
                row["unit"], title, [[s.block_key, s.start, len(s.text)] for s in part], prompt, schema, model
            )
            windows.append(Window(key, row["paper_id"], title, tuple(part), tuple(row["probes"] or ()), row["unit"]))
    return windows


def _paragraphs(blocks: pl.DataFrame) -> dict[int, dict[int, Segment]]:
    columns = ("paper_ordinal", "para_idx", "block_key", "kind", "section_path", "text")
    found: dict[int, dict[int, Segment]] = {}
    for paper, para, key, kind, section, text in (
        blocks.filter(pl.col("para_idx").is_not_null()).select(columns).iter_rows()
    ):
        found.setdefault(paper, {})[para] = Segment(key, para, kind, tuple(section or ()), 0, text)
    return found


def _bounded(segments: Iterable[Segment], max_tokens: int) -> Iterator[list[Segment]]:
    batch: list[Segment] = []
    used = 0
    limit = int((max_tokens - 4) * CHARACTERS_PER_TOKEN)
    for segment in segments:
        for piece in _cut(segment, limit):
            if batch and used + piece.tokens() > max_tokens:
                yield batch
                batch, used = [], 0
            batch.append(piece)
            used += piece.tokens()
    if batch:
        yield batch


def _cut(segment: Segment, limit: int) -> Iterator[Segment]:
    """``segment`` in pieces of at most ``limit`` characters, at line or sentence ends where there are any."""
    text, start = segment.text, 0
    while len(text) - start > limit:
        ends = [match.end() for match in _BREAK.finditer(text, start, start + limit) if match.end() > start]
        spaces = [match.end() for match in _SPACE.finditer(text, start, start + limit) if match.end() > start]
        end = ends[-1] if ends else (spaces[-1] if spaces else start + limit)
        yield _slice(segment, start, end)
        start = end
    if start < len(text) or not text:
        yield _slice(segment, start, len(text))


def _slice(segment: Segment, start: int, end: int) -> Segment:
    return Segment(
        segment.block_key,
        segment.para_idx,
        segment.kind,
        segment.section,
        segment.start + start,
        segment.text[start:end],
    )


def _one_line(text: str) -> str:
    return _SPACE.sub(" ", visible(text)).strip()
