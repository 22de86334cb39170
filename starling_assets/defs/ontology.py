"""Assets of the vocabularies: releases, one partition per ontology, and the lexicon compiled from them."""

import dagster as dg
import polars as pl

from resources.project import ProjectResource
from starling_assets.artifacts.progress import report
from starling_assets.artifacts.store import Store
from starling_assets.ontology import tables
from starling_assets.ontology.lexicon import compile_lexicon
from starling_assets.ontology.releases import RELEASES, Release, bundled_dir, import_release, releases_in
from starling_assets.partitions import ontologies

from .metadata import counts_table, sample_table, value_counts


@dg.asset(
    group_name="ontology",
    partitions_def=ontologies,
    backfill_policy=dg.BackfillPolicy.single_run(),
    pool="cpu",
    kinds={"polars"},
)
def ontology_release(context: dg.AssetExecutionContext, project: ProjectResource) -> dg.MaterializeResult:
    """Concepts, names, hierarchy and structures of each vocabulary release present on this machine."""
    folder = project.settings.tagging.lexicon_dir or bundled_dir()
    present, counts = set(releases_in(folder)), {}
    names = list(context.partition_keys)
    for number, name in enumerate(names):
        if name in present:
            release = import_release(name, folder)
            _write_release(project.store, name, release)
            counts[name] = release.concepts.height
        else:
            # An absent vocabulary is an empty release, not a failure: the lexicon is made of what there is.
            _write_empty(project.store, name)
            counts[name] = 0
        report("ontologies", number + 1, len(names))
    return dg.MaterializeResult(metadata={"folder": str(folder), "concepts": counts_table(counts, "ontology")})


@dg.asset(group_name="ontology", deps=[ontology_release], pool="cpu", kinds={"polars"})
def lexicon(project: ProjectResource) -> dg.MaterializeResult:
    """All names of all releases, folded, with stop list and case rules: what the dictionary tagger matches."""
    releases = [read_release(project.store, name) for name in sorted(RELEASES)]
    frame = compile_lexicon(releases)
    project.store.write(frame, "lexicon", schema=tables.LEXICON)
    concepts = pl.concat([release.concepts for release in releases])
    edges = pl.concat([release.edges for release in releases])
    project.store.write(concepts, "lexicon", table="concepts", schema=tables.CONCEPTS)
    project.store.write(edges, "lexicon", table="edges", schema=tables.EDGES)
    return dg.MaterializeResult(
        metadata={
            "names": frame.height,
            "concepts": concepts.height,
            "by_type": counts_table(value_counts(frame, "entity_type"), "entity type", "names"),
            "sample": sample_table(frame, ["name", "concept_id", "entity_type", "kind"]),
        }
    )


def read_release(store: Store, name: str) -> Release:
    """A release as it was imported."""
    about = store.read("ontology_release", name, table="about").row(0, named=True)
    return Release(
        name=name,
        concepts=store.read("ontology_release", name, table="concepts"),
        names=store.read("ontology_release", name, table="names"),
        edges=store.read("ontology_release", name, table="edges"),
        version=about["version"],
        licence=about["licence"],
        attribution=about["attribution"],
    )


def _write_release(store: Store, name: str, release: Release) -> None:
    about = pl.DataFrame(
        {"version": [release.version], "licence": [release.licence], "attribution": [release.attribution]}
    )
    store.write(about, "ontology_release", name, table="about")
    store.write(release.concepts, "ontology_release", name, table="concepts", schema=tables.CONCEPTS)
    store.write(release.names, "ontology_release", name, table="names", schema=tables.NAMES)
    store.write(release.edges, "ontology_release", name, table="edges", schema=tables.EDGES)


def _write_empty(store: Store, name: str) -> None:
    _write_release(
        store,
        name,
        Release(
            name=name,
            concepts=pl.DataFrame(schema=tables.CONCEPTS),
            names=pl.DataFrame(schema=tables.NAMES),
            edges=pl.DataFrame(schema=tables.EDGES),
            version="absent",
            licence="",
            attribution="",
        ),
    )
