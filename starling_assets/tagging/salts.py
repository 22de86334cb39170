"""Joins a molecule with the salt and hydrate words beside it: ``donepezil hydrochloride``, ``sodium benzoate``.

The mention becomes the substance as named. Its concepts stay those of the base until a vocabulary names the salt
itself; the linker sees from the structures which of the two it is (FC-04).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from starling_assets.ontology.counterions import COUNTERIONS, HYDRATES
from starling_assets.tagging.collecting import Mention

_CATIONS = {name for name, smiles in COUNTERIONS.items() if "+" in smiles and "C" not in smiles}
_AFTER = re.compile(
    rf"(?: (?:{'|'.join(sorted({*COUNTERIONS, *HYDRATES} - {'hydrate'}, key=len, reverse=True))}|hydrate))+\b",
    re.IGNORECASE,
)


def join_salts(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """``mentions`` (in order, not overlapping) with salts joined."""
    joined: list[Mention] = []
    for item in mentions:
        if joined and item.start < joined[-1].end:
            continue  # a salt word that the mention before has taken in
        if item.choice.entity_type != "SmallMolecule" or item.choice.alias:
            joined.append(item)
            continue
        before = joined[-1] if joined else None
        if before and text[before.end : item.start] == " " and text[before.start : before.end].lower() in _CATIONS:
            joined.pop()
            item = _named(text, before.start, item.end, item)
        after = _AFTER.match(text, item.end)
        joined.append(_named(text, item.start, after.end(), item) if after else item)
    return joined


def _named(text: str, start: int, end: int, item: Mention) -> Mention:
    """The mention ``start:end`` of the substance as written, with the base's concepts."""
    words = text[start:end]
    base = text[item.start : item.end]
    # The base keeps its canonical spelling, so that "Caffeine citrate" and "caffeine citrate" are one entity.
    canonical = words.replace(base, item.choice.canonical, 1) if base != item.choice.canonical else words
    head = canonical[0].lower() if canonical[1:2].islower() else canonical[0]
    return Mention(start, end, replace(item.choice, canonical=head + canonical[1:]), item.source)
