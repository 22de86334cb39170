"""The stub as a process of its own; see the package's docstring."""

from __future__ import annotations

import argparse
import importlib
import signal
import threading
from pathlib import Path

from .server import StubEndpoint, smallest_answer


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.stub_endpoint", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--answer", default="", help="module:function of the scripted model")
    parser.add_argument("--models", default="stub", help="names it offers, with commas between")
    parser.add_argument("--key", default="", help="bearer token it insists on")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--log", type=Path, default=None, help="file that gets a line per request")
    options = parser.parse_args()
    answer = smallest_answer
    if options.answer:
        module, _, name = options.answer.partition(":")
        answer = getattr(importlib.import_module(module), name)
    done = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: done.set())
    models = tuple(options.models.split(","))
    with StubEndpoint(
        answer=answer, models=models, key=options.key, delay=options.delay, log=options.log, port=options.port
    ) as stub:
        print(stub.base_url, flush=True)
        done.wait()


if __name__ == "__main__":
    main()
