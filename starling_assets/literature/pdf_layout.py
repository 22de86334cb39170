"""From lines on pages to blocks: running heads away, columns in order, words and paragraphs made whole."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from .pdf_lines import HYPHENS, Line, Page

_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_END = re.compile(r"[.!?:;)\]”\"’]\s*(?:\[[\d,–\- ]+\])?\s*$")
_CAPTION = re.compile(
    r"^(?:Supplementary\s+)?(?:Fig(?:ure|\.)?|Table|Scheme|Chart|Box|TABLE|FIGURE|FIG\.)\s*S?\d+\b", re.UNICODE
)
_HEADING_WORDS = re.compile(
    r"^(?:\d+(?:\.\d+)*\.?\s+)?(?:abstract|summary|introduction|background|materials? and methods|methods?|"
    r"experimental|"
    r"results?(?: and discussion)?|discussion|conclusions?|references|literature cited|bibliography|acknowledge?ments?|"
    r"abbreviations|funding|keywords|(?:competing|conflicts? of) interests?|authors?['’]? contributions?|"
    r"supplementary (?:material|information)s?)[:.]?$",
    re.IGNORECASE,
)
_REFERENCES = re.compile(
    r"^(?:\d+\.?\s+)?(?:references|literature cited|bibliography|works cited)[:.]?$", re.IGNORECASE
)
_AFTER_REFERENCES = re.compile(
    r"^(?:appendix|supplementary|acknowledge?ments?|cite this article|publish with)", re.IGNORECASE
)
_NUMBERED_REFERENCE = re.compile(r"^\[?\d{1,3}[.\])]\s*\S")
_PAGE_NUMBER = re.compile(
    r"^(?:page\s*)?\d{1,5}(?:\s*(?:of|/)\s*\d{1,5})?$|^\(page number not for citation purposes\)$", re.IGNORECASE
)
_SUSPENDED = re.compile(r"(?:and|or|to|und|oder|et|y|e)\b")
#: First parts after which a hyphen at a line's end is taken for the word's own.
_HYPHENATED_TEXT = """self non post pre anti cross well high low long short blood half dose time double two three one single age
body cell drug case follow health placebo meta gene protein receptor water intra inter multi evidence quality"""
_HYPHENATED = frozenset(_HYPHENATED_TEXT.split())
_BULLET = re.compile(r"^(?:[•·▪●○◦–-]|\(?\d{1,2}[.)]|\(?[a-z][.)])\s+")
_DIGITS = re.compile(r"\d+")
_MARGIN = 0.09


@dataclass(slots=True)
class Chunk:
    """A paragraph in the making."""

    kind: str
    lines: list[Line] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The lines as one text."""
        return join_lines([line.text for line in self.lines])


def join_lines(lines: Sequence[str]) -> str:
    """Lines as running text: divided words made whole, ligatures spelled out."""
    text = ""
    for line in lines:
        line = line.translate(_LIGATURES).strip()
        if not line:
            continue
        if not text:
            text = line
        elif text[-1] in HYPHENS or (text[-1] == "-" and text[-2:-1].isalnum()):
            text = _divided(text, line)
        else:
            text = f"{text} {line}"
    if text and text[-1] in HYPHENS:
        text = text[:-1] + "-"
    # A mark inside the text is a word that pdfium itself has put together.
    return "".join(character for character in text if character not in HYPHENS)


def _divided(text: str, following: str) -> str:
    """``text`` ends with a hyphen: part of the word (``blood-brain``), or only of the line (``transcrip-tion``)?"""
    start = text[:-1]
    if _SUSPENDED.match(following):
        return f"{start}- {following}"  # "pre- and post-treatment"
    if start.endswith("-"):
        return start + following
    word = start.rsplit(" ", 1)[-1]
    belongs = (
        not following[0].islower()
        or not following[1:2].isalpha()
        or "-" in word
        or word.lower() in _HYPHENATED
        or any(letter.isdigit() for letter in word)
    )
    return f"{start}-{following}" if belongs else start + following


def lay_out(pages: Sequence[Page]) -> list[Chunk]:
    """Chunks of a document in reading order."""
    body_size = _body_size(pages)
    furniture = _furniture(pages)
    chunks: list[Chunk] = []
    for page in pages:
        lines = [line for line in page.lines if id(line) not in furniture]
        columns = _columns(lines, page.width)
        chunks += _page_chunks(lines, columns, body_size)
    chunks = _title_first(chunks, pages, body_size)
    return _joined_across(_references_marked(chunks))


def _body_size(pages: Sequence[Page]) -> float:
    weights: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            weights[round(line.size, 1)] += len(line.text)
    return weights.most_common(1)[0][0] if weights else 10.0


def _furniture(pages: Sequence[Page]) -> set[int]:
    """Running heads and feet: lines near an edge that come again on other pages, and page numbers."""
    places: dict[str, list[Line]] = defaultdict(list)
    found: set[int] = set()
    for page in pages:
        for line in page.lines:
            if line.y1 < page.height * _MARGIN or line.y0 > page.height * (1 - _MARGIN):
                text = _DIGITS.sub("#", line.text.strip().casefold())
                places[text].append(line)
                if _PAGE_NUMBER.match(line.text.strip()):
                    found.add(id(line))
    enough = 2 if len(pages) <= 4 else 3
    for lines in places.values():
        if len({line.page for line in lines}) >= enough:
            found.update(id(line) for line in lines)
    return found


def _columns(lines: Sequence[Line], width: float) -> list[tuple[float, float]]:
    """Left and right edges of the page's text columns."""
    if not lines:
        return [(0.0, width)]
    starts: Counter[int] = Counter()
    for line in lines:
        starts[round(line.x0 / 4)] += 1 if len(line.text) > 20 else 0
    wide = [line for line in lines if line.x1 - line.x0 > width * 0.55]
    if len(wide) * 2 >= len([line for line in lines if len(line.text) > 40]):
        return [(min(line.x0 for line in lines), max(line.x1 for line in lines))]
    left = [line for line in lines if line.x1 <= width * 0.53]
    right = [line for line in lines if line.x0 >= width * 0.47]
    if len(left) < 5 or len(right) < 5:
        return [(min(line.x0 for line in lines), max(line.x1 for line in lines))]
    return [(_edge(left, low=True), _edge(left, low=False)), (_edge(right, low=True), _edge(right, low=False))]


def _edge(lines: Sequence[Line], *, low: bool) -> float:
    values = sorted(line.x0 if low else line.x1 for line in lines if len(line.text) > 25) or [
        lines[0].x0 if low else lines[0].x1
    ]
    # the edge that most lines share, robust against an indented or an over-long one
    rounded = Counter(round(value / 3) for value in values)
    return rounded.most_common(1)[0][0] * 3.0


def _column_of(line: Line, columns: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return min(columns, key=lambda column: abs(line.x0 - column[0]))


def _page_chunks(lines: Sequence[Line], columns: Sequence[tuple[float, float]], body_size: float) -> list[Chunk]:
    chunks: list[Chunk] = []
    current: Chunk | None = None
    for line in lines:
        text = line.text.strip()
        kind = _kind_of_line(line, text, body_size)
        previous = current.lines[-1] if current else None
        if current is None or previous is None or _breaks(current, previous, line, kind, columns):
            current = Chunk(kind)
            chunks.append(current)
        current.lines.append(line)
    return chunks


def _kind_of_line(line: Line, text: str, body_size: float) -> str:
    if _CAPTION.match(text):
        return "caption"
    short = len(text) < 110
    if short and _HEADING_WORDS.match(text):
        return "heading"
    if (
        short
        and not _END.search(text)
        and (line.size >= body_size * 1.12 or (line.bold and line.size >= body_size * 0.95))
    ):
        return "heading" if any(character.isalpha() for character in text) else "paragraph"
    if _BULLET.match(text):
        return "list_item"
    return "paragraph"


def _breaks(current: Chunk, previous: Line, line: Line, kind: str, columns: Sequence[tuple[float, float]]) -> bool:
    """Whether ``line`` begins something new after ``previous``."""
    if kind == "caption":
        return True
    if abs(line.size - previous.size) > max(0.6, previous.size * 0.08):
        return True
    if kind == "heading":
        same = current.kind == "heading" and line.bold == previous.bold and 0 <= line.y0 - previous.y0 < 2.2 * line.size
        return not same
    if current.kind == "heading":
        return True
    height = max(line.size, 6.0)
    if line.y0 < previous.y0 - height:  # next column
        return not _goes_on(current.text, line.text)
    if line.y0 - previous.y1 > height * 0.9:
        return True
    column = _column_of(line, columns)
    indented = line.x0 > column[0] + height * 0.7 and previous.x0 < column[0] + height * 0.5
    ended_short = previous.x1 < column[1] - (column[1] - column[0]) * 0.12
    if kind == "list_item" and line.x0 <= previous.x0 + 1 and (ended_short or _END.search(previous.text.strip())):
        return True
    if indented and (_END.search(previous.text.strip()) or ended_short) and current.kind != "list_item":
        return True
    return bool(ended_short and _END.search(previous.text.strip()) and line.text.strip()[:1].isupper())


def _goes_on(text: str, following: str) -> bool:
    """Whether a paragraph broken by a column or page goes on with ``following``."""
    text, following = text.strip(), following.strip()
    if not text or not following:
        return False
    if _CAPTION.match(following) or _HEADING_WORDS.match(following):
        return False
    return text[-1] in "-," + HYPHENS or following[0].islower() or (not _END.search(text) and len(text) > 60)


def _title_first(chunks: list[Chunk], pages: Sequence[Page], body_size: float) -> list[Chunk]:
    """The largest text of the first page becomes the title and stands first."""
    if not pages:
        return chunks
    first = pages[0].number
    candidates = [
        chunk
        for chunk in chunks
        if chunk.lines[0].page == first
        and chunk.lines[0].size > body_size * 1.15
        and chunk.lines[0].y0 < pages[0].height * 0.6
        and len(chunk.text) > 15
        and " " in chunk.text
    ]
    if not candidates:
        return chunks
    title = max(candidates, key=lambda chunk: (round(chunk.lines[0].size, 0), len(chunk.text)))
    title.kind = "title"
    return [title, *(chunk for chunk in chunks if chunk is not title)]


def _references_marked(chunks: list[Chunk]) -> list[Chunk]:
    inside = False
    for chunk in chunks:
        text = chunk.text
        if chunk.kind == "heading" and _REFERENCES.match(text):
            inside = True
        elif inside and chunk.kind == "heading" and _AFTER_REFERENCES.match(text):
            inside = False
        elif inside and chunk.kind in {"paragraph", "list_item", "heading"}:
            chunk.kind = "reference"
    return _split_references(chunks)


def _split_references(chunks: list[Chunk]) -> list[Chunk]:
    out: list[Chunk] = []
    for chunk in chunks:
        if chunk.kind != "reference":
            out.append(chunk)
            continue
        part = Chunk("reference")
        for line in chunk.lines:
            if part.lines and _NUMBERED_REFERENCE.match(line.text.strip()):
                out.append(part)
                part = Chunk("reference")
            part.lines.append(line)
        out.append(part)
    return out


def _joined_across(chunks: list[Chunk]) -> list[Chunk]:
    """Paragraphs that a page, a figure or a footnote has cut in two are joined again."""
    out: list[Chunk] = []
    last: Chunk | None = None  # the last paragraph, whatever stood between
    between = 0
    for chunk in chunks:
        if chunk.kind == "paragraph":
            if (
                last is not None
                and between <= 4
                and abs(last.lines[-1].size - chunk.lines[0].size) < 0.5
                and _goes_on(last.text, chunk.text)
                and (
                    chunk.text[:1].islower() or last.text[-1:] in "-," or (not _END.search(last.text) and between == 0)
                )
            ):
                last.lines += chunk.lines
                between = 0
                continue
            last, between = chunk, 0
        elif chunk.kind in {"heading", "title"}:
            last, between = None, 0
        else:
            between += 1
        out.append(chunk)
    return out
