"""The ideal scripted model over the development papers: 95% of the hand-read records come out, none ungrounded."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from lxml import etree

from benchmarks.extraction_quality import every_window, measure, read_corpus
from benchmarks.gold_matching import locate
from starling_assets.agents.tasks import load_task
from starling_assets.artifacts.store import empty
from starling_assets.literature.windows import cut_windows
from starling_assets.ontology.tables import LINKS
from starling_assets.settings import Settings
from starling_assets.tagging.tables import MENTIONS, TAGS
from tests.scripted import Ideal, ScriptedClient, load_gold

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
TASKS = ("bbb", "oral", "ld50")


class Corpus:
    """Blocks and papers, untagged: entities are then found by their words alone."""

    def __init__(self, blocks: pl.DataFrame, papers: pl.DataFrame) -> None:
        self.blocks, self.papers = blocks, papers
        self.tags, self.mentions, self.links = empty(TAGS), empty(MENTIONS), empty(LINKS)


def citations(rows: list[dict[str, str]]) -> bytes:
    """The abstracts in PubMed's form."""
    root = etree.Element("PubmedArticleSet")
    for row in rows:
        citation = etree.SubElement(etree.SubElement(root, "PubmedArticle"), "MedlineCitation")
        etree.SubElement(citation, "PMID", Version="1").text = row["pmid"]
        article = etree.SubElement(citation, "Article")
        issue = etree.SubElement(etree.SubElement(article, "Journal"), "JournalIssue")
        etree.SubElement(etree.SubElement(issue, "PubDate"), "Year").text = "2000"
        etree.SubElement(article, "ArticleTitle").text = row["title"]
        etree.SubElement(etree.SubElement(article, "Abstract"), "AbstractText").text = row["abstract"]
    return etree.tostring(root, encoding="UTF-8", xml_declaration=True)


@pytest.fixture(scope="module")
def corpus(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """The papers that hold a gold record of one of the tasks."""
    folder, literature = tmp_path_factory.mktemp("papers"), shared_data / "literature"
    wanted = {
        json.loads(line)["source_file"]
        for task in TASKS
        for line in (shared_data / "gold_records" / task / "records.jsonl").read_text("utf-8").splitlines()
    }
    for name in sorted(wanted):
        if name.startswith("jats/"):
            (folder / Path(name).stem).write_bytes(gzip.decompress((literature / name).read_bytes()))
    lines = (literature / "abstracts" / "ontopic_abstracts.jsonl").read_text("utf-8").splitlines()
    (folder / "citations.xml").write_bytes(citations([json.loads(line) for line in lines]))
    return Corpus(*read_corpus(folder, None, Settings()))


@pytest.mark.parametrize("name", TASKS)
def test_the_ideal_model_reproduces_the_gold(corpus: Any, shared_data: Path, tmp_path: Path, name: str) -> None:
    task, settings, folder = load_task(name), Settings(), shared_data / "gold_records"
    gold = locate(folder, name, corpus.blocks)
    listed = [record for record in load_gold(folder).of(name) if record.sure]
    assert len([item for item in gold if item.record.sure]) >= 0.95 * len(listed)
    size = settings.extraction.window_paragraphs
    windows = every_window(cut_windows(corpus.blocks, size, size))
    client = ScriptedClient(Ideal(load_gold(folder)))
    found = measure(task, corpus, windows, client, settings, tmp_path, gold)
    assert found["refused"] == {}
    assert found["false_evidence"] == 0
    assert found["grounded_share"] == 1.0
    assert found["after_judge"]["recall"] >= 0.95
    assert found["after_judge"]["precision"] >= 0.95
