"""Prompt files and the fence around untrusted text.

A prompt is a Markdown file with ``{{slots}}``. Its name and hash (``extract@1f2e…``) travel with everything it
produced.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_SLOT = re.compile(r"\{\{([a-z_]+)\}\}")


@dataclass(frozen=True)
class Prompt:
    """One prompt file: ``reference`` is ``name@hash`` of its text."""

    name: str
    text: str
    reference: str

    def fill(self, values: Mapping[str, str]) -> str:
        """The text with every slot filled; lines that become empty are dropped. A missing value is a KeyError."""
        filled = _SLOT.sub(lambda match: values[match[1]], self.text)
        return "\n".join(line for line in filled.splitlines() if line.strip())


@cache
def read_prompt_file(path: Path) -> Prompt:
    """The prompt file at ``path``, named after it."""
    text = path.read_text(encoding="utf-8")
    return Prompt(path.stem, text, f"{path.stem}@{hashlib.sha256(text.encode()).hexdigest()[:12]}")


def fence(kind: str, text: str) -> str:
    """``text`` between two marker lines that it cannot contain: each carries a hash of the text itself (F31)."""
    key = hashlib.sha256(text.encode()).hexdigest()[:12]
    return f"<<<{kind} {key}\n{text}\n{key} {kind}>>>"


def visible(text: str) -> str:
    """``text`` as a reader sees it: without zero-width, bidirectional and tag characters, in which instructions hide.

    Joiners inside words are lost too; grounding finds the quote in the stored text all the same.
    """
    return "".join(
        char for char in text if char in "\n\t" or unicodedata.category(char) not in {"Cf", "Cc", "Co", "Cn"}
    )
