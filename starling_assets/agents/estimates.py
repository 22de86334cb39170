"""Shares estimated from samples, with their interval. Too small a sample is ``insufficient`` and wins nothing (F8)."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import BaseModel, ConfigDict

#: Fewer judged passages than this say nothing.
LEAST_SAMPLE = 5
_Z = 1.959964  # two-sided 95 %


class Estimate(BaseModel):
    """``positive`` of ``judged``; ``low`` and ``high`` are the Wilson interval at 95 %."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    judged: int
    positive: int
    share: float | None
    low: float
    high: float
    status: Literal["measured", "insufficient", "exhausted"]

    def at_least(self, target: float) -> bool:
        """The share reaches ``target``; never true of an insufficient sample."""
        return self.status != "insufficient" and self.share is not None and self.share >= target

    def at_most(self, target: float) -> bool:
        """The share does not exceed ``target``. A population of nothing (``exhausted``) has nothing to find."""
        if self.status == "exhausted" and self.judged == 0:
            return True
        return self.status != "insufficient" and self.share is not None and self.share <= target


def estimate(positive: int, judged: int, *, population: int | None = None, least: int = LEAST_SAMPLE) -> Estimate:
    """The estimate of a share. ``population``: size of what was sampled from; a sample that is all of it is enough."""
    if judged < 0 or not 0 <= positive <= judged:
        raise ValueError(f"{positive} of {judged} is no sample")
    whole = population is not None and judged >= population
    status: Literal["measured", "insufficient", "exhausted"] = "exhausted" if whole else "measured"
    if judged < least and not whole:
        status = "insufficient"
    if judged == 0:
        return Estimate(judged=0, positive=0, share=None, low=0.0, high=1.0, status=status)
    low, high = wilson(positive, judged)
    return Estimate(judged=judged, positive=positive, share=positive / judged, low=low, high=high, status=status)


def wilson(positive: int, judged: int) -> tuple[float, float]:
    """Wilson score interval at 95 % of ``positive`` of ``judged`` (> 0)."""
    share, spread = positive / judged, _Z * _Z / judged
    centre = (share + spread / 2) / (1 + spread)
    half = _Z * math.sqrt(share * (1 - share) / judged + spread / (4 * judged)) / (1 + spread)
    return max(0.0, centre - half), min(1.0, centre + half)
