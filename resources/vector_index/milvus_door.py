"""The one door to Milvus: connects late, keeps errors in words."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from starling_assets.artifacts.files import StoreError

CONNECT_SECONDS = 10.0
ATTEMPTS = 6
FIRST_WAIT = 0.5  # seconds; doubled after every attempt


class VectorStoreDown(StoreError):
    """Milvus cannot be reached."""


class VectorStoreRefused(StoreError):
    """Milvus refused a call; trying again would not help."""


class MilvusDoor:
    """Runs calls of one client; ``uri`` is ``http://host:19530`` or the path of a Milvus Lite file.

    A server that cannot be reached is tried again with growing waits; its client gives up at once while it waits
    itself. Nothing else is retried.
    """

    def __init__(self, uri: str, token: str = "", sleep: Callable[[float], None] = time.sleep) -> None:
        if not uri:
            raise StoreError("cluster.milvus_uri is empty: it must look like http://host:19530")
        self._uri = uri
        self._token = token
        self._sleep = sleep
        self._client: Any = None
        self._loaded: set[str] = set()

    def call[T](self, purpose: str, action: Callable[[Any], T], reads: str | None = None) -> T:
        """``action(client)``; raises VectorStoreDown or VectorStoreRefused naming ``purpose`` (F16).

        ``reads``: the collection that is read; it is loaded first, once per connection and again after a server
        restarted, which holds its collections released. An action may be carried out twice when the connection breaks.
        """
        import grpc  # type: ignore[import-untyped]
        from pymilvus.exceptions import MilvusException

        wait = FIRST_WAIT
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return action(self._connected(reads))
            except (MilvusException, grpc.RpcError) as error:
                reason = _reason(error)
                if reads in self._loaded and _is_released(error):
                    self._loaded.discard(reads)
                    continue
                if not _is_down(error):
                    raise VectorStoreRefused(f"Milvus refused to {purpose}: {reason}") from error
                if attempt == ATTEMPTS:
                    raise VectorStoreDown(
                        f"Milvus at {self._uri} could not {purpose} in {ATTEMPTS} attempts: {reason}. Check that the "
                        "server of cluster.milvus_uri is up, then run the same step again"
                    ) from error
                self.close()
                self._sleep(wait)
                wait *= 2
        raise VectorStoreDown(f"Milvus at {self._uri} keeps its collections released: cannot {purpose}")

    def close(self) -> None:
        """Give the connection back; the next call makes another."""
        client, self._client = self._client, None
        self._loaded.clear()
        if client is not None:
            client.close()

    def _connected(self, reads: str | None) -> Any:
        if self._client is None:
            from pymilvus import MilvusClient

            # The client logs each error with a stack trace besides raising it.
            logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
            self._client = MilvusClient(self._uri, token=self._token, timeout=CONNECT_SECONDS)
        if reads is not None and reads not in self._loaded:
            self._client.load_collection(reads)
            self._loaded.add(reads)
        return self._client


def _is_down(error: Exception) -> bool:
    import grpc
    from pymilvus.exceptions import ErrorCode, MilvusException

    if isinstance(error, grpc.RpcError):
        code = getattr(error, "code", lambda: None)()
        return code in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}
    text = str(error).lower()
    return isinstance(error, MilvusException) and (
        error.code == ErrorCode.UNEXPECTED_ERROR or "connect" in text or "unavailable" in text
    )


def _is_released(error: Exception) -> bool:
    # A server that restarted between two calls, unnoticed: the collection only has to be loaded again.
    text = str(error).lower()
    return "released" in text or "not loaded" in text


def _reason(error: Exception) -> str:
    details = getattr(error, "details", None)
    text = str(getattr(error, "message", "") or (details() if callable(details) else "") or error)
    return text.strip().splitlines()[0][:300] if text.strip() else type(error).__name__
