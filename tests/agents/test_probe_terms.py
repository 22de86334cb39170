"""Every term of the packaged probes means something in the bundled vocabularies."""

from __future__ import annotations

import polars as pl
import pytest

from starling_assets.agents.tasks import load_task, task_names
from starling_assets.ontology.lexicon import compile_lexicon
from starling_assets.ontology.releases import bundled_dir, import_release, releases_in
from starling_assets.retrieval.probes import Probe, resolve_probe
from starling_assets.retrieval.vocabulary import Vocabulary
from starling_assets.settings import Settings

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    folder = bundled_dir()
    releases = [import_release(name, folder) for name in sorted(releases_in(folder))]
    concepts = pl.concat([release.concepts for release in releases])
    return Vocabulary.from_frames(
        compile_lexicon(releases), concepts, pl.concat([release.edges for release in releases])
    )


def test_all_terms_of_all_tasks_resolve(vocabulary: Vocabulary) -> None:
    resolved = 0
    for name in task_names():
        for probe in load_task(name).probes:
            found = resolve_probe(Probe(name=probe.name, filter=probe.filter), vocabulary, Settings().retrieval)
            assert all(term.ids and not term.truncated for group in found.resolved.groups for term in group)
            resolved += 1
    assert resolved >= 15
