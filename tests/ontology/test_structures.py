"""OPSIN's process, and the cascade over it and the vocabularies."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from resources.structures.opsin import Opsin, OpsinUnavailable, opsin_jar
from resources.structures.resolver import CascadeResolver
from starling_assets.ontology.lexicon import compile_lexicon
from starling_assets.ontology.rows import Rows

from .vocabulary import concepts, lexicon

needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="Java is not installed")


@pytest.fixture(scope="module")
def opsin() -> Iterator[Opsin]:
    process = Opsin()
    yield process
    process.close()


@needs_java
def test_names_are_answered_in_order_and_unknown_ones_by_none(opsin: Opsin) -> None:
    names = ["benzene", "no such thing", "", "ethanol", "2,4,6-trinitrotoluene", "x" * 5_000]
    found = opsin.smiles(names)
    assert [value is None for value in found] == [False, True, True, False, False, True]
    assert found[3] == "C(C)O"


@needs_java
def test_one_process_serves_all_calls_and_a_killed_one_is_replaced(opsin: Opsin) -> None:
    opsin.smiles(["ethane"])
    first = opsin._process
    assert first is not None
    opsin.smiles(["propane"])
    assert opsin._process is first
    first.kill()
    first.wait()
    assert opsin.smiles(["butane"]) == ["CCCC"]
    assert opsin._process is not first


@needs_java
def test_closing_ends_the_process() -> None:
    process = Opsin()
    process.smiles(["ethane"])
    inner = process._process
    process.close()
    assert inner is not None
    assert inner.poll() is not None
    process.close()


def test_without_java_there_is_one_clear_line_and_no_structure() -> None:
    absent = Opsin(java="no-such-java")
    assert "Java is not installed" in str(absent.available())
    with pytest.raises(OpsinUnavailable, match="Install a Java runtime"):
        absent.smiles(["ethane"])
    resolver = CascadeResolver(absent)
    assert resolver.resolve(["ethane"]) == [None]
    assert resolver.notice == absent.available()


def test_a_process_that_never_answers_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "silent"
    script.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    script.chmod(0o755)
    monkeypatch.setattr("resources.structures.opsin._FIRST_ANSWER_SECONDS", 0.3)
    silent = Opsin(java=str(script))
    assert silent.smiles(["ethane"]) == [None]
    silent.close()


def test_the_jar_comes_with_the_package() -> None:
    assert opsin_jar().suffix == ".jar"


def test_the_vocabulary_answers_without_opsin_and_names_are_remembered() -> None:
    resolver = CascadeResolver(None, lexicon(), concepts())
    caffeine, unknown, again = resolver.resolve(["Caffeine", "no such thing", "Caffeine"])
    assert caffeine is not None
    assert (caffeine.inchikey, caffeine.method) == ("RYYVLZVUVIJVGH-UHFFFAOYSA-N", "vocabulary")
    assert unknown is None
    assert again is caffeine


def test_salts_hydrates_and_mixtures_are_composed() -> None:
    resolver = CascadeResolver(None, lexicon(), concepts())
    salt, hydrate, half, mixture = resolver.resolve(
        ["caffeine hydrochloride", "caffeine dihydrate", "caffeine hemihydrate", "caffeine/aspirin"]
    )
    assert salt is not None
    assert salt.method == "composed"
    assert salt.kept == ("salt: hydrochloride",)
    assert hydrate is not None
    assert hydrate.kept == ("2 H2O",)
    assert half is not None
    assert half.smiles.count(".") == 2  # two molecules and one water
    assert {salt.parent_inchikey, hydrate.parent_inchikey, half.parent_inchikey} == {"RYYVLZVUVIJVGH-UHFFFAOYSA-N"}
    assert mixture is not None
    assert mixture.parent_inchikey is None


def test_a_key_without_a_structure_borrows_the_drawing_of_the_same_molecule() -> None:
    rows = Rows("drugbank")
    rows.concept("DrugBank:1", "SmallMolecule", "wakefulin", inchikey="RYYVLZVUVIJVGH-UHFFFAOYSA-N")
    release = rows.release("1", "CC0", "invented")
    names = pl.concat([lexicon(), compile_lexicon([release])])
    (found,) = CascadeResolver(None, names, pl.concat([concepts(), release.concepts])).resolve(["wakefulin"])
    assert found is not None
    assert found.inchikey == "RYYVLZVUVIJVGH-UHFFFAOYSA-N"


def test_the_resource_makes_resolvers() -> None:
    from resources.structures.resource import StructuresResource

    assert StructuresResource(opsin=False).resolver(lexicon(), concepts()).resolve(["water"])[0] is not None
    assert StructuresResource(java="no-such-java").resolver().notice is not None
