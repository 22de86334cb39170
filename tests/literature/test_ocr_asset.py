"""The asset of read pages and the papers made of them, as steps."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from resources.ocr import Choice, OcrResource
from resources.project import ProjectResource
from starling_assets.artifacts.store import Store
from starling_assets.defs.literature import citations, papers
from starling_assets.defs.ocr import ocr_markdown
from starling_assets.literature.ocr.pages import OcrBlock, OcrPage
from starling_assets.literature.shards import ShardBook
from starling_assets.literature.tables import OCR_PAGES
from tests.literature.ocr_pages import WORDS, made_pdf
from tests.literature.papers_on_disk import article


class Scripted:
    """Reads the first page and loses the second."""

    name = "scripted/1"
    in_flight = 2

    async def read(self, page) -> OcrPage:
        if page.page == 2:
            return OcrPage(2, "failed", "repetition_loop", raw=("again and again",))
        return OcrPage(1, "ok", "", (OcrBlock("paragraph", "Words of page 1."),), ("reply",))


@pytest.fixture
def materialize(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    home = tmp_path / ".starling"
    (tmp_path / "starling.toml").write_text(f'home = "{home}"\n[literature]\nocr_engine = "none"\n')
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    made_pdf(inbox / "scan.pdf", WORDS, WORDS[:3], picture=True)
    (inbox / "sound.nxml").write_text(article())
    ShardBook(home).close(sorted(inbox.iterdir()), key="s1")

    def run(choice: Choice | None = None) -> tuple[dg.ExecuteInProcessResult, Store]:
        if choice is not None:
            monkeypatch.setattr(OcrResource, "choice", lambda _self: choice)
        with dg.DagsterInstance.ephemeral() as instance:
            instance.add_dynamic_partitions("shard", ["s1"])
            result = dg.materialize(
                [citations, ocr_markdown, papers],
                resources={"project": ProjectResource(root=str(tmp_path)), "ocr": OcrResource(project=str(tmp_path))},
                partition_key="s1",
                instance=instance,
            )
        return result, Store(home / "store")

    return run


def test_pages_are_read_before_papers_are_put_together(materialize):
    _, earlier = materialize(Choice(Scripted()))
    first = earlier.path("ocr_markdown", "s1").read_bytes()
    result, store = materialize(Choice(Scripted()))
    assert result.success
    assert store.path("ocr_markdown", "s1").read_bytes() == first
    pages = store.read("ocr_markdown", "s1")
    assert pages.schema == pl.Schema(OCR_PAGES)
    assert pages.select("page", "engine", "status", "reason", "raw").rows() == [
        (1, "scripted/1", "ok", "", ["reply"]),
        (2, "scripted/1", "failed", "repetition_loop", ["again and again"]),
    ]
    (check,) = [found for found in result.get_asset_check_evaluations() if found.check_name == "ocr_pages_accounted"]
    assert not check.passed
    assert check.severity == dg.AssetCheckSeverity.WARN
    files = {row["file"]: row for row in store.read("papers", "s1", table="files").iter_rows(named=True)}
    assert files["scan.pdf"]["status"] == "ok"
    assert files["scan.pdf"]["reason"] == "left out: page 2 (scan: repetition_loop)"
    assert "Words of page 1." in store.read("papers", "s1", table="blocks")["text"].to_list()


def test_without_an_engine_scans_are_set_aside_and_the_rest_is_read(materialize):
    result, store = materialize()
    assert result.success
    assert store.read("ocr_markdown", "s1").is_empty()
    files = {row["file"]: row for row in store.read("papers", "s1", table="files").iter_rows(named=True)}
    assert files["scan.pdf"]["status"] == "set_aside"
    assert files["scan.pdf"]["reason"] == "2 of 2 pages need OCR (scan) and literature.ocr_engine is none"
    assert files["sound.nxml"]["status"] == "ok"
