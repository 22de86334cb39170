"""Releases by name from a folder, and the bundled subset."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import polars as pl
import pytest

from starling_assets.ontology.releases import (
    RELEASES,
    BadRelease,
    Release,
    bundled_dir,
    import_release,
    releases_in,
)
from starling_assets.ontology.tables import CONCEPTS, EDGES, NAMES
from starling_assets.tagging.entity_types import EntityType

TYPES = {str(kind) for kind in EntityType} | {""}
BUNDLED = [
    "starling", "chebi", "drugbank", "mesh", "hgnc", "uniprot", "mgi", "ncbitaxon", "go", "mondo", "uberon", "cl",
    "cellosaurus", "genegroup", "famplex", "reactome",
]  # fmt: skip


@lru_cache(maxsize=32)
def bundled(name: str) -> Release:
    return import_release(name, bundled_dir())


def test_the_bundle_holds_what_its_readme_says() -> None:
    assert releases_in(bundled_dir()) == BUNDLED
    readme = (bundled_dir() / "README.md").read_text(encoding="utf-8")
    for path in bundled_dir().iterdir():
        if path.suffix in {".gz", ".tsv"}:
            assert path.name in readme or path.name.startswith("famplex_"), path.name


def test_the_bundle_is_small() -> None:
    assert sum(path.stat().st_size for path in bundled_dir().iterdir()) < 4_000_000


@pytest.mark.parametrize("name", BUNDLED)
def test_every_bundled_release_follows_the_tables(name: str) -> None:
    release = bundled(name)
    assert dict(release.concepts.schema) == CONCEPTS
    assert dict(release.names.schema) == NAMES
    assert dict(release.edges.schema) == EDGES
    assert release.concepts["concept_id"].is_unique().all()
    assert set(release.concepts["entity_type"]) <= TYPES
    assert set(release.names["concept_id"]) <= set(release.concepts["concept_id"])
    assert set(release.edges["child"]) <= set(release.concepts["concept_id"])
    assert release.licence == RELEASES[name].licence
    assert "@" in release.version


def test_two_imports_are_equal() -> None:
    first, second = import_release("cl", bundled_dir()), import_release("cl", bundled_dir())
    assert first.version == second.version
    assert first.concepts.equals(second.concepts)
    assert first.names.equals(second.names)
    assert first.edges.equals(second.edges)


@pytest.mark.parametrize("name", ["chebi", "mesh", "uberon", "mondo", "ncbitaxon", "go"])
def test_kept_terms_keep_their_ancestors(name: str) -> None:
    release = bundled(name)
    known = set(release.concepts["concept_id"])
    prefixes = {concept.rpartition(":")[0] for concept in known}
    missing = {
        parent
        for parent in release.edges.filter(pl.col("relation") == "is_a")["parent"]
        if parent not in known and parent.rpartition(":")[0] in prefixes
    }
    # A later release can name a parent that the one cut here does not have yet.
    assert len(missing) <= 0.02 * len(known)


@pytest.mark.parametrize(
    ("name", "concept_id", "entity_type"),
    [
        ("uberon", "UBERON:0000120", "Anatomy"),
        ("uberon", "UBERON:0001359", "Anatomy"),
        ("uberon", "UBERON:0000955", "Anatomy"),
        ("mesh", "MESH:D001812", "Anatomy"),
        ("chebi", "CHEBI:27732", "SmallMolecule"),
        ("ncbitaxon", "NCBITaxon:9606", "Organism"),
        ("hgnc", "HGNC:7729", "Gene"),
        ("uniprot", "UniProt:P25454", "Protein"),
    ],
)
def test_what_the_example_tasks_filter_by_is_there(name: str, concept_id: str, entity_type: str) -> None:
    row = bundled(name).concepts.row(by_predicate=pl.col("concept_id") == concept_id, named=True)
    assert row["entity_type"] == entity_type
    assert not row["obsolete"]


def test_structures_of_the_bundle_can_be_read() -> None:
    from starling_assets.ontology.parents import BadStructure, standardise

    rows = bundled("chebi").concepts.filter(pl.col("smiles").is_not_null() & ~pl.col("smiles").str.contains(r"\*"))
    unread = differing = 0
    sample = rows.sort("concept_id").gather_every(25)
    for smiles, inchikey in sample.select("smiles", "inchikey").iter_rows():
        try:
            found = standardise(smiles)
        except BadStructure:
            unread += 1
            continue
        differing += inchikey is not None and found.inchikey[:14] != inchikey[:14]
    assert unread <= 0.02 * sample.height
    assert differing <= 0.03 * sample.height


def test_unknown_names_missing_files_and_missing_folders_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BadRelease, match="is not a vocabulary"):
        import_release("nonsense", tmp_path)
    with pytest.raises(BadRelease, match=r"no file in .* matches .*Download it from https"):
        import_release("chebi", tmp_path)
    with pytest.raises(BadRelease, match=r"neither|matches"):
        import_release("mondo", tmp_path)
    with pytest.raises(BadRelease, match="is not a folder"):
        releases_in(tmp_path / "absent")
    assert releases_in(tmp_path) == []


def test_without_a_checkout_the_bundle_is_reported_as_absent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("starling_assets.ontology.releases._BUNDLED", tmp_path / "gone")
    with pytest.raises(BadRelease, match=r"set tagging\.lexicon_dir"):
        bundled_dir()


def test_every_catalogue_entry_is_complete() -> None:
    for name, spec in RELEASES.items():
        assert spec.name == name
        assert spec.files
        assert spec.licence
        assert spec.attribution
        assert spec.homepage.startswith("http") or name == "starling"


def test_the_full_releases_are_recognised(shared_data: Path) -> None:
    found = releases_in(shared_data / "ontologies")
    assert {
        "chebi",
        "mesh",
        "hgnc",
        "ncbitaxon",
        "go",
        "mondo",
        "uberon",
        "cl",
        "cellosaurus",
        "drugbank",
        "so",
    } <= set(found)
    release = import_release("cl", shared_data / "ontologies")
    assert release.concepts.height > 3_000
