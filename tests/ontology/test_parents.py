"""Structure as named and parent: which fragment counts, whatever the order."""

from __future__ import annotations

import itertools

import pytest

from starling_assets.ontology.counterions import COUNTERIONS, SOLVENTS
from starling_assets.ontology.parents import BadStructure, standardise

DOBUTAMINE = "CC(CCc1ccc(O)cc1)NCCc1ccc(O)c(O)c1"
CISPLATIN = "LXZZYRPGZAFOLE-UHFFFAOYSA-L"


@pytest.mark.parametrize(
    ("smiles", "parent", "kept"),
    [
        ("[Na+].[O-]C(=O)c1ccccc1", "WPYMKLBDIGXBTP-UHFFFAOYSA-N", ("salt: sodium",)),
        (f"{DOBUTAMINE}.{COUNTERIONS['lactobionate']}", "JRWZLRBJNMZMFE-UHFFFAOYSA-N", ("salt: lactobionate",)),
        ("CN1CCC[C@H]1c1cccnc1.Cl", "SNICXCGAKADSCV-JTQLQIEISA-N", ("salt: hydrochloride",)),
        ("C[N+](C)(C)CCO.[Cl-]", "OEYIOHPDSNJKLS-UHFFFAOYSA-N", ("salt: chloride",)),
        ("CCO.c1ccccc1", "UHOVQNZJYSORNB-UHFFFAOYSA-N", ("1 ethanol",)),
        (
            "CC(=O)Oc1ccccc1C(=O)[O-].CC(=O)Oc1ccccc1C(=O)[O-].[Ca+2].O.O",
            "BSYNRYMUTXBXSQ-UHFFFAOYSA-N",
            ("salt: calcium", "2 H2O"),
        ),
        ("CC(=O)[O-]", "QTBSBXVTEAMEQO-UHFFFAOYSA-N", ()),
        ("O", "XLYOFNOQVPJJNP-UHFFFAOYSA-N", ()),
        ("O.CCO", "", ()),
    ],
)
def test_parent_and_what_it_leaves_out(smiles: str, parent: str, kept: tuple[str, ...]) -> None:
    found = standardise(smiles)
    assert found.kept == kept
    if parent:
        assert found.parent_inchikey == parent
    else:
        assert found.parent_inchikey == found.inchikey


@pytest.mark.parametrize(
    "smiles", ["[Na+].[Cl-]", "[K+].[K+].[O-]S(=O)(=O)[O-]", "[NH3][Pt]([NH3])(Cl)Cl", "N.N.Cl[Pt]Cl"]
)
def test_salts_of_nothing_but_ions_and_complexes_are_their_own_parent(smiles: str) -> None:
    found = standardise(smiles)
    assert found.parent_inchikey == found.inchikey


def test_two_components_have_no_parent() -> None:
    found = standardise("COc1cc(Cc2cnc(N)nc2N)cc(OC)c1OC.Cc1cc(NS(=O)(=O)c2ccc(N)cc2)no1")
    assert found.parent_smiles is None
    assert found.parent_inchikey is None


def test_the_order_of_fragments_does_not_matter() -> None:
    fragments = [DOBUTAMINE, COUNTERIONS["lactobionate"], "O", "[Na+]"]
    found = {standardise(".".join(order)) for order in itertools.permutations(fragments)}
    assert len(found) == 1


def test_a_complex_drawn_three_ways_has_one_key() -> None:
    drawings = ["[H][N]([H])([H])[Pt](Cl)(Cl)[N]([H])([H])[H]", "[NH3]->[Pt](Cl)(Cl)<-[NH3]", "N.N.Cl[Pt]Cl"]
    assert {standardise(smiles).inchikey for smiles in drawings} == {CISPLATIN}


@pytest.mark.parametrize("smiles", sorted(COUNTERIONS.values()) + sorted(SOLVENTS.values()))
def test_every_listed_structure_can_be_read(smiles: str) -> None:
    assert standardise(smiles).inchikey


@pytest.mark.parametrize("smiles", ["", "not a structure", "C1CC", "c1cc", "N(C)(C)(C)(C)C"])
def test_what_is_no_structure_is_refused(smiles: str) -> None:
    with pytest.raises(BadStructure):
        standardise(smiles)


def test_a_standardised_structure_stays_as_it_is() -> None:
    first = standardise("OC(=O)c1ccccc1.[Na]")
    assert standardise(first.smiles).smiles == first.smiles
