"""Best legal sequence of labels: 0 outside, 1 begin, 2 inside, 3 end, 4 single.

The training environment does not hold the project, so what reads labels stands here and in ``tagging/encoder*.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_OPEN, _CLOSED = (2, 3), (0, 1, 4)
_NEXT = {0: _CLOSED, 1: _OPEN, 2: _OPEN, 3: _CLOSED, 4: _CLOSED}
_ALLOWED = np.full((5, 5), -1e9, np.float32)
for _label, _following in _NEXT.items():
    _ALLOWED[_label, list(_following)] = 0


def viterbi(scores: np.ndarray) -> list[int]:
    """``scores`` (tokens, 5) are log probabilities."""
    if scores[:, 0].min() > -0.2:
        return [0] * len(scores)
    best = scores[0] + np.asarray([0, 0, -1e9, -1e9, 0], np.float32)
    back = []
    for row in scores[1:]:
        paths = best[:, None] + _ALLOWED
        back.append(paths.argmax(0))
        best = paths.max(0) + row
    label = int((best + np.asarray([0, -1e9, -1e9, 0, 0], np.float32)).argmax())
    labels = [label]
    for step in reversed(back):
        label = int(step[label])
        labels.append(label)
    return labels[::-1]


def spans(labels: Sequence[int]) -> list[tuple[int, int]]:
    """Token ranges."""
    found = []
    begin = -1
    for place, label in enumerate(labels):
        if label == 4:
            found.append((place, place + 1))
        elif label == 1:
            begin = place
        elif label == 3 and begin >= 0:
            found.append((begin, place + 1))
        if label in (0, 3, 4):
            begin = -1
    return found
