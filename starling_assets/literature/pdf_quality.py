"""Whether the text layer of a page can be trusted, or the page needs OCR."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from .pdf_lines import HYPHENS, Line, Page

#: What :func:`text_layer_problem` says of a page that has to be read as a picture.
NEED_OCR = frozenset({"scan", "garbled", "doubled"})

_WORD = re.compile(r"[^\W\d_]+")
#: The words no page of running text of these languages is without.
_COMMON_TEXT = """the of and in to a is for with was that by as on were from at be this are an or which
not we it de la le et des les en du que una el los para por der die und das mit von zu den do da dos os com não"""
_COMMON = frozenset(_COMMON_TEXT.split())
_FEW_CHARACTERS = 25
_ENOUGH_WORDS = 60
_COMMON_SHARE = 0.04
_DEBRIS_SHARE = 0.15
_DOUBLED_SHARE = 0.4
#: Share of the text that lies on top of other text: a draft under the page, the same page twice. Sound pages of many
#: publishers stay below 0.15, doubled ones lie above 0.35.
_OVERPRINTED_SHARE = 0.3
_COVERED = 0.4
#: From this share on an image is the page, and text of fewer characters may be a stamp on it.
_WHOLE_PAGE, _STAMP_CHARACTERS = 0.6, 600
_DIGITS = re.compile(r"\d+")


def text_layer_problem(page: Page) -> str:
    """``blank``, ``scan``, ``garbled`` or ``doubled``; empty when the text layer is sound."""
    text = " ".join(line.text for line in page.lines)
    visible = [character for character in text if not character.isspace()]
    if len(visible) < _FEW_CHARACTERS:
        return "scan" if page.images else "blank" if not visible else ""
    debris = sum(_is_debris(character) for character in visible)
    if debris > _DEBRIS_SHARE * len(visible):
        return "garbled"
    words = [word.casefold() for word in _WORD.findall(text)]
    if len(words) >= _ENOUGH_WORDS:
        common = sum(word in _COMMON for word in words)
        letters = sum(len(word) for word in words)
        if common < _COMMON_SHARE * len(words) and letters > 0.5 * len(visible) and _unlike_names(words):
            return "garbled"
    return "doubled" if _doubled(words) or _overprinted(page.lines) else ""


def page_statuses(pages: Sequence[Page]) -> list[str]:
    """What :func:`text_layer_problem` says of each page, ``text`` where it is sound.

    A page that is one picture but for words that stand on other pages too is a scan that somebody has stamped: with a
    licence, a download notice, a page number.
    """
    statuses = [text_layer_problem(page) or "text" for page in pages]
    seen = Counter(text for page in pages for text in {_masked(line) for line in page.lines})
    return [
        "scan"
        if status == "text"
        and page.image_share > _WHOLE_PAGE
        and sum(len(line.text) for line in page.lines) < _STAMP_CHARACTERS
        and all(seen[_masked(line)] > 1 for line in page.lines)
        else status
        for page, status in zip(pages, statuses, strict=True)
    ]


def _masked(line: Line) -> str:
    return _DIGITS.sub("#", line.text.strip().casefold())


def _is_debris(character: str) -> bool:
    return (
        ord(character) < 32 or "\ue000" <= character <= "\uf8ff" or character == "\ufffd"
    ) and character not in HYPHENS


def _unlike_names(words: list[str]) -> bool:
    """Lists of references and names have few common words but ordinary letters; wrongly mapped fonts do not."""
    letters = Counter("".join(words))
    total = sum(letters.values())
    vowels = sum(letters[vowel] for vowel in "aeiouyáéíóúàèâêãõüöä")
    return not 0.25 <= vowels / total <= 0.55 or letters["e"] / total < 0.04


def _doubled(words: list[str]) -> bool:
    if len(words) < _ENOUGH_WORDS:
        return False
    repeats = sum(left == right for left, right in pairwise(words))
    return repeats > _DOUBLED_SHARE * len(words) / 2


def _overprinted(lines: Sequence[Line]) -> bool:
    """Whether much of the text lies on other text, which no page that is meant to be read does."""
    ordered = sorted(lines, key=lambda line: (line.y0, line.x0))
    covered: set[int] = set()
    for place, line in enumerate(ordered):
        for other in ordered[place + 1 :]:
            if other.y0 >= line.y1:
                break
            across = min(line.x1, other.x1) - max(line.x0, other.x0)
            shared = across * (min(line.y1, other.y1) - other.y0)
            if across > 0:
                covered.update(
                    id(one) for one in (line, other) if shared > _COVERED * (one.x1 - one.x0) * (one.y1 - one.y0)
                )
    letters = sum(len(line.text) for line in ordered)
    return letters > 0 and sum(len(line.text) for line in ordered if id(line) in covered) > _OVERPRINTED_SHARE * letters
