"""The training job: what can be tested without its environment."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import dagster as dg
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.project import ProjectResource
from starling_assets.defs.tagger_training import TaggerTraining, tagger_model
from starling_assets.tagging.encoder import best_labels
from starling_assets.tagging.encoder_features import FeatureReader, spans_of
from starling_assets.tagging.gold_corpora import HEADS, Document, Span

TRAINING = Path(__file__).resolve().parents[2] / "training"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"training_{name}", TRAINING / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@settings(max_examples=25)
@given(st.lists(st.lists(st.floats(-9, 0, width=32), min_size=5, max_size=5), min_size=1, max_size=8))
def test_training_scores_the_spans_that_tagging_would_give(scores: list[list[float]]) -> None:
    decode = script("decode")
    scores[0][0] = -1.0  # some token may be a mention
    array = np.asarray(scores, np.float32)
    labels = decode.viterbi(array)
    assert decode.spans(labels) == spans_of(labels)
    ours = best_labels(array.tolist())
    assert sum(array[place, label] for place, label in enumerate(labels)) == pytest.approx(
        sum(array[place, label] for place, label in enumerate(ours)), abs=1e-4
    )


def test_labels_of_a_document_are_masked_where_its_corpus_says_nothing() -> None:
    text = "Patients took aspirin plus beta blockers in rats."
    document = Document("1", text, [
        Span(0, 8, "Species", "9606"), Span(14, 21, "Chemical", ""), Span(27, 40, "Chemical", ""),
        Span(44, 48, "Species", ""),
    ])  # fmt: skip
    features = FeatureReader({"[UNK]": 1}).read(text, ())
    labels = script("prepare").labels_of(document, features, ("Chemical", "Species"))
    assert labels[:, HEADS.index("Chemical")].tolist() == [0, 0, 4, 0, 1, 3, 0, 0, 0]
    assert labels[:, HEADS.index("Species")].tolist() == [-1, 0, 0, 0, 0, 0, 0, 4, 0]
    assert set(labels[:, HEADS.index("Gene")].tolist()) == {-1}


def test_a_step_that_fails_ends_the_job_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = script("job")
    (tmp_path / "good.py").write_text("print('{\"f1\": 1}')")
    (tmp_path / "bad.py").write_text("raise SystemExit(3)")
    monkeypatch.setattr(job, "HERE", tmp_path)
    assert job.run(sys.executable, "good.py") == ['{"f1": 1}']
    with pytest.raises(SystemExit, match="ended with status 3"):
        job.run(sys.executable, "bad.py")


def test_without_its_interpreter_the_asset_fails_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(dg.Failure, match=r"requirements\.txt"):
        dg.materialize(
            [tagger_model],
            resources={"project": ProjectResource(root=str(tmp_path))},
            run_config=dg.RunConfig(ops={"tagger_model": TaggerTraining(gold=str(tmp_path), python="nowhere")}),
        )


def test_the_job_runs_through_pipes_and_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real job script with stand-ins for its steps."""
    from starling_assets.defs import tagger_training

    folder = tmp_path / "training"
    folder.mkdir()
    (folder / "job.py").write_text((TRAINING / "job.py").read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "prepare.py").write_text("import sys; open(sys.argv[2], 'w').close()")
    (folder / "train.py").write_text('print(\'{"seconds": 1, "f1": {"a Chemical": 0.9}}\')')
    (folder / "export.py").write_text("import sys; open(sys.argv[3], 'w').write('weights')")
    monkeypatch.setattr(tagger_training, "_JOB", folder / "job.py")
    result = dg.materialize(
        [tagger_model],
        resources={"project": ProjectResource(root=str(tmp_path))},
        run_config=dg.RunConfig(
            ops={"tagger_model": TaggerTraining(gold=str(tmp_path), python=sys.executable, epochs=1)}
        ),
    )
    (event,) = result.get_asset_materialization_events()
    metadata = event.materialization.metadata
    assert metadata["bytes"].value == 7
    assert metadata["development_f1"].value == {"a Chemical": 0.9}
