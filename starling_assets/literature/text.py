"""Text of blocks: NFC, white space collapsed, and the keys that survive a new layout of the same words."""

from __future__ import annotations

import hashlib
import re
import unicodedata

#: Soft hyphens and zero-width marks stand inside words, control characters are debris: all go without leaving a blank.
_INVISIBLE = re.compile("[\\x00-\\x08\\x0e-\\x1b\\x7f-\\x84\\x86-\\x9f\\u00ad\\u200b\\u2060\\ufeff\\ufffe\\uffff]")
_KEY_BYTES = 16


def clean(text: str) -> str:
    """``text`` in NFC with every run of white space as one blank, invisible marks and control characters removed.

    Offsets of spans are counted in the result, in code points.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    if not text.isprintable():
        text = _INVISIBLE.sub("", text)
    elif "  " not in text:  # the one white space that counts as printable is the blank: most texts are clean already
        return text.strip()
    return " ".join(text.split())


def clean_lines(text: str) -> str:
    """As :func:`clean`, keeping line breaks (tables: one row per line)."""
    return "\n".join(line for line in map(clean, text.split("\n")) if line)


def fold(text: str) -> str:
    """``text`` without case, white space and compatibility forms: equal for the same words in another layout."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return "".join(text.casefold().split())


def block_key(text: str, occurrence: int) -> str:
    """Key of the ``occurrence``-th block (from 0) of a paper with this folded text."""
    digest = hashlib.blake2b(f"{fold(text)}\x00{occurrence}".encode(), digest_size=_KEY_BYTES)
    return digest.hexdigest()
