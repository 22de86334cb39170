"""Structure as named and its parent: counter-ions and solvent taken away, charge neutralised (FC-04, F42).

Not "the largest fragment" (lactobionic acid is larger than dobutamine) and not "everything on the salt list" (both
parts of sodium benzoate are on such lists, and both of sodium chloride). The order of fragments does not matter.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Any

from starling_assets.ontology.counterions import COUNTERIONS, SOLVENTS
from starling_assets.ontology.structures import Structure

_METALS = {3, 4, 11, 12, 13, 19, 20, 37, 38, 55, 56, 30, 47}  # metals that make plain salts

_DONORS = {7: 3, 8: 2, 15: 3, 16: 2}  # atoms that give a lone pair to a metal, with their usual valence


class BadStructure(ValueError):
    """A SMILES that RDKit cannot read."""


def standardise(smiles: str, method: str = "smiles", notes: tuple[str, ...] = ()) -> Structure:
    """Canonical SMILES, InChIKey, parent and what the parent leaves out. Raises :class:`BadStructure`."""
    from rdkit import Chem

    molecule = _read(smiles)
    canonical = Chem.MolToSmiles(molecule)
    inchikey = _inchikey(molecule)
    if not inchikey:
        raise BadStructure(f"no InChIKey can be made of {smiles!r}")
    parent, kept = _parent(molecule)
    return Structure(
        smiles=canonical,
        inchikey=inchikey,
        parent_smiles=Chem.MolToSmiles(parent) if parent is not None else None,
        parent_inchikey=_inchikey(parent) if parent is not None else None,
        kept=(*kept, *notes),
        method=method,
    )


def _read(smiles: str) -> Any:
    from rdkit import Chem, RDLogger

    RDLogger.DisableLog("rdApp.*")  # type: ignore[attr-defined]  # its messages go past Python's logging to stderr
    molecule = Chem.MolFromSmiles(smiles) or _with_dative_bonds(smiles)
    if molecule is None or molecule.GetNumAtoms() == 0:
        raise BadStructure(f"{smiles!r} is not a structure RDKit can read")
    return molecule


def _with_dative_bonds(smiles: str) -> Any | None:
    """Vocabularies draw ligands of metals with plain bonds, which gives nitrogen a valence too many (cisplatin)."""
    from rdkit import Chem

    raw: Any | None = Chem.MolFromSmiles(smiles, sanitize=False)
    if raw is None:
        return None
    editable = Chem.RWMol(raw)
    editable.UpdatePropertyCache(strict=False)
    metals = [atom.GetIdx() for atom in editable.GetAtoms() if _is_metal(atom.GetAtomicNum())]
    for metal in metals:
        for neighbour in list(editable.GetAtomWithIdx(metal).GetNeighbors()):
            valence = sum(int(bond.GetBondTypeAsDouble()) for bond in neighbour.GetBonds()) + neighbour.GetTotalNumHs()
            if (
                neighbour.GetAtomicNum() in _DONORS
                and valence > _DONORS[neighbour.GetAtomicNum()] + neighbour.GetFormalCharge()
            ):
                editable.RemoveBond(neighbour.GetIdx(), metal)
                editable.AddBond(neighbour.GetIdx(), metal, Chem.BondType.DATIVE)
    molecule = editable.GetMol()
    try:
        Chem.SanitizeMol(molecule)
    except ValueError:
        return None
    return Chem.RemoveHs(molecule)


def _inchikey(molecule: Any) -> str:
    from rdkit import Chem

    to_key: Any = Chem.MolToInchiKey
    dative = [
        (bond.GetBeginAtomIdx(), bond.GetEndAtomIdx())
        for bond in molecule.GetBonds()
        if bond.GetBondType() == Chem.BondType.DATIVE
    ]
    if dative:
        # InChI knows no dative bonds; it disconnects metals itself, so the key is that of the drawn complex.
        molecule = Chem.RWMol(molecule)
        for begin, end in dative:
            molecule.RemoveBond(begin, end)
    return str(to_key(molecule))


def _parent(molecule: Any) -> tuple[Any | None, tuple[str, ...]]:
    from rdkit import Chem

    fragments = list(Chem.GetMolFrags(molecule, asMols=True))
    if len(fragments) == 1:
        return _neutral(molecule), ()
    if any(_is_complex(fragment) for fragment in fragments):
        return molecule, ()  # a coordination compound keeps its ligands
    named = [(fragment, *_role(fragment)) for fragment in fragments]
    solvents = Counter(name for _, role, name in named if role == "solvent")
    solid = [item for item in named if item[1] != "solvent"]
    if not solid:
        return molecule, ()
    actives = [fragment for fragment, role, _ in solid if role == "active"]
    removed = Counter(name for _, role, name in solid if role != "active")
    if not actives:
        # Only salt formers: the organic one is what the name is about; two inorganic ions are the substance itself.
        organic = [(fragment, name) for fragment, _, name in solid if _is_organic(fragment)]
        if len({name for _, name in organic}) != 1:
            return _joined([fragment for fragment, _, _ in solid]), _notes(Counter(), solvents)
        actives = [fragment for fragment, _ in organic]
        removed = Counter(name for fragment, _, name in solid if not _is_organic(fragment))
    parents = {_inchikey(_neutral(fragment)): fragment for fragment in actives}
    if len(parents) > 1:
        return None, _notes(removed, solvents)
    return _neutral(next(iter(parents.values()))), _notes(removed, solvents)


def _notes(removed: Counter[str], solvents: Counter[str]) -> tuple[str, ...]:
    return (
        *(f"salt: {name}" for name in sorted(removed)),
        *(f"{count} {name}" for name, count in sorted(solvents.items())),
    )


def _role(fragment: Any) -> tuple[str, str]:
    key = _inchikey(_neutral(fragment))[:14]
    if key in _keys()["solvent"]:
        return "solvent", _keys()["solvent"][key]
    if key in _keys()["salt"]:
        name = _keys()["salt"][key]
        charged = any(atom.GetFormalCharge() for atom in fragment.GetAtoms())
        return "salt", name.removeprefix("hydro") if charged and name.startswith("hydro") else name
    if fragment.GetNumAtoms() == 1 and fragment.GetAtomWithIdx(0).GetAtomicNum() in _METALS:
        return "salt", str(fragment.GetAtomWithIdx(0).GetSymbol())
    return "active", ""


@lru_cache(maxsize=1)
def _keys() -> dict[str, dict[str, str]]:
    salts: dict[str, str] = {}
    for name, smiles in COUNTERIONS.items():
        if "." not in smiles:
            salts.setdefault(_inchikey(_neutral(_read(smiles)))[:14], name)
    solvents = {_inchikey(_read(smiles))[:14]: name for name, smiles in SOLVENTS.items()}
    return {"salt": salts, "solvent": solvents}


def _is_complex(fragment: Any) -> bool:
    """A transition metal, bound or bare: its neighbours are ligands, not counter-ions."""
    return any(
        21 <= atom.GetAtomicNum() <= 80 and _is_metal(atom.GetAtomicNum()) and atom.GetAtomicNum() not in _METALS
        for atom in fragment.GetAtoms()
    )


def _is_metal(number: int) -> bool:
    return 21 <= number <= 31 or 39 <= number <= 50 or 57 <= number <= 80


def _is_organic(fragment: Any) -> bool:
    return any(atom.GetAtomicNum() == 6 for atom in fragment.GetAtoms()) and fragment.GetNumHeavyAtoms() > 1


def _neutral(molecule: Any) -> Any:
    from rdkit.Chem.MolStandardize import rdMolStandardize

    return rdMolStandardize.Uncharger().uncharge(molecule)


def _joined(fragments: list[Any]) -> Any:
    from rdkit import Chem

    ordered = sorted(fragments, key=Chem.MolToSmiles)
    joined = ordered[0]
    for fragment in ordered[1:]:
        joined = Chem.CombineMols(joined, fragment)
    return joined
