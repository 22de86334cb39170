"""`starling add` of a folder that mixes articles, citations, PDFs and everything that is none: one table of all."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import dagster as dg
import pytest
from typer.testing import CliRunner

from resources.ocr import OcrResource
from resources.project import ProjectResource
from starling_assets.artifacts.store import Store
from starling_assets.cli.app import app
from starling_assets.defs.literature import citations, papers
from starling_assets.defs.ocr import ocr_markdown
from starling_assets.settings import Settings, load_settings

#: File of the shared folder -> papers, or words of the reason for which it is set aside.
MIX: dict[str, int | str] = {
    "nasty/PMC6212762.nxml.gz": 1,
    "nasty/bmc_art_dtd_1745-6215-16-1.xml.gz": 1,
    "nasty/scielo_artigo-com-traducao-e-pareceres-traduzidos.xml": 1,
    "nasty/pandoc_jats-reader.xml": "not well-formed XML at line 230",
    "pubmed_xml/pubmedpy_efetch.xml.gz": 6,
    "pubmed_xml/jabref_BookArticleSet.xml": 2,
    "pubmed_xml/jabref_MalformedEntry.xml": "not well-formed XML at line 4",
    "pubmed_xml/metapub_37909814.xml": "the file holds no citation",
    "pubmed_xml/biopython_medline_pubmed_result1.txt": "neither JATS, PubMed XML nor PDF",
    "pdf_hostile/html.pdf": "neither JATS",
    "pdf_hostile/empty.pdf": "the file is empty",
    "pdf_hostile/zeropages.pdf": "no page was found in it",
    "pdf_hostile/cycle.pdf": "the PDF has no text",
    "pdf_hostile/enc_user.pdf": "the PDF is encrypted",
    "pdf_hostile/junkprefix.pdf": 1,
}


class ReadersOnly:
    """The pipeline up to the papers: tagging and indexing need the vocabulary and are tested elsewhere."""

    def __init__(self, settings: Settings, instance: dg.DagsterInstance) -> None:
        self.instance = instance

    def vocabulary(self) -> None:
        """Nothing is tagged here."""

    def corpus(self, shard: str) -> None:
        self.instance.add_dynamic_partitions("shard", [shard])
        root = os.environ["STARLING_PROJECT"]
        result = dg.materialize(
            [citations, ocr_markdown, papers],
            resources={"project": ProjectResource(root=root), "ocr": OcrResource(project=root)},
            partition_key=shard,
            instance=self.instance,
        )
        assert result.success


@pytest.fixture
def folder(tmp_path: Path, shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith(("STARLING_", "OPENAI_", "DAGSTER_")):
            monkeypatch.delenv(name)
    (tmp_path / "starling.toml").write_text('[literature]\nocr_engine = "none"\n')
    monkeypatch.setenv("STARLING_PROJECT", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.setattr("starling_assets.cli.add.Pipeline", ReadersOnly)
    mixed = tmp_path / "mixed"
    for number, name in enumerate(MIX):
        target = mixed / f"part{number % 3}" / Path(name).name  # folders in the folder
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(shared_data / "literature" / name, target)
    (mixed / ".hidden").write_text("never taken")
    return mixed


def call(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["add", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_every_file_is_taken_or_set_aside_with_its_reason(folder: Path) -> None:
    table = call(str(folder), "--name", "mix")
    assert f"closed {len(MIX)} new files into mix" in table
    lines = {name: line for line in table.splitlines() for name in MIX if f" {Path(name).name} " in line}
    assert set(lines) == set(MIX)
    for name, expected in MIX.items():
        cells = [cell.strip() for cell in lines[name].strip()[1:-1].split("│")]  # an empty reason is a cell too
        status, count, reason = cells[2:5]
        if isinstance(expected, int):
            assert (status, int(count), reason) == ("ok", expected, ""), name
        else:
            assert (status, int(count)) == ("set_aside", 0), name
            assert expected in reason
    stored = Store(load_settings().store_root).read("papers", "mix")
    taken = sum(papers for papers in MIX.values() if isinstance(papers, int))
    assert stored.height == stored["paper_id"].n_unique() == taken - 1  # the two book records share one PMID
    assert "nothing to do" in call(str(folder))  # the same bytes are never taken twice
