"""One llama.cpp server per machine and model, shared by all runs that need it.

A user of the server holds a shared lock on ``users.lock`` in the server's folder; the kernel drops it when the user
dies, however it dies. The server process looks at that lock every second and leaves when nobody has held it for a
while; whoever was last may also stop it at once. The folder is per user and machine, so two projects share a server.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
from filelock import FileLock
from pydantic import BaseModel, ConfigDict, ValidationError

from starling_assets.artifacts.files import StoreError
from starling_assets.settings import Settings

from .catalogue import MODELS
from .weights import Progress, ensure_weights

#: Loading a gigabyte from a cold, busy disk takes its time.
START_SECONDS = 300.0
#: The server leaves when nobody has used it for this long.
LINGER_SECONDS = 60.0
PROJECT = Path(__file__).resolve().parents[2]


class LocalModelError(StoreError):
    """The packaged model's server does not start; the message holds the end of its log and what to do."""


class LocalServer(BaseModel):
    """A running server: what is needed to talk to it, and which process it is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    base_url: str
    model: str
    api_key: str
    pid: int
    started: str

    def is_alive(self) -> bool:
        """Whether that very process (not a later one with its number) still runs."""
        return process_start(self.pid) == self.started


class _Use:
    """This process's hold on one server, counted so that nested users release it once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0
        self.descriptor = -1


_uses: dict[Path, _Use] = {}
_uses_lock = threading.Lock()


@contextmanager
def local_endpoint(settings: Settings, on_progress: Progress | None = None) -> Iterator[LocalServer]:
    """The packaged model's server for as long as the context lasts; stopped at its end if this was the last user."""
    server = acquire(settings, on_progress)
    try:
        yield server
    finally:
        release(settings)


def acquire(settings: Settings, on_progress: Progress | None = None) -> LocalServer:
    """Fetch the weights if need be, start the server or join the running one, and hold it.

    The hold ends with :func:`release` or with this process. Raises :class:`LocalModelError`, or ``WeightsError`` when
    there are no weights.
    """
    weights = ensure_weights(settings, on_progress)
    folder = _private_folder(_identity(settings, weights))
    with _uses_lock:
        use = _uses.setdefault(folder, _Use(folder))
        if use.count == 0:
            use.descriptor = os.open(folder / "users.lock", os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(use.descriptor, fcntl.LOCK_SH)  # waits out a server that is just leaving
        use.count += 1
    try:
        with FileLock(str(folder / "start.lock")):
            running = read_state(folder)
            return running if running is not None else _start(settings, weights, folder)
    except BaseException:
        _drop(use)
        raise


def release(settings: Settings) -> None:
    """Give up one hold of this process; the last user of the machine stops the server."""
    folder = _private_folder(_identity(settings, _weights_location(settings)))
    use = _uses.get(folder)
    if use is None or not _drop(use):
        return
    descriptor = os.open(folder / "users.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Nobody else holds it, and nobody can join while this lock is kept.
        running = read_state(folder)
        if running is not None:
            _stop(running)
        (folder / "state.json").unlink(missing_ok=True)
    except BlockingIOError:
        return
    finally:
        os.close(descriptor)


def read_state(folder: Path) -> LocalServer | None:
    """The server that runs in ``folder``, or ``None``."""
    try:
        found = LocalServer.model_validate_json((folder / "state.json").read_bytes())
    except (OSError, ValidationError):
        return None
    return found if found.is_alive() else None


def process_start(pid: int) -> str:
    """When process ``pid`` started, as the kernel counts it; empty when there is no such process or it is dead."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in {"Z", "X"} else fields[19]


def _drop(use: _Use) -> bool:
    """Give up one hold; whether it was this process's last."""
    with _uses_lock:
        if use.count == 0:
            return False
        use.count -= 1
        if use.count:
            return False
        os.close(use.descriptor)
        use.descriptor = -1
        return True


def _start(settings: Settings, weights: Path, folder: Path) -> LocalServer:
    (folder / "state.json").unlink(missing_ok=True)
    request = {
        "weights": str(weights),
        "model": weights.stem,
        "context_tokens": settings.llm.local.context_tokens,
        "threads": settings.llm.local.threads or len(os.sched_getaffinity(0)),
        "linger_seconds": LINGER_SECONDS,
    }
    (folder / "request.json").write_bytes(orjson.dumps(request))
    environment = dict(os.environ)
    # Threads that wait for each other by spinning starve a machine that has other work to do.
    environment["OMP_WAIT_POLICY"] = "passive"
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(PROJECT), environment.get("PYTHONPATH")]))
    log = folder / "server.log"
    with log.open("wb") as output:
        child = subprocess.Popen(
            [sys.executable, "-m", "resources.local_model.launch", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            cwd=folder,
            # Ctrl-C in the terminal is for the run, which stops its calls first; the server follows by itself.
            start_new_session=True,
        )
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        running = read_state(folder)
        if running is not None and _is_healthy(running):
            # The child outlives this process; it is reaped here if it ends first.
            threading.Thread(target=child.wait, name="model-server-reaper", daemon=True).start()
            return running
        if child.poll() is not None:
            raise LocalModelError(_explain(f"ended with code {child.returncode}", log))
        time.sleep(0.1)
    child.kill()
    child.wait()
    raise LocalModelError(_explain(f"did not answer within {START_SECONDS:.0f} s", log))


def _stop(server: LocalServer) -> None:
    for number, seconds in ((signal.SIGTERM, 10.0), (signal.SIGKILL, 5.0)):
        if not server.is_alive():
            return
        try:
            os.kill(server.pid, number)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + seconds
        while server.is_alive() and time.monotonic() < deadline:
            time.sleep(0.05)


def _is_healthy(server: LocalServer) -> bool:
    import httpx

    try:
        with httpx.Client(trust_env=False, timeout=5.0) as client:
            answer = client.get(server.base_url.removesuffix("/v1") + "/health")
    except httpx.HTTPError:
        return False
    return answer.status_code == httpx.codes.OK


def _weights_location(settings: Settings) -> Path:
    from .weights import weights_path

    return weights_path(settings)


def _identity(settings: Settings, weights: Path) -> str:
    """What makes two users share a server: the same weights, context and threads."""
    local = settings.llm.local
    which = str(weights.resolve()) if local.path is not None else MODELS[local.name].sha256
    return hashlib.sha256(f"{which}|{local.context_tokens}|{local.threads}".encode()).hexdigest()[:16]


def _private_folder(identity: str) -> Path:
    """The server's folder below the machine's temporary folder. Nobody else may have made or may write it."""
    base = Path(tempfile.gettempdir()) / f"starling-model-servers-{os.getuid()}"
    folder = base / identity
    for path in (base, folder):
        path.mkdir(mode=0o700, exist_ok=True)
        stat = path.lstat()
        if path.is_symlink() or stat.st_uid != os.getuid() or stat.st_mode & 0o077:
            raise LocalModelError(f"{path} belongs to someone else or is open to others. Remove it, then try again.")
    return folder


def _explain(what: str, log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-5:]
    tail = " | ".join(line.strip() for line in lines) or "no message"
    return (
        f"the packaged model's server {what} (its log {log} ends: {tail[-600:]}). Set STARLING_LLM_BASE_URL and "
        "STARLING_LLM_MODEL to an endpoint you have, or free memory (the 1.5B model needs 2.1 GB) and try again."
    )
