"""What a name resolves to as a molecule, and the protocol of whatever resolves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Structure:
    """A molecule as named, and its parent for grouping.

    ``smiles`` is RDKit's canonical SMILES of the structure as named, with salt, water and charge. ``parent_smiles`` is
    the same without counter-ions and solvent, neutral where it can be; None for a mixture of two active components.
    ``kept`` says what the parent leaves out: ``salt: sodium``, ``3 H2O``, ``form: tablet``, ``strength: 200 mg``.
    """

    smiles: str
    inchikey: str
    parent_smiles: str | None
    parent_inchikey: str | None
    kept: tuple[str, ...] = ()
    method: str = "opsin"


class StructureResolver(Protocol):
    """Chemical names to structures."""

    def resolve(self, names: Sequence[str]) -> list[Structure | None]:
        """One answer per name, in order; None where a name has no structure."""
        ...
