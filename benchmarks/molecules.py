"""Scores name-to-structure resolution on tables of names with known SMILES.

    python benchmarks/molecules.py TABLE … [--releases FOLDER] [--limit N] [--no-opsin]

A TABLE is tab-separated with a header; the columns Drug_ID (name) and Drug (SMILES) are those of Therapeutics Data
Commons. Right: the same InChIKey. Skeleton: the same first block, of the structure as named or of its parent. Without
``--releases`` the bundled vocabularies are used.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections import Counter
from pathlib import Path

import polars as pl

from resources.structures.opsin import Opsin
from resources.structures.resolver import CascadeResolver
from starling_assets.ontology.lexicon import compile_lexicon
from starling_assets.ontology.parents import BadStructure, standardise
from starling_assets.ontology.releases import bundled_dir, import_release, releases_in


def rows(path: Path, limit: int | None) -> list[tuple[str, str]]:
    with path.open(encoding="utf-8", newline="") as handle:
        found = [(row["Drug_ID"].strip('"'), row["Drug"].strip('"')) for row in csv.DictReader(handle, delimiter="\t")]
    return found[:limit]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path, nargs="+")
    parser.add_argument("--releases", type=Path)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--no-opsin", action="store_true")
    options = parser.parse_args()
    folder = options.releases or bundled_dir()
    releases = [import_release(name, folder) for name in ("chebi", "drugbank") if name in releases_in(folder)]
    concepts = pl.concat([release.concepts for release in releases])
    resolver = CascadeResolver(None if options.no_opsin else Opsin(), compile_lexicon(releases), concepts)
    print(f"{'table':24}{'rows':>7}{'resolved':>10}{'right':>8}{'skeleton':>10}{'wrong':>7}{'names/s':>9}  by method")
    for path in options.tables:
        pairs = rows(path, options.limit)
        begin = time.perf_counter()
        answers = resolver.resolve([name for name, _ in pairs])
        seconds = time.perf_counter() - begin
        counts: Counter[str] = Counter()
        for (_, smiles), answer in zip(pairs, answers, strict=True):
            if answer is None:
                continue
            try:
                expected = standardise(smiles)
            except BadStructure:
                counts["unreadable"] += 1
                continue
            blocks = {key[:14] for key in (answer.inchikey, answer.parent_inchikey) if key}
            wanted = {key[:14] for key in (expected.inchikey, expected.parent_inchikey) if key}
            counts["resolved"] += 1
            counts[answer.method] += 1
            counts["right"] += answer.inchikey == expected.inchikey
            counts["skeleton"] += bool(blocks & wanted)
        methods = {name: counts[name] for name in ("opsin", "vocabulary", "composed", "mixture")}
        print(
            f"{path.stem:24}{len(pairs):7}{counts['resolved']:10}{counts['right']:8}{counts['skeleton']:10}"
            f"{counts['resolved'] - counts['skeleton']:7}{len(pairs) / seconds:9.0f}  {methods}",
            flush=True,
        )
    resolver.close()


if __name__ == "__main__":
    main()
