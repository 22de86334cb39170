"""Extraction quality against hand-read records, for any endpoint.

``python -m benchmarks.extraction_quality --task bbb`` reads a corpus through the project's own rooms (papers, tags,
links, postings, vectors, probes, ranking, extraction, judging) and prints: gold windows found by retrieval; records
matched on entity and label before and after the judge; grounded share; agreement of the judge with the gold. The
endpoint is the configured one (``STARLING_LLM_*``; without one the packaged model), or ``--scripted
ideal|sloppy|adversarial`` for a run without any model.

Precision leaves out predictions that match an arguable record only (neither right nor wrong); recall counts each sure
fact once, however often the paper states it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.gold_matching import Located, locate, score
from starling_assets.agents.tasks import Task, load_task
from starling_assets.artifacts.journal import Journal
from starling_assets.extraction.assemble import assemble, evidence_holds
from starling_assets.extraction.extract import extract_shard, shard_windows
from starling_assets.extraction.judging import judge_batches, judge_shard, rejected_by_axis, verdicts
from starling_assets.inference.calls import ModelClient, Role
from starling_assets.journalled import Progress
from starling_assets.literature.citations import read_citations
from starling_assets.literature.papers import read_papers
from starling_assets.literature.sources import SourceFile, sniff
from starling_assets.literature.windows import cut_windows
from starling_assets.settings import Settings, load_settings

REPOSITORY = Path(__file__).resolve().parent.parent
SHARD = "benchmark"


@dataclass
class Corpus:
    """What the steps before retrieval make of the papers."""

    blocks: pl.DataFrame
    papers: pl.DataFrame
    tags: pl.DataFrame
    mentions: pl.DataFrame
    links: pl.DataFrame
    vocabulary: Any


def read_corpus(folder: Path, limit: int | None, settings: Settings) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Papers and blocks of every readable file below ``folder``, the first ``limit`` papers in order of their ids."""
    files = [SourceFile.of(path) for path in sorted(folder.rglob("*")) if path.is_file() and sniff(path) != "unknown"]
    files = [file for file in files if sniff(file.path) != "pdf"]
    citations = read_citations([file for file in files if sniff(file.path) == "pubmed"], settings.literature)
    read = read_papers(files, citations.citations, settings.literature, tell("papers"))
    papers = read.papers if limit is None else read.papers.head(limit)
    return read.blocks.join(papers.select("paper_ordinal"), on="paper_ordinal", how="semi"), papers


def tag_corpus(blocks: pl.DataFrame, papers: pl.DataFrame, ontologies: Path | None, settings: Settings) -> Corpus:
    """Tags, links and vocabulary, as the assets make them."""
    from resources.structures.resource import StructuresResource
    from starling_assets.ontology.lexicon import compile_lexicon
    from starling_assets.ontology.linking import link_entities
    from starling_assets.ontology.releases import bundled_dir, import_release, releases_in
    from starling_assets.retrieval.vocabulary import Vocabulary
    from starling_assets.tagging.dictionary import DictionaryTagger

    folder = ontologies or settings.tagging.lexicon_dir or bundled_dir()
    releases = [import_release(name, folder) for name in sorted(releases_in(folder))]
    lexicon = compile_lexicon(releases)
    concepts = pl.concat([release.concepts for release in releases])
    edges = pl.concat([release.edges for release in releases])
    tagged = DictionaryTagger(lexicon, settings.tagging).tag(blocks)
    with closing(StructuresResource(opsin=settings.tagging.opsin).resolver(lexicon, concepts)) as resolver:
        links = link_entities(tagged.tags, lexicon, concepts, resolver)
    vocabulary = Vocabulary.from_frames(lexicon, concepts, edges)
    return Corpus(blocks, papers, tagged.tags, tagged.mentions, links, vocabulary)


def retrieve(task: Task, corpus: Corpus, windows: pl.DataFrame, settings: Settings, home: Path) -> pl.DataFrame:
    """The SUBCORPUS frame that the task's probes give."""
    from resources.embedder.minilm import MiniLmEmbedder
    from resources.entity_index.local import LocalEntityIndex
    from resources.vector_index.faiss_index import FaissVectorIndex
    from starling_assets.literature.chunk_text import window_texts
    from starling_assets.retrieval.postings import build_postings, unit_counts
    from starling_assets.retrieval.probes import Probe, resolve_probe, run_probe
    from starling_assets.retrieval.ranking import best_similarity, hit_table, rank_papers, subcorpus

    literature = settings.literature
    chunks = cut_windows(corpus.blocks, literature.chunk_paragraphs, literature.chunk_stride)
    index, vectors, embedder = LocalEntityIndex(home / "entities"), FaissVectorIndex(home / "vectors"), MiniLmEmbedder()
    postings = build_postings(corpus.mentions, corpus.links, chunks)
    index.load(SHARD, postings, unit_counts(corpus.blocks, chunks, corpus.papers))
    ordinals = chunks["ordinal"].to_numpy().astype(np.uint32)
    vectors.load(SHARD, embedder.name, ordinals, embedder.embed(window_texts(corpus.blocks, chunks)))
    probes = [
        resolve_probe(Probe(name=probe.name, filter=probe.filter), corpus.vocabulary, settings.retrieval)
        for probe in task.probes
    ]
    hits = {probe.name: run_probe(probe, index, SHARD, chunks) for probe in probes}
    similarities = vectors.score(SHARD, embedder.embed([probe.semantic_query for probe in probes]), ordinals)
    ranked = rank_papers(hits, chunks, similarities, ordinals, settings.retrieval)
    return subcorpus(
        ranked,
        hit_table(hits),
        best_similarity(similarities, ordinals),
        chunks,
        windows,
        settings.extraction.max_windows,
    )


def window_recall(gold: list[Located], windows: pl.DataFrame, found: pl.DataFrame) -> dict[str, Any]:
    """Of the windows that hold a sure gold record, the share that retrieval chose."""
    chosen = set(found.select("paper_id", "first_para").iter_rows())
    places = {(item.paper_id, item.para_idx) for item in gold if item.record.sure}
    holding = [
        (row["paper_id"], row["first_para"])
        for row in windows.iter_rows(named=True)
        if any((row["paper_id"], para) in places for para in range(row["first_para"], row["first_para"] + row["n"]))
    ]
    hit = [place for place in holding if place in chosen]
    return {
        "windows": windows.height,
        "chosen": found.height,
        "gold_windows": len(holding),
        "gold_windows_found": len(hit),
        "recall": ratio(len(hit), len(holding)),
        "missed": [list(place) for place in holding if place not in chosen],
        "positions": [
            row["position"] for row in found.iter_rows(named=True) if (row["paper_id"], row["first_para"]) in hit
        ],
    }


def measure(
    task: Task,
    corpus: Corpus,
    found: pl.DataFrame,
    client: ModelClient,
    settings: Settings,
    home: Path,
    gold: list[Located],
) -> dict[str, Any]:
    """Extract and judge the windows of ``found`` and score the records."""
    blocks, papers = corpus.blocks, corpus.papers
    extraction, judging = Journal(home / "extraction"), Journal(home / "judging")
    tally = extract_shard(task, found, blocks, papers, client, extraction, settings, show("windows"))
    windows = shard_windows(task, found, blocks, papers, client.model_name(Role.EXTRACTOR), settings)
    made = assemble(task, windows, extraction.outcomes(), papers, corpus.tags, corpus.mentions, corpus.links, settings)
    judge_shard(task, made.records, blocks, papers, client, judging, settings, show("judging"))
    batches = judge_batches(
        task, made.records, blocks, papers, client.model_name(Role.JUDGE), settings.extraction.judge_batch
    )
    answers = verdicts(made.records, judging.outcomes(), batches)
    records = made.records.join(answers, on="record_id", how="left", maintain_order="left")
    read = {(window.paper_id, segment.para_idx) for window in windows for segment in window.segments}
    reachable = [item for item in gold if (item.paper_id, item.para_idx) in read]
    ungrounded = sum(made.counts.rejected.get(reason, 0) for reason in ("ungrounded", "entity_not_in_window"))
    return {
        "windows": tally.model_dump(),
        "objects": made.counts.objects,
        "grounded_share": ratio(made.counts.objects - ungrounded, made.counts.objects),
        "refused": made.counts.rejected,
        "records": made.records.height,
        "kept": int(answers["kept"].sum()),
        "not_kept_by_axis": rejected_by_axis([answers]),
        "false_evidence": len(evidence_holds(made.records, blocks)),
        "before_judge": score(records, gold, reachable),
        "after_judge": score(records.filter("kept"), gold, reachable),
        "judge_agreement": judge_agreement(records, gold),
    }


def judge_agreement(records: pl.DataFrame, gold: list[Located]) -> dict[str, Any]:
    """How often keeping agrees with matching a sure record; arguable ones are left out."""
    right = {True: 0, False: 0}
    seen = 0
    for row in records.iter_rows(named=True):
        matched = [item for item in gold if item.matches(row)]
        if matched and not any(item.record.sure for item in matched):
            continue
        seen += 1
        right[bool(matched)] += bool(matched) == bool(row["kept"])
    return {"judged": seen, "agreed": sum(right.values()), "share": ratio(sum(right.values()), seen)}


@contextmanager
def open_client(scripted: str | None, settings: Settings) -> Iterator[ModelClient]:
    """The scripted model, the configured endpoint, or the packaged model while the context lasts."""
    if scripted:
        from tests.scripted import Adversary, Ideal, ScriptedClient, Sloppy

        yield ScriptedClient({"ideal": Ideal, "sloppy": Sloppy, "adversarial": Adversary}[scripted]())
        return
    from resources.endpoints import build_client
    from starling_assets.inference.budget import Budget
    from starling_assets.inference.ledger import Ledger

    yield build_client(settings, Ledger(settings.ledger_dir), Budget(settings.extraction.max_cost))


def show(stage: str) -> Any:
    """Progress of journalled work on standard error."""

    def line(progress: Progress) -> None:
        print(f"\r{stage}: {progress.done} of {progress.planned}", end="", file=sys.stderr, flush=True)

    return line


def tell(stage: str) -> Any:
    """Progress of reading on standard error."""
    return lambda done, total: print(f"\r{stage}: {done} of {total}", end="", file=sys.stderr, flush=True)


def ratio(part: int, whole: int) -> float | None:
    """A share rounded to four places; None of nothing."""
    return round(part / whole, 4) if whole else None


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.extraction_quality", description=__doc__)
    parser.add_argument("--task", default="bbb")
    parser.add_argument("--corpus", type=Path, default=REPOSITORY / "examples" / "papers", help="folder of papers")
    parser.add_argument(
        "--gold", type=Path, default=REPOSITORY / "tests" / "data" / "gold", help="folder of <task>/records.jsonl"
    )
    parser.add_argument("--ontologies", type=Path, default=None, help="folder of releases; default: the bundled ones")
    parser.add_argument("--papers", type=int, default=None, help="most papers")
    parser.add_argument("--max-windows", type=int, default=None, help="most windows to pay for, best ranked first")
    parser.add_argument("--scripted", choices=["ideal", "sloppy", "adversarial"], default=None)
    parser.add_argument("--retrieval-only", action="store_true", help="no model call")
    parser.add_argument("--all-windows", action="store_true", help="read every window, whatever retrieval says")
    parser.add_argument("--home", type=Path, default=None, help="keep journals here: a second run pays for nothing")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    settings = load_settings()
    if options.max_windows is not None:
        changed = settings.extraction.model_copy(update={"max_windows": options.max_windows})
        settings = settings.model_copy(update={"extraction": changed})
    task = load_task(options.task)
    blocks, papers = read_corpus(options.corpus, options.papers, settings)
    gold = locate(options.gold, task.name, blocks)
    corpus = tag_corpus(blocks, papers, options.ontologies, settings)
    with tempfile.TemporaryDirectory() as temporary:
        home = options.home or Path(temporary)
        size = settings.extraction.window_paragraphs
        windows = cut_windows(blocks, size, size)
        found = retrieve(task, corpus, windows, settings, home)
        result: dict[str, Any] = {"task": task.name, "papers": papers.height, "gold": len(gold)}
        result["retrieval"] = window_recall(gold, windows, found)
        if not options.retrieval_only:
            with open_client(options.scripted, settings) as client:
                chosen = every_window(windows) if options.all_windows else found
                result["model"] = {role.value: client.model_name(role) for role in (Role.EXTRACTOR, Role.JUDGE)}
                result |= measure(task, corpus, chosen, client, settings, home, gold)
    print(json.dumps(result, indent=None if options.json else 1, ensure_ascii=False))


def every_window(windows: pl.DataFrame) -> pl.DataFrame:
    """All windows as a SUBCORPUS frame, in reading order."""
    from starling_assets.retrieval.tables import SUBCORPUS

    frame = windows.select(
        pl.col("ordinal").alias("position"),
        pl.col("paper_ordinal").alias("rank"),
        pl.col("window_key").alias("unit"),
        *("paper_ordinal", "paper_id", "extraction_id", "first_para", "n"),
        pl.lit(None).alias("similarity"),
        pl.lit(["all"]).alias("probes"),
    )
    return frame.select(pl.col(name).cast(kind) for name, kind in SUBCORPUS.items())


if __name__ == "__main__":
    main()
