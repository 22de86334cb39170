"""The server process: ``python -m resources.local_model.launch FOLDER``. Started by ``server.py``, not by hand.

It reads ``request.json`` in its folder, loads the model, writes ``state.json``, and leaves when nobody has held
``users.lock`` for the lingering time or when it is told to.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import signal
import sys
import time
from pathlib import Path
from typing import Any

import orjson

from resources.local_model.server import LocalServer, process_start

LOOK_SECONDS = 1.0
#: Host memory for the states of prompts that are not in the slot: two tasks' prefixes can take turns.
PROMPT_CACHE_MIB = 768


def main(folder: Path) -> None:
    """Serve the model that ``folder/request.json`` asks for."""
    signal.signal(signal.SIGTERM, _leave)
    request = orjson.loads((folder / "request.json").read_bytes())
    key = secrets.token_urlsafe(24)
    server = _serve(request, key)
    state = LocalServer(
        base_url=f"{server.listening_address}/v1",
        model=request["model"],
        api_key=key,
        pid=os.getpid(),
        started=process_start(os.getpid()),
    )
    draft = folder / f"state.{os.getpid()}.new"
    draft.touch(mode=0o600)
    draft.write_bytes(orjson.dumps(state.model_dump()))
    os.replace(draft, folder / "state.json")
    lock = _wait_until_unused(folder / "users.lock", float(request["linger_seconds"]))
    # The lock is kept until this process is gone, so that a new user waits and then starts a server of its own.
    (folder / "state.json").unlink(missing_ok=True)
    del server
    os.close(lock)


def _serve(request: dict[str, Any], key: str) -> Any:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = request["weights"]
    parameters.model_alias = {request["model"]}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [key]
    parameters.n_ctx = request["context_tokens"]
    parameters.n_parallel = 1
    parameters.cache_prompt = True
    parameters.cache_ram_mib = PROMPT_CACHE_MIB
    parameters.cpuparams.n_threads = request["threads"]
    parameters.cpuparams_batch.n_threads = request["threads"]
    parameters.ui = False
    parameters.verbosity = 1
    return xllamacpp.Server(parameters)


def _wait_until_unused(path: Path, linger: float) -> int:
    """The descriptor of the exclusive lock, taken once nobody has held ``path`` for ``linger`` seconds."""
    free_since: float | None = None
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            free_since = None
        else:
            free_since = free_since or time.monotonic()
            if time.monotonic() - free_since >= linger:
                return descriptor
        os.close(descriptor)
        time.sleep(LOOK_SECONDS)


def _leave(_number: int, _frame: object) -> None:
    # Nothing here outlives the process; the model's memory goes with it, at once even in the middle of a reply.
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
