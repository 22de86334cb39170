"""F42: the structure as named and the parent are both kept and never confused, from the text to the link."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.structures.resolver import CascadeResolver
from starling_assets.ontology.counterions import COUNTERIONS
from starling_assets.ontology.linking import link_entities
from starling_assets.ontology.parents import standardise
from tests.ontology.vocabulary import concepts, lexicon
from tests.tagging.papers import tag

BASES = ["CN1CCC[C@H]1c1cccnc1", "Cn1cnc2c1c(=O)n(C)c(=O)n2C", "CC(CCc1ccc(O)cc1)NCCc1ccc(O)c(O)c1"]
STEREO = ["C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O", "CC(N)C(=O)O"]


def links(*texts: str) -> dict[str, dict[str, object]]:
    resolver = CascadeResolver(None, lexicon(), concepts())
    frame = link_entities(tag(*texts).tags, lexicon(), concepts(), resolver)
    return {row["canonical_name"]: row for row in frame.iter_rows(named=True)}


def test_salt_and_base_in_one_paper_are_two_entities_with_one_parent() -> None:
    found = links("Caffeine and caffeine citrate were compared with caffeine dihydrate.")
    assert set(found) == {"caffeine", "caffeine citrate", "caffeine dihydrate"}
    assert len({row["inchikey"] for row in found.values()}) == 3
    assert {row["parent_inchikey"] for row in found.values()} == {"RYYVLZVUVIJVGH-UHFFFAOYSA-N"}
    assert {name: row["method"] for name, row in found.items()} == {
        "caffeine": "lexicon",
        "caffeine citrate": "parent",
        "caffeine dihydrate": "parent",
    }


@settings(deadline=None)  # the first call loads RDKit
@given(
    st.sampled_from(BASES),
    st.lists(st.sampled_from(sorted(set(COUNTERIONS.values()))), min_size=1, max_size=2),
    st.integers(0, 3),
)
def test_any_salt_and_hydrate_has_its_base_as_parent(base: str, salts: Sequence[str], waters: int) -> None:
    found = standardise(".".join([base, *salts, *["O"] * waters]))
    assert found.parent_inchikey == standardise(base).inchikey
    assert found.inchikey != found.parent_inchikey


@pytest.mark.parametrize("base", BASES)
def test_the_order_of_fragments_does_not_matter(base: str) -> None:
    fragments = [base, "Cl", "O", "OC(=O)/C=C\\C(=O)O"]
    assert len({standardise(".".join(order)) for order in itertools.permutations(fragments)}) == 1


def test_stereo_forms_stay_apart() -> None:
    found = [standardise(smiles) for smiles in STEREO]
    assert len({item.inchikey for item in found}) == len({item.parent_inchikey for item in found}) == 3


def test_charged_forms_are_kept_as_named_and_share_the_neutral_parent() -> None:
    acid, anion, zwitterion = (
        standardise(smiles) for smiles in ("CC(N)C(=O)O", "CC(N)C(=O)[O-]", "CC([NH3+])C(=O)[O-]")
    )
    assert len({acid.smiles, anion.smiles, zwitterion.smiles}) == 3
    assert {item.parent_smiles for item in (acid, anion, zwitterion)} == {acid.smiles}


def test_a_dosage_form_in_text_changes_nothing() -> None:
    assert set(links("caffeine tablets of 200 mg")) == {"caffeine"}
    assert tag("water 991 MG/ML").tags["concept_ids"].to_list() == [["CHEBI:15377"]]


def test_a_hydrate_is_not_linked_to_the_base_when_a_vocabulary_knows_it() -> None:
    found = links("docetaxel trihydrate, docetaxel")
    assert {name: row["concept_id"] for name, row in found.items()} == {
        "docetaxel trihydrate": "CHEBI:59809",
        "docetaxel anhydrous": "CHEBI:4672",
    }
    assert pl.Series([row["parent_inchikey"] for row in found.values()]).n_unique() == 1
