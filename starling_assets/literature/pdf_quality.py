"""Whether the text layer of a page can be trusted, or the page needs OCR."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from .pdf_lines import HYPHENS, Page

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
    if _doubled(words):
        return "doubled"
    return ""


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
