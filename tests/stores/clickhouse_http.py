"""A small HTTP face over the embedded ClickHouse engine, so that the HTTP client is tested against real SQL.

Run as ``python -m tests.stores.clickhouse_http FOLDER PORT`` in a process of its own: the engine must never be
forked and opens one folder per process. Loopback only. Understands what clickhouse-connect sends.
"""

from __future__ import annotations

import email
import gzip
import re
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

_TRANSPORT = {
    "query", "database", "default_format", "session_id", "session_timeout", "session_check", "query_id", "compress",
    "decompress", "user", "password", "enable_http_compression", "wait_end_of_query", "buffer_size", "role",
    "send_progress_in_http_headers", "http_headers_progress_interval_ms",
    "cancel_http_readonly_queries_on_client_close", "client_protocol_version", "quota_key",
}  # fmt: skip
_FORMAT = re.compile(r"\bFORMAT\s+(\w+)\s*$", re.IGNORECASE)


class Engine:
    """The engine with one statement at a time; settings hold for one statement."""

    def __init__(self, folder: str) -> None:
        import chdb

        self._connection = chdb.connect(folder)
        self._lock = threading.Lock()

    def run(self, sql: str, output: str, parameters: dict[str, str], settings: dict[str, str]) -> bytes:
        with self._lock:
            for name, value in settings.items():
                quoted = value.replace("\\", "\\\\").replace("'", "\\'")
                self._connection.query(f"SET {name} = '{quoted}'")
            try:
                answer = self._connection.query(sql, output, params=parameters or None)
                return b"" if answer is None else bytes(answer.bytes() or b"")
            finally:
                for name in settings:
                    self._connection.query(f"SET {name} = DEFAULT")

    def insert(self, statement: str, data: bytes, parameters: dict[str, str], settings: dict[str, str]) -> None:
        found = _FORMAT.search(statement)
        form = found.group(1) if found else "Values"
        head = statement[: found.start()] if found else statement
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            self.run(f"{head} FROM INFILE '{file.name}' FORMAT {form}", "TabSeparated", parameters, settings)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    engine: Engine

    def log_message(self, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        if urlsplit(self.path).path == "/ping":
            self._reply(200, b"Ok.\n")
        else:
            self._query()

    def do_POST(self) -> None:
        self._query()

    def _query(self) -> None:
        fields = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        body = self._body()
        kind = self.headers.get("Content-Type", "")
        if kind.startswith("multipart/form-data"):
            message = email.message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
            for part in message.get_payload():
                fields[str(part.get_param("name", header="content-disposition"))] = part.get_payload(
                    decode=True
                ).decode()
            body = b""
        sql = fields.get("query")
        data: bytes | None = None
        if sql is None:
            sql = body.decode()
        elif body and re.match(r"\s*insert\b", sql, re.IGNORECASE):
            data = body
        elif body:
            sql = f"{sql}\n{body.decode()}"
        sql = sql.rstrip().rstrip(";")
        parameters = {name[6:]: value for name, value in fields.items() if name.startswith("param_")}
        settings = {
            name: value for name, value in fields.items() if name not in _TRANSPORT and not name.startswith("param_")
        }
        output = self.headers.get("X-ClickHouse-Format") or fields.get("default_format") or "TabSeparated"
        try:
            if data is not None:
                self.engine.insert(sql, data, parameters, settings)
                answer = b""
            else:
                found = None if re.match(r"\s*insert\b", sql, re.IGNORECASE) else _FORMAT.search(sql)
                if found:
                    output, sql = found.group(1), sql[: found.start()]
                answer = self.engine.run(sql, output, parameters, settings)
        except Exception as error:  # noqa: BLE001 - the engine raises plain RuntimeError; the client must see its words
            code = re.search(r"Code: (\d+)", str(error))
            self._reply(500, str(error).encode(), {"X-ClickHouse-Exception-Code": code.group(1) if code else "1002"})
        else:
            self._reply(200, answer, {"X-ClickHouse-Format": output, "X-ClickHouse-Summary": "{}"})

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            chunks = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            body = b"".join(chunks)
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        encoding = self.headers.get("Content-Encoding")
        if encoding == "lz4":
            import lz4.frame

            return bytes(lz4.frame.decompress(body))
        return gzip.decompress(body) if encoding == "gzip" else body

    def _reply(self, status: int, data: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        defaults = {"X-ClickHouse-Server-Display-Name": "test", "X-ClickHouse-Timezone": "UTC"}
        for name, value in {**defaults, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def main(folder: str, port: int) -> None:
    Handler.engine = Engine(folder)
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    ready = Path(folder).with_suffix(".port")
    ready.write_text(str(server.server_address[1]))
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
