"""The small encoder: features of tokens to typed spans. Weights lie in the package; see ``docs/tagger.md``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from starling_assets.tagging.encoder_features import BITS, HASHES, PIECES, Features, spans_of

#: Tokens in one run of the network; bounds its memory.
RUN_TOKENS = 8_192
#: Empty rows between two stretches, so that no layer reads across.
_GAP = 3
#: A token that lies outside with more than this log probability is no part of any span.
_SURELY_OUTSIDE = -0.02
_IMPOSSIBLE = -1e9
_OPEN, _CLOSED = (2, 3), (0, 1, 4)
#: Labels that may follow each label.
_NEXT = (_CLOSED, _OPEN, _OPEN, _CLOSED, _CLOSED)


class EncoderSpan(NamedTuple):
    """``text[start:end]`` is a mention for ``head``; ``score`` is the mean log probability of its tokens' labels."""

    start: int
    end: int
    head: str
    score: float


class Read(NamedTuple):
    """What the network says of a paragraph: its spans, and log P(outside) of each token and head (tokens, heads)."""

    spans: list[EncoderSpan]
    outside: np.ndarray


class Encoder:
    """The network. ``heads`` names its outputs."""

    def __init__(self, model: bytes, threads: int = 0) -> None:
        """``threads``: 0 = the cores this process may use."""
        import onnxruntime

        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or len(os.sched_getaffinity(0))
        options.inter_op_num_threads = 1
        # Spinning threads would starve whoever else works on these cores.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # Else int8 matrices are unpacked in every product; without int8 instructions that is slower than once.
        options.add_session_config_entry("session.disable_quant_qdq", "1")
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.heads: tuple[str, ...] = tuple(self._session.get_modelmeta().custom_metadata_map["heads"].split(","))

    @classmethod
    def packaged(cls, threads: int = 0) -> Encoder:
        """With the weights of this installation."""
        return cls((files("starling_assets.tagging") / "models" / "tagger.onnx").read_bytes(), threads)

    def read(self, paragraphs: Sequence[Features]) -> list[Read]:
        """One result per paragraph. The same paragraphs in the same order give the same result."""
        scores = self._scores(paragraphs)
        return [Read(self._spans(item, found), found[:, :, 0]) for item, found in zip(paragraphs, scores, strict=True)]

    def _scores(self, paragraphs: Sequence[Features]) -> list[np.ndarray]:
        """Log probabilities (tokens, heads, 5) of each paragraph."""
        scores = [np.zeros((len(item.starts), len(self.heads), 5), np.float32) for item in paragraphs]
        waiting: list[tuple[int, int, int]] = []
        size = 0
        for place, item in enumerate(paragraphs):
            for begin, end in item.stretches:
                if waiting and size + end - begin > RUN_TOKENS:
                    self._run(paragraphs, waiting, scores)
                    waiting, size = [], 0
                waiting.append((place, begin, end))
                size += end - begin + _GAP
        if waiting:
            self._run(paragraphs, waiting, scores)
        return scores

    def _run(
        self, paragraphs: Sequence[Features], waiting: list[tuple[int, int, int]], scores: list[np.ndarray]
    ) -> None:
        total = sum(end - begin + _GAP for _, begin, end in waiting)
        pieces, hashes = np.zeros((total, PIECES), np.int32), np.zeros((total, HASHES), np.int32)
        bits, mask = np.zeros((total, BITS), np.uint8), np.zeros((total, 1), np.float32)
        at = 0
        for place, begin, end in waiting:
            here = slice(at, at + end - begin)
            item = paragraphs[place]
            pieces[here], hashes[here] = item.pieces[begin:end], item.hashes[begin:end]
            bits[here], mask[here] = item.bits[begin:end], 1
            at += end - begin + _GAP
        (found,) = self._session.run(["scores"], {"pieces": pieces, "hashes": hashes, "bits": bits, "mask": mask})
        at = 0
        for place, begin, end in waiting:
            scores[place][begin:end] = found[at : at + end - begin]
            at += end - begin + _GAP

    def _spans(self, item: Features, scores: np.ndarray) -> list[EncoderSpan]:
        found = []
        for head, name in enumerate(self.heads):
            possible = np.flatnonzero(scores[:, head, 0] < _SURELY_OUTSIDE)
            if not len(possible):
                continue
            breaks = np.flatnonzero(np.diff(possible) > 1)
            firsts = [possible[0], *possible[breaks + 1]]
            lasts = [*possible[breaks], possible[-1]]
            for first, last in zip(firsts, lasts, strict=True):
                rows = scores[first : last + 1, head]
                labels = best_labels(rows.tolist())
                for begin, end in spans_of(labels):
                    score = sum(float(rows[place, labels[place]]) for place in range(begin, end)) / (end - begin)
                    found.append(
                        EncoderSpan(int(item.starts[first + begin]), int(item.ends[first + end - 1]), name, score)
                    )
        return sorted(found)


def best_labels(scores: list[list[float]]) -> list[int]:
    """The likeliest legal sequence of labels (see ``spans_of``) of log probabilities (tokens, 5)."""
    best = [value if label in _CLOSED else _IMPOSSIBLE for label, value in enumerate(scores[0])]
    back: list[list[int]] = []
    for row in scores[1:]:
        before, best = best, [_IMPOSSIBLE * 2] * 5
        came = [0] * 5
        for label, following in enumerate(_NEXT):
            for after in following:
                value = before[label] + row[after]
                if value > best[after]:
                    best[after], came[after] = value, label
        back.append(came)
    label = max((0, 3, 4), key=lambda one: best[one])
    labels = [label]
    for came in reversed(back):
        label = came[label]
        labels.append(label)
    return labels[::-1]
