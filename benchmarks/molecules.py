"""Scores name-to-structure resolution on tables of names with known SMILES.

    python -m benchmarks.molecules TABLE … [--releases FOLDER] [--reference FILE]
                                   [--names COLUMN] [--limit N] [--no-opsin]

A TABLE is tab-separated with a header, as those of Therapeutics Data Commons, B3DB and the OPSIN suite. Right: the same
InChIKey. Skeleton: the same first block, of the structure as named or of its parent. Without ``--releases`` the bundled
vocabularies are used. FILE holds what an offline reference resolved from OPSIN, DrugBank and ChEBI; it compares the
structure as named only. The last line is the speed of OPSIN alone, in one process that has started.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

import polars as pl

from benchmarks.name_tables import named_structures, references, table_name
from resources.structures.opsin import Opsin
from resources.structures.resolver import CascadeResolver
from starling_assets.ontology.lexicon import compile_lexicon
from starling_assets.ontology.parents import BadStructure, standardise
from starling_assets.ontology.releases import bundled_dir, import_release, releases_in


def keys(structure: str) -> tuple[str, str | None]:
    """InChIKeys of a structure and of its parent. Raises BadStructure when RDKit cannot read it."""
    if not structure.startswith("InChI="):
        known = standardise(structure)
        return known.inchikey, known.parent_inchikey
    from rdkit.Chem import InchiToInchiKey

    key = InchiToInchiKey(structure)  # type: ignore[no-untyped-call]
    if not key:
        raise BadStructure(structure)
    return key, None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path, nargs="+")
    parser.add_argument("--releases", type=Path)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--names", help="another column to read the names from")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--no-opsin", action="store_true")
    options = parser.parse_args()
    folder = options.releases or bundled_dir()
    releases = [import_release(name, folder) for name in ("chebi", "drugbank") if name in releases_in(folder)]
    concepts = pl.concat([release.concepts for release in releases])
    opsin = None if options.no_opsin else Opsin()
    resolver = CascadeResolver(opsin, compile_lexicon(releases), concepts)
    print(
        f"{'table':24}{'rows':>7}{'resolved':>10}{'right':>8}{'skeleton':>10}{'wrong':>7}{'names/s':>9}  "
        "by method; reference"
    )
    beside = references(options.reference) if options.reference and options.limit is None else {}
    asked: list[str] = []
    for path in options.tables:
        pairs = named_structures(path, options.limit, options.names)
        asked.extend(name for name, _ in pairs)
        begin = time.perf_counter()
        answers = resolver.resolve([name for name, _ in pairs])
        seconds = time.perf_counter() - begin
        counts: Counter[str] = Counter()
        for (_, known), answer in zip(pairs, answers, strict=True):
            if answer is None:
                continue
            try:
                expected = keys(known)
            except BadStructure:
                counts["unreadable"] += 1
                continue
            blocks = {key[:14] for key in (answer.inchikey, answer.parent_inchikey) if key}
            wanted = {key[:14] for key in expected if key}
            counts["resolved"] += 1
            counts[answer.method] += 1
            counts["right"] += answer.inchikey == expected[0]
            counts["skeleton"] += bool(blocks & wanted)
        methods = {name: counts[name] for name in ("opsin", "vocabulary", "composed", "mixture")}
        print(
            f"{path.stem:24}{len(pairs):7}{counts['resolved']:10}{counts['right']:8}{counts['skeleton']:10}"
            f"{counts['resolved'] - counts['skeleton']:7}{len(pairs) / seconds:9.0f}  {methods}"
            + (f"; reference {tuple(beside[table_name(path)])}" if table_name(path) in beside else ""),
            flush=True,
        )
    if opsin is not None and asked:
        begin = time.perf_counter()
        opsin.smiles(asked)
        print(f"OPSIN alone: {len(asked) / (time.perf_counter() - begin):,.0f} names/s")
    resolver.close()


if __name__ == "__main__":
    main()
