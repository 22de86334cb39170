"""How to search vectors under a filter: score the allowed ones, or search all and intersect. Answers do not differ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from pyroaring import BitMap

from starling_assets.settings.model import RetrievalSettings


class PlanKind(StrEnum):
    """The ways to answer a filtered search."""

    NOTHING = "nothing"  # no vector may pass
    SCAN = "scan"  # no restriction
    EXACT = "exact"  # score the allowed vectors, all of them
    OVERFETCH = "overfetch"  # search all, intersect, fetch more until enough passed


@dataclass(frozen=True)
class Plan:
    """A choice with the numbers it rests on; logged with every search."""

    kind: PlanKind
    total: int
    allowed: int
    fetch: int  # rows asked for in the first round

    @property
    def selectivity(self) -> float:
        """Share of the vectors that pass the filter."""
        return self.allowed / self.total if self.total else 0.0

    def __str__(self) -> str:
        return f"{self.kind} ({self.allowed} of {self.total} vectors pass, {self.selectivity:.2%}; fetch {self.fetch})"


def choose_plan(total: int, allowed: int | None, k: int, settings: RetrievalSettings, looked_at: float = 1.0) -> Plan:
    """The cheapest plan by the number of vectors it has to score.

    ``allowed``: how many of the ``total`` vectors pass, None = no filter. ``looked_at``: share of the vectors that an
    unrestricted search scores: 1 for a flat index, lists probed / lists for an inverted file.
    """
    if total == 0 or k == 0 or allowed == 0:
        return Plan(PlanKind.NOTHING, total, allowed or 0, 0)
    if allowed is None or allowed >= total:
        return Plan(PlanKind.SCAN, total, total, min(k, total))
    selectivity = allowed / total
    if selectivity < settings.exact_below or allowed <= total * looked_at:
        return Plan(PlanKind.EXACT, total, allowed, min(k, allowed))
    fetch = min(total, math.ceil(k * settings.overfetch / selectivity))
    return Plan(PlanKind.OVERFETCH, total, allowed, fetch)


def best(ordinals: np.ndarray, scores: np.ndarray, k: int) -> list[tuple[int, float]]:
    """The ``k`` best (ordinal, score), ties by ordinal."""
    order = np.lexsort((ordinals, -scores))[:k]
    return [(int(ordinals[place]), float(scores[place])) for place in order]


def permitted(ordinals: np.ndarray, allowed: BitMap) -> np.ndarray:
    """Places in sorted ``ordinals`` (uint32) of those that ``allowed`` holds; cost goes with the smaller side."""
    wanted = np.asarray(allowed.to_array(), dtype=np.uint32)
    if len(ordinals) and int(ordinals[-1]) == len(ordinals) - 1:
        # Every chunk has a vector: the ordinal is the place.
        return np.asarray(wanted[: np.searchsorted(wanted, len(ordinals))], dtype=np.int64)
    places = np.searchsorted(ordinals, wanted)
    inside = places < len(ordinals)
    places, wanted = places[inside], wanted[inside]
    return np.asarray(places[ordinals[places] == wanted], dtype=np.int64)
