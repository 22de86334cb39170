"""Scores an exported model on the development stretches, as ``train.py`` scores the weights it came from.

    python training/check.py DATA.npz MODEL.onnx

Runs in the project's environment; the difference to the last line of ``train.py`` is what int8 costs.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from starling_assets.tagging.encoder import Encoder
from starling_assets.tagging.encoder_features import Features, spans_of


def main() -> None:
    """Read, score, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("model", type=Path)
    options = parser.parse_args()
    data = np.load(options.data)
    arrays = {name: data[name] for name in ("pieces", "hashes", "bits", "labels")}
    corpora, stretches = data["corpora"].tolist(), data["stretches"]
    encoder = Encoder(options.model.read_bytes())
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for begin, end, corpus, _ in stretches[stretches[:, 3] == 1]:
        places = np.arange(end - begin, dtype=np.int32)
        columns = (arrays[name][begin:end] for name in ("pieces", "hashes", "bits"))
        (read,) = encoder.read([Features(places, places + 1, *columns, [(0, int(end - begin))])])
        for head, name in enumerate(encoder.heads):
            gold = arrays["labels"][begin:end, head].tolist()
            if max(gold, default=-1) < 0:
                continue
            wanted = set(spans_of(gold))
            got = {(span.start, span.end) for span in read.spans if span.head == name and gold[span.start] >= 0}
            count = counts[f"{corpora[corpus]} {name}"]
            count[0] += 2 * len(wanted & got)
            count[1] += len(wanted) + len(got)
    print(json.dumps({key: round(hit / max(1, total), 4) for key, (hit, total) in sorted(counts.items())}, indent=1))


if __name__ == "__main__":
    main()
