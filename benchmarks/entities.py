"""Scores the embedded tagger on gold corpora: spans, identifiers, look-up of gold mentions, speed.

    python benchmarks/entities.py GOLD [--releases FOLDER] [--lexicon FILE] [--part Test] [--corpus NAME] [--json FILE]

GOLD holds one folder per corpus (PubTator files, AnatEM as a standoff archive). Without ``--releases`` the bundled
vocabularies are used. ``--lexicon`` keeps the compiled lexicon between runs. Nothing is trained on these corpora; the
stop list was written from other articles. A document is one paper of one paragraph. Strict: same span and type.
Relaxed: overlapping span, same type. Ids: the set per document.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import tarfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from starling_assets.ontology.folding import fold
from starling_assets.ontology.lexicon import compile_lexicon
from starling_assets.ontology.releases import bundled_dir, import_release, releases_in
from starling_assets.settings.model import TaggingSettings
from starling_assets.tagging.choosing import source_rank
from starling_assets.tagging.dictionary import DictionaryTagger

#: Gold type -> group; group -> our types and the prefix of gold ids.
GROUPS = {
    "Chemical": ({"SmallMolecule", "SmallMoleculeClass"}, "MESH"),
    "Disease": ({"Disease", "Phenotype"}, "MESH"),
    "Gene": ({"Gene", "Protein", "RNA", "Protein/GeneFamily", "Peptide"}, "NCBIGene"),
    "Species": ({"Organism"}, "NCBITaxon"),
    "CellLine": ({"CellLine"}, "Cellosaurus"),
    "Variant": ({"GeneVariant"}, ""),
    "Anatomy": ({"Anatomy", "CellType", "CellLine", "Disease"}, ""),
}
GOLD_TYPES = {
    "Chemical": "Chemical",
    "ChemicalEntity": "Chemical",
    "Disease": "Disease",
    "DiseaseOrPhenotypicFeature": "Disease",
    "DiseaseClass": "Disease",
    "SpecificDisease": "Disease",
    "Modifier": "Disease",
    "CompositeMention": "Disease",
    "Gene": "Gene",
    "GeneOrGeneProduct": "Gene",
    "FamilyName": "Gene",
    "Species": "Species",
    "OrganismTaxon": "Species",
    "CellLine": "CellLine",
    "SequenceVariant": "Variant",
    "SNP": "Variant",
    "DNAMutation": "Variant",
    "ProteinMutation": "Variant",
    "DNAAllele": "Variant",
    "ProteinAllele": "Variant",
    "OtherMutation": "Variant",
}
CORPORA = {
    "bc5cdr": ("CDR_{part}Set", ["Chemical", "Disease"]),
    "ncbi_disease": ("NCBI{part}set", ["Disease"]),
    "biored": ("{part}.PubTator", ["Chemical", "Disease", "Gene", "Species", "CellLine", "Variant"]),
    "nlm_chem": ("NLMchem_{part}", ["Chemical"]),
    "nlm_gene": ("NLMgene_{part}", ["Gene"]),
    "linnaeus": ("Linnaeus_{part}", ["Species"]),
    "species800": ("SPECIES_{part}", ["Species"]),
    "tmvar3": ("tmVar3_{part}", ["Variant", "Gene", "Disease", "Species"]),
    "anatem": ("anatem", ["Anatomy"]),
}


@dataclass
class Document:
    """Text, and gold mentions as (start, end, group, ids)."""

    id: str
    text: str
    gold: list[tuple[int, int, str, frozenset[str]]] = field(default_factory=list)


@dataclass
class Counts:
    """True positives, false positives, false negatives."""

    tp: int = 0
    fp: int = 0
    fn: int = 0

    def f1(self) -> float:
        return 2 * self.tp / (2 * self.tp + self.fp + self.fn) if self.tp else 0.0

    def precision(self) -> float:
        return self.tp / (self.tp + self.fp) if self.tp else 0.0

    def recall(self) -> float:
        return self.tp / (self.tp + self.fn) if self.tp else 0.0


def read_pubtator(path: Path) -> Iterator[Document]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        document: Document | None = None
        for line in lines:
            line = line.rstrip("\n")
            if "|t|" in line[:40] and line.split("|t|")[0].strip().isdigit():
                identifier, _, title = line.partition("|t|")
                document = Document(identifier, title)
            elif "|a|" in line[:40] and document is not None and line.startswith(document.id):
                document.text += " " + line.partition("|a|")[2]
            elif document is not None and line.count("\t") >= 4:
                _, start, end, _, kind, *ids = line.split("\t")
                if kind in GOLD_TYPES:
                    found = frozenset(gold_ids(GOLD_TYPES[kind], ids[0] if ids else ""))
                    document.gold.append((int(start), int(end), GOLD_TYPES[kind], found))
            elif not line.strip() and document is not None:
                yield document
                document = None
        if document is not None:
            yield document


def read_standoff(path: Path) -> Iterator[Document]:
    with tarfile.open(path) as archive:
        parts: dict[str, dict[str, str]] = defaultdict(dict)
        for member in archive.getmembers():
            stem, _, suffix = member.name.rpartition(".")
            handle = archive.extractfile(member) if member.isfile() and suffix in {"txt", "ann"} else None
            if handle is not None:
                parts[stem][suffix] = handle.read().decode("utf-8")
    for stem, files in sorted(parts.items()):
        if files.keys() >= {"txt", "ann"}:
            document = Document(stem, files["txt"])
            for line in files["ann"].splitlines():
                values = line.split("\t")
                if line.startswith("T") and ";" not in values[1]:
                    _, start, end = values[1].split(" ")
                    document.gold.append((int(start), int(end), "Anatomy", frozenset()))
            yield document


def gold_ids(group: str, value: str) -> Iterator[str]:
    prefix = GROUPS[group][1]
    for part in value.replace("|", ";").replace("+", ";").replace(",", ";").split(";"):
        part = part.strip().removeprefix("MESH:")
        if prefix and part and part != "-1" and ":" not in part and part != "-":
            yield f"{prefix}:{part.replace('CVCL:', '')}"


def documents(gold: Path, corpus: str, part: str) -> list[Document]:
    pattern, _ = CORPORA[corpus]
    stem = pattern.format(part=part).lower()
    found: list[Document] = []
    for path in sorted((gold / corpus).iterdir()):
        if path.name.lower().startswith(stem):
            found.extend(read_standoff(path) if path.name.endswith(".tar.gz") else read_pubtator(path))
    return found


def tag(
    tagger: DictionaryTagger, found: list[Document]
) -> tuple[dict[int, list[tuple[int, int, str, list[str]]]], float]:
    """Predictions per document number, and seconds of CPU."""
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
    begin = time.process_time()
    tagged = tagger.tag(blocks)
    seconds = time.process_time() - begin
    concepts = {
        (row[0], row[1]): row[2] for row in tagged.tags.select("paper_ordinal", "entity_key", "concept_ids").iter_rows()
    }
    predicted: dict[int, list[tuple[int, int, str, list[str]]]] = defaultdict(list)
    for ordinal, start, end, surface, kind, key in tagged.mentions.select(
        "paper_ordinal", "start", "end", "surface", "entity_type", "entity_key"
    ).iter_rows():
        assert found[ordinal].text[start:end] == surface, (found[ordinal].id, start, end)
        predicted[ordinal].append((start, end, kind, concepts[ordinal, key]))
    return predicted, seconds


def score(
    found: list[Document], predicted: dict[int, list[tuple[int, int, str, list[str]]]], group: str
) -> dict[str, Counts]:
    strict, relaxed, ids = Counts(), Counts(), Counts()
    types, prefix = GROUPS[group]
    for number, document in enumerate(found):
        gold = [(start, end) for start, end, kind, _ in document.gold if kind == group]
        ours = [item for item in predicted[number] if item[2] in types]
        spans = [(start, end) for start, end, _, _ in ours]
        hit = len(set(gold) & set(spans))
        strict.tp, strict.fp, strict.fn = (
            strict.tp + hit,
            strict.fp + len(spans) - hit,
            strict.fn + len(set(gold)) - hit,
        )
        met = sum(any(a < d and c < b for c, d in spans) for a, b in set(gold))
        extra = sum(not any(a < d and c < b for c, d in gold) for a, b in spans)
        relaxed.tp, relaxed.fp, relaxed.fn = relaxed.tp + met, relaxed.fp + extra, relaxed.fn + len(set(gold)) - met
        if prefix:
            wanted = {one for _, _, kind, known in document.gold if kind == group for one in known}
            got = {
                first for *_, given in ours if (first := next((x for x in given if x.startswith(prefix + ":")), None))
            }
            ids.tp, ids.fp, ids.fn = ids.tp + len(wanted & got), ids.fp + len(got - wanted), ids.fn + len(wanted - got)
    return {"strict": strict, "relaxed": relaxed, "ids": ids}


def lookup(tagger: DictionaryTagger, found: Iterable[Document], group: str) -> tuple[int, int]:
    """Gold mentions with an id, and how many of them the exact look-up gives that id first."""
    types, prefix = GROUPS[group]
    right = total = 0
    for document in found:
        for start, end, kind, known in document.gold:
            if kind == group and known:
                rows = tagger.vocabulary.rows(fold(document.text[start:end]))
                rows = [row for row in rows if row.entity_type in types and row.concept_id.startswith(prefix + ":")]
                rows.sort(key=lambda row: (row.rank, source_rank(row.concept_id), row.concept_id))
                total += 1
                right += bool(rows) and rows[0].concept_id in known
    return right, total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", type=Path)
    parser.add_argument("--releases", type=Path)
    parser.add_argument("--lexicon", type=Path)
    parser.add_argument("--part", default="Test")
    parser.add_argument("--corpus", nargs="*", default=list(CORPORA))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.lexicon and options.lexicon.is_file():
        lexicon = pl.read_parquet(options.lexicon)
    else:
        folder = options.releases or bundled_dir()
        lexicon = compile_lexicon(import_release(name, folder) for name in releases_in(folder))
        if options.lexicon:
            lexicon.write_parquet(options.lexicon)
    tagger = DictionaryTagger(lexicon, TaggingSettings())
    print(f"{lexicon.height:,} names of {lexicon['concept_id'].n_unique():,} concepts")
    print(
        f"{'corpus':13}{'type':10}{'docs':>6}{'strict P':>9}{'R':>7}{'F1':>7}"
        f"{'relaxed F1':>11}{'ids F1':>8}{'look-up':>9}{'docs/s':>8}"
    )
    rows = []
    for corpus in options.corpus:
        found = documents(options.gold, corpus, options.part)
        predicted, seconds = tag(tagger, found)
        for group in CORPORA[corpus][1]:
            counts = score(found, predicted, group)
            right, total = lookup(tagger, found, group)
            strict = counts["strict"]
            row = {
                "corpus": corpus,
                "type": group,
                "documents": len(found),
                "precision": strict.precision(),
                "recall": strict.recall(),
                "strict_f1": strict.f1(),
                "relaxed_f1": counts["relaxed"].f1(),
                "ids_f1": counts["ids"].f1(),
                "lookup": right / total if total else None,
                "documents_per_second": len(found) / seconds,
            }
            rows.append(row)
            shown = f"{row['lookup']:.3f}" if total else "-"
            print(
                f"{corpus:13}{group:10}{len(found):6}{strict.precision():9.3f}{strict.recall():7.3f}{strict.f1():7.3f}"
                f"{counts['relaxed'].f1():11.3f}{counts['ids'].f1():8.3f}{shown:>9}{len(found) / seconds:8.0f}",
                flush=True,
            )
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
