"""From lines on pages to blocks: running heads away, columns in order, words and paragraphs made whole."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from .pdf_lines import HYPHENS, Line, Page
from .pdf_tables import CAPTION, PageTable, beside_table, table_after
from .pdf_words import join_lines

_END = re.compile(r"[.!?:;)\]”\"’]\s*(?:\[[\d,–\- ]+\])?\s*$")
#: The end of a sentence for certain: a bracket may close in the middle of one.
_FULL_STOP = re.compile(r"[.!?:;”\"’]\s*(?:\[[\d,–\- ]+\])?\s*$")
#: What follows the number tells a caption from a sentence that begins a line with "Table 9)" or "Figure 2 shows".
_CAPTION = re.compile(
    r"^(?:Supplementary\s+)?(?:Fig(?:ure|\.)?|Table|Scheme|Chart|Box|TABLE|FIGURE|FIG\.)\s*S?\d+\b"
    r"(?!\s*[),;]|\s+(?!cont)[a-z]{2,})"
)
_HEADING_WORDS = re.compile(
    r"^(?:\d+(?:\.\d+)*\.?\s+)?(?:abstract|summary|introduction|background|materials? and methods|methods?|"
    r"experimental|"
    r"results?(?: and discussion)?|discussion|conclusions?|references|literature cited|bibliography|acknowledge?ments?|"
    r"abbreviations|funding|keywords|(?:competing|conflicts? of) interests?|authors?['’]? contributions?|"
    r"supplementary (?:material|information)s?)[:.]?$",
    re.IGNORECASE,
)
#: Headings under which cited works stand, and headings that end them.
REFERENCES = re.compile(r"^(?:\d+\.?\s+)?(?:references|literature cited|bibliography|works cited)[:.]?$", re.IGNORECASE)
AFTER_REFERENCES = re.compile(
    r"^(?:appendix|supplementary|acknowledge?ments?|cite this article|publish with)", re.IGNORECASE
)
_NUMBERED_REFERENCE = re.compile(r"^\[?\d{1,3}[.\])]\s*\S")
_PAGE_NUMBER = re.compile(
    r"^(?:page\s*)?\d{1,5}(?:\s*(?:of|/)\s*\d{1,5})?$|^\(page number not for citation purposes\)$", re.IGNORECASE
)
_ARTICLE_TYPE = re.compile(
    r"^(?:open access\s*)?(?:research|review|original|case|short|brief|clinical|methodology|technical)?\s*"
    r"(?:article|paper|report|note|communication|study|research|review|letter)?$",
    re.IGNORECASE,
)
_REVIEW_STATUS = re.compile(r"\s*\[v(?:ersion )?\d+[;,][^\]]*\]?\s*$")
_BULLET = re.compile(r"^(?:[•·▪●○◦–-]|\(?\d{1,2}[.)]|\(?[a-z][.)])\s+")
_DIGITS = re.compile(r"\d+")
#: A page of figures and tables may stand between the two halves of a paragraph.
_MAX_BETWEEN = 60
#: From this size on a change of face inside a heading is a species name, not another heading.
_TITLE_SIZE = 13.0
_MARGIN = 0.09
#: From this share on the paragraphs of a paper are taken to begin with an indent.
_INDENTED_SHARE = 0.5


@dataclass(slots=True)
class Chunk:
    """A paragraph in the making."""

    kind: str
    lines: list[Line] = field(default_factory=list)
    table: PageTable | None = None

    @property
    def text(self) -> str:
        """The lines as one text."""
        return join_lines([line.text for line in self.lines])


def lay_out(pages: Sequence[Page], *, titled: bool = True) -> list[Chunk]:
    """Chunks of a document in reading order. ``titled``: the first of ``pages`` is where the title stands."""
    pages = [replace(page, lines=_whole_lines(page.lines)) for page in pages]
    body = _Body(_body_size(pages), _body_font(pages))
    furniture = _furniture(pages)
    chunks: list[Chunk] = []
    for page in pages:
        lines = [line for line in page.lines if id(line) not in furniture]
        columns = _columns(lines, page.width)
        chunks += _page_chunks(lines, columns, body)
    if titled:
        chunks = _title_first(chunks, pages, body.size)
    return _joined_unindented(_joined_across(_references_marked(_footnotes_marked(chunks, body.size))))


@dataclass(frozen=True, slots=True)
class _Body:
    """Size and font that most of the text is set in."""

    size: float
    font: str


def _whole_lines(lines: Sequence[Line]) -> list[Line]:
    """Lines that a raised mark or a change of font has cut in pieces are put together again."""
    out: list[Line] = []
    for line in lines:
        last = out[-1] if out else None
        if last is not None and _same_line(last, line):
            blank = "" if line.x0 - last.x1 < 0.15 * last.size or last.text.endswith(" ") else " "
            out[-1] = replace(
                last,
                text=f"{last.text}{blank}{line.text}",
                x1=max(last.x1, line.x1),
                y0=min(last.y0, line.y0),
                y1=max(last.y1, line.y1),
                size=max(last.size, line.size),
                base=last.base if last.size >= line.size else line.base,
                runs=(
                    *last.runs[:-1],
                    (last.runs[-1][0], line.runs[0][1], last.runs[-1][2] + blank + line.runs[0][2]),
                    *line.runs[1:],
                )
                if last.runs and line.runs
                else (),
                font=last.font if last.font == line.font else "",
                bold=last.bold and line.bold,
            )
        else:
            out.append(line)
    return out


def _same_line(left: Line, right: Line) -> bool:
    overlap = min(left.y1, right.y1) - max(left.y0, right.y0)
    smaller = min(left.y1 - left.y0, right.y1 - right.y0)
    gap = right.x0 - left.x1
    return overlap > 0.5 * smaller and -1.0 <= gap < 0.8 * max(left.size, right.size) and left.text[-1:] not in HYPHENS


def _body_font(pages: Sequence[Page]) -> str:
    weights: Counter[str] = Counter()
    for page in pages:
        for line in page.lines:
            weights[line.font] += len(line.text) if line.font else 0
    return weights.most_common(1)[0][0] if weights else ""


def _footnotes_marked(chunks: list[Chunk], body_size: float) -> list[Chunk]:
    """Small print is not running text: nothing goes on across it, and it does not cut what goes on."""
    for chunk in chunks:
        if chunk.kind in {"paragraph", "list_item"} and chunk.lines[0].size < body_size * 0.88:
            chunk.kind = "footnote"
    return chunks


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


def _page_chunks(lines: Sequence[Line], columns: Sequence[tuple[float, float]], body: _Body) -> list[Chunk]:
    chunks: list[Chunk] = []
    current: Chunk | None = None
    skip_to = 0
    for index, line in enumerate(lines):
        if index < skip_to:
            continue
        if (
            current is not None
            and current.kind == "caption"
            and CAPTION.match(current.text)
            and _may_begin_grid(current, line)
            and not beside_table(lines, index)
        ):
            skip_to, table = table_after(lines, index, body.size)
            if table is not None:
                chunks.append(Chunk("table", table.lines, table))
                current = None
                continue
        following = lines[index + 1] if index + 1 < len(lines) else None
        kind = _kind_of_line(line, following, body)
        if current is None or _breaks(current, line, following, kind, columns):
            current = Chunk(kind)
            chunks.append(current)
        current.lines.append(line)
    return _headings_checked(chunks)


def _headings_checked(chunks: list[Chunk]) -> list[Chunk]:
    """A heading differs from the text below it: one that goes on below in the same face was the text's first lines."""
    out: list[Chunk] = []
    for chunk in chunks:
        if chunk.kind == "heading" and len(chunk.text) > 220:
            chunk.kind = "paragraph"  # a summary set in bold
        before = out[-1] if out else None
        if before is not None and before.kind == "heading" and chunk.kind == "paragraph" and len(before.text) > 25:
            last, first = before.lines[-1], chunk.lines[0]
            same = first.font == last.font != "" and first.size == last.size and len(chunk.lines) > 1
            if same and 0 < first.base - last.base < 1.5 * first.size and not _END.search(before.text):
                before.kind = "list_item" if _BULLET.match(before.text) else "paragraph"
                before.lines += chunk.lines
                continue
        out.append(chunk)
    return out


def _may_begin_grid(caption: Chunk, line: Line) -> bool:
    """Whether the caption can have ended before ``line``: the first row has wide gaps, stands
    further right, or is of another size or face.
    """
    last = caption.lines[-1]
    return (
        len(line.runs) > 1
        or line.x0 - last.x0 > 3 * line.size
        or abs(line.size - last.size) > 0.4
        or (bool(last.font) and line.font != last.font and line.base - last.base > line.size)
    )


def _kind_of_line(line: Line, following: Line | None, body: _Body) -> str:
    text = line.text.strip()
    if _CAPTION.match(text):
        return "caption"
    if len(text) < 110 and any(character.isalpha() for character in text):
        if _HEADING_WORDS.match(text):
            return "heading"
        if _is_heading(line, text, following, body):
            return "heading"
    return "list_item" if _BULLET.match(text) else "paragraph"


def _is_heading(line: Line, text: str, following: Line | None, body: _Body) -> bool:
    if line.size >= body.size * 1.3:
        return True
    if _END.search(text) or text[-1] in HYPHENS or text[0] in "•(," or line.size < body.size * 0.88:
        return False
    if line.size >= body.size * 1.12:
        return True
    if _BULLET.match(text) and following is not None and following.text.strip()[:1].islower():
        return False
    if not (line.bold or (line.font and line.font != body.font)) or not (text[0].isupper() or text[0].isdigit()):
        return False
    # A sentence that begins in another face and goes on in the next line is no heading.
    if following is not None and following.text.strip()[:1].islower():
        return following.font == line.font and len(text) > 25
    return True


def _breaks(
    current: Chunk, line: Line, following: Line | None, kind: str, columns: Sequence[tuple[float, float]]
) -> bool:
    """Whether ``line`` begins something new after the lines of ``current``."""
    previous = current.lines[-1]
    if kind == "caption" or abs(line.size - previous.size) > max(0.6, previous.size * 0.08):
        return True
    if kind == "heading" or current.kind == "heading":
        same_face = line.font == previous.font or line.size > _TITLE_SIZE
        return not (kind == current.kind and same_face and 0 <= line.base - previous.base < 2.2 * line.size)
    height = max(line.size, 6.0)
    pitch = line.base - previous.base
    if pitch < -height:  # next column
        return not goes_on(current.text, line.text)
    ended = bool(_END.search(previous.text.strip()))
    usual = current.lines[-1].base - current.lines[-2].base if len(current.lines) > 1 else 0.0
    if pitch > 2.2 * height or (ended and 0 < usual < 2 * height and pitch > usual * 1.15 + 0.5):
        return True
    column = _column_of(line, columns)
    left, right = min(column[0], *(other.x0 for other in current.lines)), max(other.x1 for other in current.lines)
    if len(current.lines) == 1:
        left, right = column[0], max(column[1] if line.x0 < column[1] else right, right)
    ended_short = previous.x1 < right - max(right - left, 1.0) * 0.12
    if kind == "list_item" and line.x0 <= previous.x0 + height and (ended_short or ended):
        return True
    if current.kind != "list_item" and (ended or ended_short):
        indent = line.x0 - (following.x0 if following is not None and following.base > line.base else left)
        if 0.6 * height < indent < 5 * height and previous.x0 < line.x0 - 0.5 * height:
            return True
    return ended_short and ended and not line.text.strip()[:1].islower()


def goes_on(text: str, following: str) -> bool:
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
    if len(title.lines) > 1 and _ARTICLE_TYPE.match(title.lines[0].text.strip()):
        title.lines = title.lines[1:]
    title.lines = [replace(line, text=_REVIEW_STATUS.sub("", line.text)) for line in title.lines]
    return [title, *(chunk for chunk in chunks if chunk is not title)]


def _references_marked(chunks: list[Chunk]) -> list[Chunk]:
    inside = False
    for chunk in chunks:
        text = chunk.text
        if chunk.kind == "heading" and REFERENCES.match(text):
            inside = True
        elif inside and chunk.kind == "heading" and AFTER_REFERENCES.match(text):
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
    """Paragraphs that a page, a figure, a table or a footnote has cut in two are joined again."""
    out: list[Chunk] = []
    open_end: Chunk | None = None  # the last paragraph, while its sentence is unfinished
    between = 0
    for chunk in chunks:
        if chunk.kind in {"paragraph", "list_item"}:
            if open_end is not None and chunk.kind == "paragraph" and _continues(open_end, chunk, between):
                open_end.lines += chunk.lines
                between = 0
                if _END.search(chunk.lines[-1].text.strip()):
                    open_end = None
                continue
            unfinished = not _FULL_STOP.search(chunk.lines[-1].text.strip()) and len(chunk.text) > 60
            if unfinished:
                open_end, between = chunk, 0
            elif open_end is not None:
                between += 1
        else:
            between += 1
        if between > _MAX_BETWEEN:
            open_end = None
        out.append(chunk)
    return out


def _joined_unindented(chunks: list[Chunk]) -> list[Chunk]:
    """Where paragraphs begin with an indent, one that begins a column without goes on from the column before."""
    first_lines = [_indent(chunk) for chunk in chunks if chunk.kind == "paragraph" and len(chunk.lines) > 2]
    if sum(indent > 0 for indent in first_lines) < _INDENTED_SHARE * len(first_lines) or len(first_lines) < 5:
        return chunks
    out: list[Chunk] = []
    open_end: Chunk | None = None  # the last paragraph, where only figures, tables and footnotes stand between
    for chunk in chunks:
        if chunk.kind == "paragraph" and open_end is not None and _begins_column_inside(open_end, chunk):
            open_end.lines += chunk.lines
            continue
        if chunk.kind not in {"footnote", "caption", "table"}:
            open_end = chunk if chunk.kind == "paragraph" else None
        out.append(chunk)
    return out


def _indent(chunk: Chunk) -> float:
    first, second = chunk.lines[0], chunk.lines[1]
    indent = first.x0 - second.x0
    return indent if second.base > first.base and 0.4 * first.size < indent < 4 * first.size else 0.0


def _begins_column_inside(before: Chunk, after: Chunk) -> bool:
    last, first = before.lines[-1], after.lines[0]
    if len(after.lines) < 2 or _indent(after) > 0 or after.lines[1].base < first.base or first.size != last.size:
        return False
    new_column = (first.page, first.base < last.base) in {(last.page, True), (last.page + 1, True)}
    # A paragraph that ends its column has a last line as wide as the others.
    full = last.x1 > max(line.x1 for line in before.lines if line.page == last.page and line.x0 > last.x0 - 20) - 4
    return new_column and full and len(before.lines) > 1 and abs(first.x0 - after.lines[1].x0) < 2


def _continues(before: Chunk, after: Chunk, between: int) -> bool:
    first, last = after.lines[0], before.lines[-1]
    if abs(last.size - first.size) > 0.5 or first.page - last.page > 2:
        return False
    text = after.text
    if text[:1].islower() or before.lines[-1].text.strip()[-1:] in "-" + HYPHENS:
        return True
    return between == 0 and goes_on(before.text, text)
