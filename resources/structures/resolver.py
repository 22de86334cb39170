"""The cascade of a molecule's name: OPSIN, then the structures of vocabularies; salts and forms are taken apart."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import polars as pl

from resources.structures.opsin import Opsin
from starling_assets.ontology.counterions import COUNTERIONS, HYDRATES
from starling_assets.ontology.folding import fold
from starling_assets.ontology.lexicon import KIND_RANK
from starling_assets.ontology.name_parts import NameParts, components, split_name
from starling_assets.ontology.parents import BadStructure, standardise
from starling_assets.ontology.structures import Structure

_LOG = logging.getLogger(__name__)


class CascadeResolver:
    """Implements ``StructureResolver``. Answers are remembered, so a name is asked for once per process."""

    def __init__(self, opsin: Opsin | None, lexicon: pl.DataFrame | None = None, concepts: pl.DataFrame | None = None):
        self._opsin = opsin
        self._known = _known_smiles(lexicon, concepts)
        self._memory: dict[str, Structure | None] = {}
        self.notice: str | None = None
        problem = opsin.available() if opsin is not None else None
        if problem:
            self.notice = problem
            self._opsin = None
            _LOG.warning(problem)

    def resolve(self, names: Sequence[str]) -> list[Structure | None]:
        """One structure or None per name, in order."""
        new = [name for name in dict.fromkeys(names) if name not in self._memory]
        opsin = dict(zip(new, self._from_opsin([split_name(name).substance for name in new]), strict=True))
        for name in new:
            self._memory[name] = self._one(name, opsin[name])
        return [self._memory[name] for name in names]

    def close(self) -> None:
        """End the OPSIN process, if one runs."""
        if self._opsin is not None:
            self._opsin.close()

    def _from_opsin(self, names: list[str]) -> list[str | None]:
        return [None] * len(names) if self._opsin is None else self._opsin.smiles(names)

    def _one(self, name: str, opsin: str | None) -> Structure | None:
        parts = split_name(name)
        found = [(opsin, "opsin"), (self._known.get(fold(parts.substance)), "vocabulary")]
        if parts.salts or parts.hydrate:
            found.append((self._composed(parts), "composed"))
        found.append((self._mixture(parts), "mixture"))
        for smiles, method in found:
            if smiles:
                try:
                    return standardise(smiles, method, parts.kept)
                except BadStructure as error:
                    _LOG.debug("%s: %s", name, error)
        return None

    def _composed(self, parts: NameParts) -> str | None:
        """``dobutamine lactobionate`` from its parts, where no source knows the salt as a whole."""
        base = self._known.get(fold(parts.base)) or self._from_opsin([parts.base])[0]
        if base is None:
            return None
        waters = HYDRATES.get(parts.hydrate or "", 0)
        # Half a water per molecule: two molecules and one water.
        copies = 1 if waters == int(waters) else 2
        pieces = [base] * copies + [COUNTERIONS[salt] for salt in parts.salts] * copies + ["O"] * int(waters * copies)
        return ".".join(pieces)

    def _mixture(self, parts: NameParts) -> str | None:
        names = components(parts.substance)
        if len(names) < 2:
            return None
        opsin = self._from_opsin(names)
        pieces = [self._known.get(fold(name)) or smiles for name, smiles in zip(names, opsin, strict=True)]
        return ".".join(piece for piece in pieces if piece) if all(pieces) else None


def _known_smiles(lexicon: pl.DataFrame | None, concepts: pl.DataFrame | None) -> dict[str, str]:
    """SMILES per folded name: of several concepts the one whose own name it is, then the smaller id."""
    if lexicon is None or concepts is None:
        return {}
    stated = concepts.filter(pl.col("smiles").is_not_null() & ~pl.col("smiles").str.contains("*", literal=True))
    # DrugBank's open vocabulary states keys without structures: another vocabulary may draw the same molecule.
    drawn = stated.filter(pl.col("inchikey").is_not_null()).sort("concept_id").unique("inchikey", keep="first")
    lent = concepts.filter(pl.col("smiles").is_null() & pl.col("inchikey").is_not_null()).drop("smiles")
    lent = lent.join(drawn.select("inchikey", "smiles"), on="inchikey")
    structures = pl.concat([table.select("concept_id", "smiles") for table in (stated, lent)])
    rows = (
        lexicon.filter(pl.col("kind") != "inflected")
        .join(structures, on="concept_id")
        .with_columns(pl.col("kind").replace_strict(KIND_RANK, default=9, return_dtype=pl.Int8).alias("rank"))
        .sort("folded", "rank", "concept_id")
        .unique("folded", keep="first", maintain_order=True)
    )
    return dict(rows.select("folded", "smiles").iter_rows())
