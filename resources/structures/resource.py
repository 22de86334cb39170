"""The Dagster face of the structure resolver."""

from __future__ import annotations

import dagster as dg
import polars as pl

from resources.structures.opsin import Opsin
from resources.structures.resolver import CascadeResolver


class StructuresResource(dg.ConfigurableResource[CascadeResolver]):
    """Makes resolvers; OPSIN is used when ``opsin`` is true and Java is there."""

    opsin: bool = True
    java: str = "java"

    def resolver(self, lexicon: pl.DataFrame | None = None, concepts: pl.DataFrame | None = None) -> CascadeResolver:
        """A resolver over those vocabularies."""
        return CascadeResolver(Opsin(self.java) if self.opsin else None, lexicon, concepts)
