"""Finds the vocabulary names that are spelled most like a given one: trigrams over folded names, in plain arrays.

The index of a name is the set of its three-letter pieces, blanks at both ends included. Memory is about eight bytes
per letter of the vocabulary, and a look-up reads only the lists of the rarest pieces of the name asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

#: Pieces of the asked name whose lists are read, the rarest first: common ones ("in ", "ase") say little.
_PIECES = 10
#: Names compared exactly per look-up.
_SHORTLIST = 150
_SYMBOLS = 38  # blank, a-z, 0-9, anything else


class Alike(NamedTuple):
    """The name at ``position`` of the list given, with the Dice similarity of the sets of pieces (0 to 1)."""

    position: int
    similarity: float


class NameSearch:
    """Look-ups over ``names``, which must be folded (``ontology.folding.fold``)."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)
        codes, owners = _pieces_of_all(self._names)
        order = np.argsort(codes, kind="stable")
        self._owners = owners[order]
        self._starts = np.searchsorted(codes[order], np.arange(_SYMBOLS**3 + 1))
        self._sizes = np.bincount(owners, minlength=len(self._names)) if self._names else np.zeros(0, np.int64)

    def alike(self, name: str, most: int) -> list[Alike]:
        """The ``most`` names that share most pieces with ``name``, best first, equals in the order given."""
        asked = np.unique(_codes(name)[0])
        if not len(self._names) or not len(asked):
            return []
        lengths = self._starts[asked + 1] - self._starts[asked]
        rare = asked[np.argsort(lengths, kind="stable")][:_PIECES]
        read = np.concatenate([self._owners[self._starts[code] : self._starts[code + 1]] for code in rare])
        owners, shared = np.unique(read, return_counts=True)
        best = np.lexsort((owners, np.abs(self._sizes[owners] - len(asked)), -shared))[:_SHORTLIST]
        wanted = _pieces(name)
        found = [Alike(int(owner), _dice(wanted, _pieces(self._names[owner]))) for owner in owners[best]]
        found.sort(key=lambda item: (-item.similarity, item.position))
        return found[:most]


def _pieces(name: str) -> set[str]:
    padded = f" {name} "
    return {padded[at : at + 3] for at in range(len(padded) - 2)}


def _dice(left: set[str], right: set[str]) -> float:
    return 2 * len(left & right) / (len(left) + len(right)) if left and right else 0.0


def _pieces_of_all(names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Codes of all pieces of all names, and the name each belongs to; a piece twice in a name counts once."""
    if not names:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    codes, ends = _codes("\n".join(names))
    owners = np.searchsorted(ends, np.arange(len(codes)), side="right")
    both = np.unique(owners.astype(np.int64) * _SYMBOLS**3 + codes)
    return both % _SYMBOLS**3, both // _SYMBOLS**3


def _codes(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Codes of the pieces of the lines of ``text`` in order, and where each line's codes end."""
    points = np.frombuffer(f" {text} ".replace("\n", " \n ").encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
    symbols = np.full(len(points), _SYMBOLS - 1, np.int64)
    letters, digits = (points >= 97) & (points <= 122), (points >= 48) & (points <= 57)
    symbols[letters], symbols[digits], symbols[points == 32] = points[letters] - 96, points[digits] - 21, 0
    codes = symbols[:-2] * _SYMBOLS**2 + symbols[1:-1] * _SYMBOLS + symbols[2:]
    breaks = points == 10
    inside = ~(breaks[:-2] | breaks[1:-1] | breaks[2:])
    kept = np.cumsum(inside)
    ends = kept[np.flatnonzero(breaks[1:-1])] if breaks.any() else np.zeros(0, np.int64)
    return codes[inside], np.append(ends, kept[-1] if len(kept) else 0)
