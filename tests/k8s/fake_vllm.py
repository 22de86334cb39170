"""What a step sees of a model server: the options it is started with, a while without health, then answers."""

from __future__ import annotations

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ARGUMENTS = sys.argv[1:]
READY = time.monotonic() + 1.0


def option(name: str) -> str:
    return ARGUMENTS[ARGUMENTS.index(name) + 1]


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        if self.path == "/health":
            self.send_response(200 if time.monotonic() > READY else 503)
            self.end_headers()
            return
        body = json.dumps({"data": [{"id": option("--served-model-name")}]}).encode()
        self.send_response(200 if self.path == "/v1/models" else 404)
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    assert ARGUMENTS[0] == "serve"
    assert int(option("--max-model-len")) > 0
    ThreadingHTTPServer((option("--host"), int(option("--port"))), Handler).serve_forever()
