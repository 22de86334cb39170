"""The embedder as a Dagster resource."""

from __future__ import annotations

import dagster as dg

from starling_assets.retrieval.protocols import Embedder


class EmbedderResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """The sentence-embedding model. ``threads`` 0 means one per core this process may use."""

    threads: int = 0

    def embedder(self) -> Embedder:
        """The embedder, loaded once per process and number of threads."""
        from .minilm import shared_embedder

        return shared_embedder(self.threads)
