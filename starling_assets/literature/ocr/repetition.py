"""Answers that loop: seen while they are written, so that a lost page costs seconds and not the whole token limit."""

from __future__ import annotations

import re
import zlib

_TAIL = 4_096
#: Prose packs by a factor of about 2, real tables by 6; a loop by far more.
MOST_PACKED = 20.0
#: So many elements in a row with the same words, each with a box of its own, are a loop that does not pack that well.
MOST_ALIKE = 8
_TEXT = re.compile(r'"text"\s*:\s*"((?:[^"\\]|\\.)*)"')


def repetition(text: str) -> str:
    """Why ``text`` looks like an endless loop; empty while it does not."""
    tail = text[-_TAIL:].encode("utf-8", errors="replace")[-_TAIL:]
    if len(tail) == _TAIL:
        packed = len(tail) / len(zlib.compress(tail, 6))
        if packed > MOST_PACKED:
            return f"the last {_TAIL:,} bytes of the reply repeat themselves ({packed:.0f}-fold packing)"
    alike = _TEXT.findall(text[-4 * _TAIL :])[-MOST_ALIKE:]
    if len(alike) == MOST_ALIKE and len(set(alike)) == 1 and alike[0].strip():
        return f"the reply gives {MOST_ALIKE} elements in a row with the same words: {alike[0][:40]!r}"
    return ""
