"""Turns gold corpora into the arrays that ``train.py`` reads. Runs in the project's own environment.

python training/prepare.py GOLD OUTPUT.npz [--releases FOLDER]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from starling_assets.ontology.lexicon import compile_lexicon
from starling_assets.ontology.releases import bundled_dir, import_release, releases_in
from starling_assets.settings.model import TaggingSettings
from starling_assets.tagging.dictionary import DictionaryTagger
from starling_assets.tagging.encoder_features import FeatureReader, Features
from starling_assets.tagging.gold_corpora import CORPORA, HEADS, PEOPLE, Document, development, documents

#: Of long texts with few mentions, one stretch without any of so many is kept.
THINNED = {"linnaeus": 6, "bioid_cellline": 8, "nlm_chem": 2}
IGNORE = -1


def labels_of(document: Document, features: Features, heads: tuple[str, ...]) -> np.ndarray:
    """int8 (tokens, heads): 0 outside, 1 begin, 2 inside, 3 end, 4 single, -1 no loss."""
    labels = np.full((len(features.starts), len(HEADS)), IGNORE, np.int8)
    for place, head in enumerate(HEADS):
        if head not in heads:
            continue
        labels[:, place] = 0
        # Longer ones last, so that they win over what lies inside them.
        for span in sorted(document.gold, key=lambda span: span.end - span.start):
            if span.head != head:
                continue
            first = int(np.searchsorted(features.ends, span.start, side="right"))
            last = int(np.searchsorted(features.starts, span.end, side="left"))
            if first >= last:
                continue
            if head == "Species" and document.text[span.start : span.end].lower() in PEOPLE:
                labels[first:last, place] = IGNORE
                continue
            labels[first:last, place] = 2
            labels[first, place], labels[last - 1, place] = (4, 4) if last - first == 1 else (1, 3)
    return labels


def main() -> None:
    """Read, tag with the dictionary, make features, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--releases", type=Path)
    options = parser.parse_args()
    folder = options.releases or bundled_dir()
    lexicon = compile_lexicon(import_release(name, folder) for name in releases_in(folder))
    tagger = DictionaryTagger(lexicon, TaggingSettings())
    reader = FeatureReader.packaged()
    arrays: dict[str, list[np.ndarray]] = {"pieces": [], "hashes": [], "bits": [], "labels": []}
    rows: list[tuple[int, int, int, int]] = []
    begin = 0
    for number, (name, corpus) in enumerate(CORPORA.items()):
        without = 0
        for document in documents(options.gold, name):
            features = reader.read(document.text, tagger.found(document.text))
            labels = labels_of(document, features, corpus.heads)
            held = development(document.id)
            for first, last in features.stretches:
                if not held and name in THINNED and not (labels[first:last] > 0).any():
                    without += 1
                    if without % THINNED[name]:
                        continue
                for key, values in (("pieces", features.pieces), ("hashes", features.hashes), ("bits", features.bits)):
                    arrays[key].append(values[first:last])
                arrays["labels"].append(labels[first:last])
                rows.append((begin, begin + last - first, number, held))
                begin += last - first
        print(f"{name}: {len(rows)} stretches, {begin} tokens so far", file=sys.stderr, flush=True)
    np.savez(
        options.output,
        stretches=np.asarray(rows, np.int64),
        corpora=np.asarray(list(CORPORA)),
        heads=np.asarray(HEADS),
        **{key: np.concatenate(values) for key, values in arrays.items()},
    )


if __name__ == "__main__":
    main()
