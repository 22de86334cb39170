"""The one door to Milvus: connects late, keeps errors in words."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from starling_assets.artifacts.files import StoreError

CONNECT_SECONDS = 10.0
CALL_SECONDS = 120.0


class VectorStoreDown(StoreError):
    """Milvus cannot be reached."""


class VectorStoreRefused(StoreError):
    """Milvus refused a call; trying again would not help."""


class MilvusDoor:
    """Runs calls of one client; ``uri`` is ``http://host:19530`` or the path of a Milvus Lite file."""

    def __init__(self, uri: str, token: str = "") -> None:
        if not uri:
            raise StoreError("cluster.milvus_uri is empty: it must look like http://host:19530")
        self._uri = uri
        self._token = token
        self._client: Any = None

    def call[T](self, purpose: str, action: Callable[[Any], T]) -> T:
        """``action(client)``; raises VectorStoreDown or VectorStoreRefused naming ``purpose`` (F16)."""
        import grpc  # type: ignore[import-untyped]
        from pymilvus.exceptions import MilvusException

        try:
            return action(self._connected())
        except (MilvusException, grpc.RpcError) as error:
            reason = _reason(error)
            if _is_down(error):
                self._client = None
                raise VectorStoreDown(
                    f"Milvus at {self._uri} could not {purpose}: {reason}. Check that the server of cluster.milvus_uri "
                    "is up, then run the same step again"
                ) from error
            raise VectorStoreRefused(f"Milvus refused to {purpose}: {reason}") from error

    def close(self) -> None:
        """Give the connection back."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _connected(self) -> Any:
        if self._client is None:
            from pymilvus import MilvusClient

            # The client logs each error with a stack trace besides raising it.
            logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
            self._client = MilvusClient(self._uri, token=self._token, timeout=CONNECT_SECONDS)
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


def _reason(error: Exception) -> str:
    details = getattr(error, "details", None)
    text = str(getattr(error, "message", "") or (details() if callable(details) else "") or error)
    return text.strip().splitlines()[0][:300] if text.strip() else type(error).__name__
