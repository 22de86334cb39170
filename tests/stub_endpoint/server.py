"""The stub's HTTP server: threads, standard library, loopback only."""

from __future__ import annotations

import base64
import contextlib
import json
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from .behaviours import Behaviour

Messages = list[dict[str, Any]]
#: The scripted model: messages and the asked schema to the value (or text) of the reply.
Answer = Callable[[Messages, dict[str, Any] | None], Any]


@dataclass(frozen=True)
class SeenRequest:
    """A request that came in. ``at`` is monotonic; ``body`` is the parsed JSON."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]
    at: float

    @property
    def messages(self) -> Messages:
        return list(self.body.get("messages", []))

    @property
    def system(self) -> str:
        return "".join(m["content"] for m in self.messages if m["role"] == "system")

    @property
    def user(self) -> str:
        contents = [m["content"] for m in self.messages if m["role"] == "user"]
        return "".join(c if isinstance(c, str) else "".join(part.get("text", "") for part in c) for c in contents)

    @property
    def pictures(self) -> list[bytes]:
        """The pictures that were shown, as PNG."""
        parts = [part for m in self.messages if isinstance(m["content"], list) for part in m["content"]]
        return [base64.b64decode(part["image_url"]["url"].partition(",")[2]) for part in parts if part.get("image_url")]

    @property
    def schema(self) -> dict[str, Any] | None:
        form = self.body.get("response_format") or {}
        found = form.get("json_schema", {}).get("schema")
        return found if isinstance(found, dict) else None


def smallest_answer(_messages: Messages, schema: dict[str, Any] | None) -> Any:
    """The smallest value that fits ``schema``: empty lists, empty strings, the first allowed value, zero, null."""
    return _smallest(schema or {"type": "object", "properties": {}}, (schema or {}).get("$defs", {}))


def _smallest(schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
    if "$ref" in schema:
        return _smallest(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        branches = schema["anyOf"]
        return None if any(branch.get("type") == "null" for branch in branches) else _smallest(branches[0], definitions)
    if schema.get("type") == "object":
        return {name: _smallest(inner, definitions) for name, inner in schema.get("properties", {}).items()}
    if schema.get("type") == "array":
        return [_smallest(schema["items"], definitions) for _ in range(schema.get("minItems", 0))]
    return {"string": "", "number": 0.5, "integer": schema.get("minimum", 0), "boolean": False, "null": None}[
        schema.get("type", "null")
    ]


@dataclass
class StubEndpoint:
    """An endpoint in a thread. ``key`` is the bearer token it insists on, where given; no ``models``, no list."""

    answer: Answer = smallest_answer
    behaviours: Iterable[Behaviour] = ()
    models: tuple[str, ...] = ("stub",)
    key: str = ""
    delay: float = 0.0
    log: Path | None = None
    port: int = 0
    requests: list[SeenRequest] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    streamed: int = 0  # characters of streamed replies that a client took

    def __post_init__(self) -> None:
        self._queue: deque[Behaviour] = deque(self.behaviours)
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", self.port), _Handler)
        self._server.stub = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def calls(self) -> list[SeenRequest]:
        """The completions that were asked for, in order."""
        return [seen for seen in self.requests if seen.path.endswith("/chat/completions")]

    def queue(self, *behaviours: Behaviour) -> Self:
        """The next requests are met with these, one each."""
        with self._lock:
            self._queue.extend(behaviours)
        return self

    def start(self) -> Self:
        self._thread.start()
        return self

    def close(self) -> None:
        self._closing.set()
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def next_behaviour(self) -> Behaviour:
        with self._lock:
            return self._queue.popleft() if self._queue else Behaviour(delay=self.delay)

    def pause(self, seconds: float) -> None:
        """Sleep, but not beyond the end of the stub."""
        self._closing.wait(seconds)

    def note(self, event: str, seen: SeenRequest, reply: str = "") -> None:
        with self._lock:
            if event == "received":
                self.requests.append(seen)
            if self.log is not None:
                line = {"event": event, "path": seen.path, "system": seen.system, "user": seen.user, "reply": reply}
                with self.log.open("a", encoding="utf-8") as handle:
                    handle.write(json.dumps(line, ensure_ascii=False) + "\n")

    @contextlib.contextmanager
    def counted(self) -> Any:
        with self._lock:
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            yield
        finally:
            with self._lock:
                self.in_flight -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = True
    request_queue_size = 128
    stub: StubEndpoint

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is part of the tests, not an error to print."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    server: _Server

    @property
    def stub(self) -> StubEndpoint:
        return self.server.stub

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        return

    def do_GET(self) -> None:
        if not self._key_fits():
            return self._error(Behaviour.invalid_key())
        if self.path.endswith("/models") and self.stub.models:
            data = [{"id": name, "object": "model", "created": 0, "owned_by": "stub"} for name in self.stub.models]
            return self._send(200, {"object": "list", "data": data})
        return self._send(404, {"error": {"message": f"no {self.path} here"}})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        seen = SeenRequest(
            self.path, json.loads(raw), {k.lower(): v for k, v in self.headers.items()}, time.monotonic()
        )
        with self.stub.counted():
            self.stub.note("received", seen)
            if not self._key_fits():
                return self._error(Behaviour.invalid_key())
            if not self.path.endswith("/chat/completions"):
                return self._send(404, {"error": {"message": f"no {self.path} here"}})
            return self._react(seen, self.stub.next_behaviour())

    def _react(self, seen: SeenRequest, behaviour: Behaviour) -> None:
        if behaviour.delay:
            self.stub.pause(behaviour.delay)
        if behaviour.connection != "answer":
            return self._break_off(behaviour)
        if behaviour.status != 200:
            return self._error(behaviour)
        if behaviour.raw_body is not None:
            return self._send_bytes(200, behaviour.raw_body, {})
        text = behaviour.text
        if text is None:
            value = self.stub.answer(seen.messages, seen.schema)
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            if behaviour.cut is not None:
                text = text[: int(len(text) * behaviour.cut)]
        self.stub.note("answered", seen, text)
        if seen.body.get("stream"):
            return self._stream(seen, text, behaviour)
        return self._send(200, _completion(seen, text, behaviour.finish_reason))

    def _stream(self, seen: SeenRequest, text: str, behaviour: Behaviour) -> None:
        """The text in small pieces; once the client has closed the connection the rest is not written."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        whole = _completion(seen, text, behaviour.finish_reason)
        head = {name: whole[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
        for start in range(0, len(text), 64):
            choice = {"index": 0, "delta": {"content": text[start : start + 64]}, "finish_reason": None}
            if not self._event(head | {"choices": [choice]}):
                return
            self.stub.streamed += len(choice["delta"]["content"])
        if behaviour.breaks_off:
            return
        last = {"index": 0, "delta": {}, "finish_reason": behaviour.finish_reason}
        self._event(head | {"choices": [last]})
        if seen.body.get("stream_options"):
            self._event(head | {"choices": [], "usage": whole["usage"]})
        with contextlib.suppress(OSError):
            self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, value: dict[str, Any]) -> bool:
        try:
            self.wfile.write(b"data: " + json.dumps(value).encode() + b"\n\n")
            self.wfile.flush()
        except OSError:
            return False
        return True

    def _key_fits(self) -> bool:
        return not self.stub.key or self.headers.get("authorization") == f"Bearer {self.stub.key}"

    def _break_off(self, behaviour: Behaviour) -> None:
        self.close_connection = True
        if behaviour.connection == "close":
            self.wfile.write(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"id"')
            self.wfile.flush()
        elif behaviour.connection == "reset":
            # Linger 0 turns the close into a reset.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def _error(self, behaviour: Behaviour) -> None:
        self._send_bytes(behaviour.status, json.dumps({"error": behaviour.error}).encode(), behaviour.headers)

    def _send(self, status: int, value: Any) -> None:
        self._send_bytes(status, json.dumps(value).encode(), {})

    def _send_bytes(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # a client that was stopped
            self.wfile.write(body)


def _completion(seen: SeenRequest, text: str, finish_reason: str) -> dict[str, Any]:
    prompt, output = (len(seen.system) + len(seen.user)) // 4 + 8, len(text) // 4 + 1
    cached = len(seen.system) // 4
    return {
        "id": "chatcmpl-stub",
        "object": "chat.completion",
        "created": 0,
        "model": seen.body.get("model", "stub"),
        "choices": [
            {
                "index": 0,
                "finish_reason": finish_reason,
                "message": {"role": "assistant", "content": text},
                "logprobs": None,
            }
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": output,
            "total_tokens": prompt + output,
            "prompt_tokens_details": {"cached_tokens": cached},
        },
    }
