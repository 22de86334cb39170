"""The one door to ClickHouse: every statement has a purpose, one retry layer, errors in words.

Retried: the connection (a server that restarts), too many simultaneous queries, and the memory limit of the whole
server. Not retried: the limit of one query, which would be hit again, and everything the server refuses (F15).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import polars as pl

from starling_assets.artifacts.files import StoreError

_log = logging.getLogger(__name__)

ATTEMPTS = 6
FIRST_WAIT = 0.5  # seconds; doubled after every attempt
_TOO_MANY_QUERIES = {202, 203}
_NETWORK = {3, 209, 210, 279}  # unexpected end of file, socket timeout, network error, all connections failed
_MEMORY_LIMIT = 241
_OVERLOADED = {745}  # server overloaded


class IndexUnavailable(StoreError):
    """The store could not be reached or was busy for longer than the retries last."""


class QueryRefused(StoreError):
    """The store refused a statement; trying again would not help."""


class ClickHouseDoor:
    """Runs statements on a clickhouse-connect client, made when first needed and anew after a lost connection."""

    def __init__(self, connect: Callable[[], Any], sleep: Callable[[float], None] = time.sleep) -> None:
        """``connect``: makes a client; ``sleep``: waits between attempts (seconds)."""
        self._connect = connect
        self._sleep = sleep
        self._client: Any = None
        self.retries = 0

    def command(self, purpose: str, sql: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """Run a statement; returns its single value, if it has one."""
        return self._attempt(
            purpose, lambda client: client.command(sql, parameters=dict(parameters or {}), settings=_tagged(purpose))
        )

    def rows(self, purpose: str, sql: str, parameters: Mapping[str, Any] | None = None) -> Sequence[Sequence[Any]]:
        """Run a query; returns its rows."""
        result = self._attempt(
            purpose, lambda client: client.query(sql, parameters=dict(parameters or {}), settings=_tagged(purpose))
        )
        return list(result.result_rows)

    def arrow(self, purpose: str, sql: str, parameters: Mapping[str, Any] | None = None) -> pl.DataFrame:
        """Run a query; returns its rows as a frame, without a Python object per value."""
        table = self._attempt(
            purpose,
            lambda client: client.query_arrow(sql, parameters=dict(parameters or {}), settings=_tagged(purpose)),
        )
        frame = pl.from_arrow(table)
        if not isinstance(frame, pl.DataFrame):
            raise TypeError(f"a table was expected for {purpose}, not {type(frame).__name__}")
        return frame

    def insert(self, purpose: str, table: str, frame: pl.DataFrame) -> None:
        """Append rows to a table of ours. May be sent twice when a connection breaks: the tables must bear it."""
        data = frame.to_arrow()
        self._attempt(purpose, lambda client: client.insert_arrow(table, data, settings=_tagged(purpose)))

    def close(self) -> None:
        """Give the connection back."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _attempt[T](self, purpose: str, action: Callable[[Any], T]) -> T:
        from clickhouse_connect.driver.exceptions import ClickHouseError

        wait = FIRST_WAIT
        for attempt in range(1, ATTEMPTS + 1):
            try:
                if self._client is None:
                    self._client = self._connect()
                return action(self._client)
            except ClickHouseError as error:
                reason = _reason(error)
                if not is_transient(error):
                    raise QueryRefused(f"ClickHouse refused to {purpose}: {reason}") from error
                if attempt == ATTEMPTS:
                    raise IndexUnavailable(
                        f"ClickHouse could not {purpose} in {ATTEMPTS} attempts: {reason}. Check that the server of "
                        "cluster.clickhouse_url is up, then run the same step again"
                    ) from error
                _log.warning(
                    "%s: attempt %d of %d failed (%s); again in %.1f s", purpose, attempt, ATTEMPTS, reason, wait
                )
                self.retries += 1
                if getattr(error, "code", None) is None:
                    self._client = None  # a lost connection: the next attempt makes its own
                self._sleep(wait)
                wait *= 2
        raise AssertionError("unreachable")


def is_transient(error: Exception) -> bool:
    """Whether the same statement may succeed a moment later."""
    from clickhouse_connect.driver.exceptions import OperationalError

    code = getattr(error, "code", None)
    if code is None:
        return isinstance(error, OperationalError)
    if code == _MEMORY_LIMIT:
        # "(total)" is the server's own limit, which others' queries fill; without it the limit of this query.
        return "(total)" in str(error)
    return code in _TOO_MANY_QUERIES | _NETWORK | _OVERLOADED


def http_connection(url: str, password: str) -> Callable[[], Any]:
    """A way to connect to ``http://user@host:8123/database``. Raises StoreError for an address of another form."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise StoreError(f"cluster.clickhouse_url is {url!r}: it must look like http://user@host:8123/database")
    if parts.password:
        raise StoreError("cluster.clickhouse_url holds a password: give it as STARLING_CLUSTER_CLICKHOUSE_PASSWORD")

    def connect() -> Any:
        import clickhouse_connect

        return clickhouse_connect.get_client(
            interface=parts.scheme,
            host=parts.hostname,
            port=parts.port or (8443 if parts.scheme == "https" else 8123),
            username=parts.username or "default",
            password=password,
            database=parts.path.strip("/") or "default",
            query_retries=0,  # retries happen here and nowhere else
            form_encode_query_params=True,  # ids of a filter do not fit into an address
            autogenerate_session_id=False,  # threads may share the client
            send_receive_timeout=600,
        )

    return connect


def embedded_connection(path: str) -> Callable[[], Any]:
    """A way to open the embedded engine on a folder. One folder per process, and never fork after opening."""

    def connect() -> Any:
        import clickhouse_connect

        return clickhouse_connect.get_client(interface="chdb", path=path)

    return connect


def _tagged(purpose: str) -> dict[str, str]:
    # Shows in system.query_log beside each statement.
    return {"log_comment": f"starling: {purpose}"}


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__
