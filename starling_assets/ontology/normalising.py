"""Normalised form of a name for look-ups that the exact form misses: word order and inflection do not count.

The same idea as the ``norm`` flow of the UMLS lexical tools, cut down to what links need: a name costs microseconds.
"""

from __future__ import annotations

from functools import lru_cache

from starling_assets.ontology.folding import fold

_EMPTY = {"of", "the", "and", "with", "for", "in", "to", "by", "on", "nos", "type"}


@lru_cache(maxsize=200_000)
def normalised(name: str) -> str:
    """``diseases of the liver`` and ``liver disease`` give the same string."""
    words = [_singular(word) for word in fold(name).split() if word not in _EMPTY]
    return " ".join(sorted(words))


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
