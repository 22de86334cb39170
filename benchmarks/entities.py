"""Scores the embedded taggers on gold corpora: spans, identifiers, look-up of gold mentions, speed, memory.

    python benchmarks/entities.py GOLD [--releases FOLDER] [--lexicon FILE] [--part development|all]
                                       [--engine dictionary encoder] [--corpus NAME ...] [--json FILE]

GOLD holds one folder per corpus. Without ``--releases`` the bundled vocabularies are used; ``--lexicon`` keeps the
compiled lexicon between runs. ``development`` (the default) are the documents that the encoder was never trained on;
its epoch, and how much it may overrule the dictionary, were chosen on them. A document is one paper of one paragraph.
Strict: same span and type. Relaxed: overlapping span, same type. Ids: the set per document. Every offset is verified.
Published figures stand beside ours from ``published_entities.tsv``; most are of a corpus's official test set.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from starling_assets.ontology.folding import fold
from starling_assets.ontology.lexicon import compile_lexicon
from starling_assets.ontology.releases import bundled_dir, import_release, releases_in
from starling_assets.settings.model import TaggingSettings
from starling_assets.tagging.choosing import source_rank
from starling_assets.tagging.dictionary import DictionaryTagger
from starling_assets.tagging.encoder_tagger import EncoderTagger
from starling_assets.tagging.gold_corpora import CORPORA, PEOPLE, Document, development, documents

#: What is scored: the heads of the gold it covers, our types, the prefix of gold ids.
GROUPS: dict[str, tuple[set[str], set[str], str]] = {
    "Chemical": ({"Chemical"}, {"SmallMolecule", "SmallMoleculeClass"}, "MESH"),
    "Disease": ({"Disease"}, {"Disease", "Phenotype"}, "MESH"),
    "Gene": ({"Gene"}, {"Gene", "Protein", "RNA", "Protein/GeneFamily", "Peptide"}, "NCBIGene"),
    "Species": ({"Species"}, {"Organism"}, "NCBITaxon"),
    "CellLine": ({"CellLine"}, {"CellLine"}, "Cellosaurus"),
    "Variant": ({"Variant"}, {"GeneVariant"}, ""),
    "Anatomy": ({"Anatomy", "Cell"}, {"Anatomy", "CellType", "CellLine"}, ""),
}
#: Not scored: captions without a cell line outnumber the others; SETH annotates one of the kinds of variants.
SCORED = [name for name in CORPORA if name != "seth"]
#: Words such as "patients" are Homo sapiens for BioRED and for us, and unmarked in these.
WITHOUT_PEOPLE = {"linnaeus", "species800"}
ENGINES = {"dictionary": DictionaryTagger, "encoder": EncoderTagger}
Predicted = dict[int, list[tuple[int, int, str, list[str]]]]


@dataclass
class Counts:
    """True positives, false positives, false negatives."""

    tp: int = 0
    fp: int = 0
    fn: int = 0

    def add(self, tp: int, fp: int, fn: int) -> None:
        self.tp, self.fp, self.fn = self.tp + tp, self.fp + fp, self.fn + fn

    def f1(self) -> float:
        return 2 * self.tp / (2 * self.tp + self.fp + self.fn) if self.tp else 0.0

    def precision(self) -> float:
        return self.tp / (self.tp + self.fp) if self.tp else 0.0

    def recall(self) -> float:
        return self.tp / (self.tp + self.fn) if self.tp else 0.0


def gold_ids(group: str, value: str) -> Iterator[str]:
    prefix = GROUPS[group][2]
    for part in value.replace("|", ";").replace("+", ";").replace(",", ";").split(";"):
        part = part.strip().removeprefix("MESH:")
        if prefix and part and part != "-1" and ":" not in part and part != "-":
            yield f"{prefix}:{part.replace('CVCL:', '')}"


def tag(tagger: DictionaryTagger, found: list[Document]) -> tuple[Predicted, float, float]:
    """Predictions per document number, and seconds by the clock and of the processor."""
    blocks = pl.DataFrame(
        {
            "paper_ordinal": list(range(len(found))),
            "paper_id": [str(number) for number in range(len(found))],
            "block_key": [str(number) for number in range(len(found))],
            "para_idx": [0] * len(found),
            "para_ordinal": list(range(len(found))),
            "text": [document.text for document in found],
        }
    )
    begin, cpu = time.perf_counter(), time.process_time()
    tagged = tagger.tag(blocks)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    concepts = {
        (row[0], row[1]): row[2] for row in tagged.tags.select("paper_ordinal", "entity_key", "concept_ids").iter_rows()
    }
    predicted: Predicted = defaultdict(list)
    for ordinal, start, end, surface, kind, key in tagged.mentions.select(
        "paper_ordinal", "start", "end", "surface", "entity_type", "entity_key"
    ).iter_rows():
        if found[ordinal].text[start:end] != surface:
            raise SystemExit(f"document {found[ordinal].id}: {start}-{end} is not {surface!r}")
        predicted[ordinal].append((start, end, kind, concepts[ordinal, key]))
    return predicted, seconds, cpu


def score(corpus: str, found: list[Document], predicted: Predicted, group: str) -> dict[str, Counts]:
    """Counts by measure. Gold mentions of a head that no group covers (cancers, parts of cells) are left aside."""
    counts = {name: Counts() for name in ("strict", "relaxed", "ids")}
    heads, types, prefix = GROUPS[group]
    aside = set(CORPORA[corpus].heads) - {head for covered, _, _ in GROUPS.values() for head in covered}
    for number, document in enumerate(found):
        gold = {(span.start, span.end) for span in document.gold if span.head in heads}
        other = [(span.start, span.end) for span in document.gold if span.head in aside]
        ours = [item for item in predicted[number] if item[2] in types]
        spans = {
            (start, end)
            for start, end, _, _ in ours
            if (start, end) in gold
            or not (
                any(start < last and first < end for first, last in other)
                or (corpus in WITHOUT_PEOPLE and document.text[start:end].lower() in PEOPLE)
            )
        }
        hit = len(gold & spans)
        counts["strict"].add(hit, len(spans) - hit, len(gold) - hit)
        met = sum(any(a < d and c < b for c, d in spans) for a, b in gold)
        extra = sum(not any(a < d and c < b for c, d in gold) for a, b in spans)
        counts["relaxed"].add(met, extra, len(gold) - met)
        if prefix:
            wanted = {one for span in document.gold if span.head in heads for one in gold_ids(group, span.ids)}
            got = {
                first for *_, given in ours if (first := next((x for x in given if x.startswith(prefix + ":")), None))
            }
            counts["ids"].add(len(wanted & got), len(got - wanted), len(wanted - got))
    return counts


def lookup(tagger: DictionaryTagger, found: Iterable[Document], group: str) -> tuple[int, int]:
    """Gold mentions with an id, and how many of them the exact look-up gives that id first."""
    heads, types, prefix = GROUPS[group]
    right = total = 0
    for document in found:
        for span in document.gold:
            known = set(gold_ids(group, span.ids)) if span.head in heads else set()
            if known:
                rows = tagger.vocabulary.rows(fold(document.text[span.start : span.end]))
                rows = [row for row in rows if row.entity_type in types and row.concept_id.startswith(prefix + ":")]
                rows.sort(key=lambda row: (row.rank, source_rank(row.concept_id), row.concept_id))
                total += 1
                right += bool(rows) and rows[0].concept_id in known
    return right, total


def published() -> dict[tuple[str, str], str]:
    """Per corpus and type, the figures of other systems in one cell."""
    cells: dict[tuple[str, str], list[str]] = defaultdict(list)
    with (Path(__file__).parent / "published_entities.tsv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            cells[row["corpus"], row["type"]].append(f"{row['system']} {row['f1']} ({row['measure']})")
    return {key: "; ".join(values) for key, values in cells.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", type=Path)
    parser.add_argument("--releases", type=Path)
    parser.add_argument("--lexicon", type=Path)
    parser.add_argument("--part", choices=["development", "all"], default="development")
    parser.add_argument("--engine", nargs="*", choices=list(ENGINES), default=list(ENGINES))
    parser.add_argument("--corpus", nargs="*", default=SCORED)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.lexicon and options.lexicon.is_file():
        lexicon = pl.read_parquet(options.lexicon)
    else:
        folder = options.releases or bundled_dir()
        lexicon = compile_lexicon(import_release(name, folder) for name in releases_in(folder))
        if options.lexicon:
            lexicon.write_parquet(options.lexicon)
    print(f"{lexicon.height:,} names of {lexicon['concept_id'].n_unique():,} concepts")
    print(
        f"{'corpus':15}{'type':9}{'engine':11}{'docs':>5}{'strict P':>9}{'R':>6}{'F1':>7}"
        f"{'relaxed':>9}{'ids':>7}{'look-up':>9}  published F1"
    )
    beside, rows = published(), []
    totals: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    taggers = {name: ENGINES[name](lexicon, TaggingSettings()) for name in options.engine}
    for corpus in options.corpus:
        found = [one for one in documents(options.gold, corpus) if options.part == "all" or development(one.id)]
        predictions = {}
        for engine, tagger in taggers.items():
            predictions[engine], *seconds = tag(tagger, found)
            for slot, value in enumerate((len(found), *seconds)):
                totals[engine][slot] += value
        for group, (heads, _, _) in GROUPS.items():
            if not heads & set(CORPORA[corpus].heads):
                continue
            right, total = lookup(next(iter(taggers.values())), found, group)
            for engine, predicted in predictions.items():
                counts = score(corpus, found, predicted, group)
                strict = counts["strict"]
                row = {
                    "corpus": corpus,
                    "type": group,
                    "engine": engine,
                    "documents": len(found),
                    "precision": strict.precision(),
                    "recall": strict.recall(),
                    "strict_f1": strict.f1(),
                    "relaxed_f1": counts["relaxed"].f1(),
                    "ids_f1": counts["ids"].f1() if total else None,
                    "lookup": right / total if total else None,
                }
                rows.append(row)
                ids, shown = (f"{row['ids_f1']:.3f}", f"{row['lookup']:.3f}") if total else ("-", "-")
                print(
                    f"{corpus:15}{group:9}{engine:11}{len(found):5}{strict.precision():9.3f}{strict.recall():6.3f}"
                    f"{strict.f1():7.3f}{counts['relaxed'].f1():9.3f}{ids:>7}{shown:>9}  "
                    f"{beside.get((corpus, group), '')}",
                    flush=True,
                )
    for engine, (number, seconds, cpu) in totals.items():
        print(
            f"{engine}: {number / seconds:,.0f} paragraphs/s by the clock, {number / cpu:,.0f} per second of processor"
        )
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB; offsets verified")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
