"""FC-04: salts, hydrates, mixtures, dosage forms, with the bundled vocabularies and OPSIN."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import polars as pl
import pytest

from resources.structures.opsin import Opsin
from resources.structures.resolver import CascadeResolver
from starling_assets.ontology.lexicon import compile_lexicon
from starling_assets.ontology.releases import bundled_dir, import_release
from starling_assets.ontology.structures import Structure

pytestmark = pytest.mark.skipif(shutil.which("java") is None, reason="Java is not installed, so OPSIN cannot run")

BENZOIC_ACID = "WPYMKLBDIGXBTP-UHFFFAOYSA-N"
DOBUTAMINE = "JRWZLRBJNMZMFE-UHFFFAOYSA-N"
DOCETAXEL = "ZDZOTLJHXYCWBA-VCVYQWHSSA-N"
ASPIRIN = "BSYNRYMUTXBXSQ-UHFFFAOYSA-N"
CAFFEINE = "RYYVLZVUVIJVGH-UHFFFAOYSA-N"
SODIUM_CHLORIDE = "FAPWRFPIFSIZLT-UHFFFAOYSA-M"
CISPLATIN = "LXZZYRPGZAFOLE-UHFFFAOYSA-L"


@pytest.fixture(scope="module")
def vocabulary() -> tuple[pl.DataFrame, pl.DataFrame]:
    releases = [import_release(name, bundled_dir()) for name in ("chebi", "drugbank")]
    return compile_lexicon(releases), pl.concat([release.concepts for release in releases])


@pytest.fixture(scope="module")
def resolver(vocabulary: tuple[pl.DataFrame, pl.DataFrame]) -> Iterator[CascadeResolver]:
    cascade = CascadeResolver(Opsin(), *vocabulary)
    yield cascade
    cascade.close()


def named(resolver: CascadeResolver, name: str) -> Structure:
    (found,) = resolver.resolve([name])
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "inchikey", "parent", "kept"),
    [
        ("sodium benzoate", "WXMKPNITSTVMEF-UHFFFAOYSA-M", BENZOIC_ACID, ("salt: sodium",)),
        ("dobutamine lactobionate", None, DOBUTAMINE, ("salt: lactobionate",)),
        ("docetaxel", DOCETAXEL, DOCETAXEL, ()),
        ("docetaxel trihydrate", "XCDIRYDKECHIPE-QHEQPUDQSA-N", DOCETAXEL, ("3 H2O",)),
        ("sodium chloride", SODIUM_CHLORIDE, SODIUM_CHLORIDE, ()),
        ("cisplatin", CISPLATIN, CISPLATIN, ()),
        ("aspirin tablet", ASPIRIN, ASPIRIN, ("form: tablet",)),
        ("caffeine 200 mg tablet", CAFFEINE, CAFFEINE, ("form: tablet", "strength: 200 mg")),
    ],
)
def test_structure_as_named_and_parent(
    resolver: CascadeResolver, name: str, inchikey: str | None, parent: str, kept: tuple[str, ...]
) -> None:
    found = named(resolver, name)
    assert found.parent_inchikey == parent
    assert found.kept == kept
    if inchikey is not None:
        assert found.inchikey == inchikey
    else:
        assert found.smiles.count(".") == 1
        assert found.inchikey != found.parent_inchikey


def test_a_mixture_has_two_components_and_no_parent(resolver: CascadeResolver) -> None:
    found = named(resolver, "trimethoprim/sulfamethoxazole")
    assert found.parent_inchikey is None
    parts = [named(resolver, name).inchikey for name in ("trimethoprim", "sulfamethoxazole")]
    assert parts == ["IEDVJHCEMCRBQM-UHFFFAOYSA-N", "JLKIGFTWXXRPMT-UHFFFAOYSA-N"]
    assert {named(resolver, "sulfamethoxazole/trimethoprim").smiles} == {found.smiles}


def test_concepts_of_base_and_hydrate_are_two(vocabulary: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    lexicon, _ = vocabulary
    found = {
        name: set(
            lexicon.filter((pl.col("folded") == name) & pl.col("concept_id").str.starts_with("CHEBI"))["concept_id"]
        )
        for name in ("docetaxel", "docetaxel trihydrate")
    }
    assert found == {"docetaxel": {"CHEBI:4672"}, "docetaxel trihydrate": {"CHEBI:59809"}}


def test_a_product_with_a_strength_is_never_a_synonym(vocabulary: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    lexicon, _ = vocabulary
    assert lexicon.filter(pl.col("name").str.contains(r"(?i)\d\s?mg\b")).is_empty()
