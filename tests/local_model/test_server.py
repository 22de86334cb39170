"""The model server: started once, shared, stopped by its last user, and left by nobody for ever. Plumbing only."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import httpx
import pytest
from pydantic import BaseModel

from resources.endpoints import build_client
from resources.local_model import server as server_module
from resources.local_model.server import (
    LocalModelError,
    LocalServer,
    acquire,
    local_endpoint,
    process_start,
    read_state,
    release,
)
from starling_assets.inference.calls import ModelCall, Role
from starling_assets.inference.engine import run_blocking
from starling_assets.inference.ledger import read_ledger
from starling_assets.settings import Settings
from starling_assets.settings.endpoints import LlmSettings, LocalModel


class Choice(BaseModel):
    """The grammar lets the model write one of two short answers, so that even a tiny model ends."""

    answer: Literal["yes", "no"]


def a_call(unit: str = "w1") -> ModelCall[Choice]:
    return ModelCall(
        role=Role.VALIDATOR,
        purpose="test",
        unit=unit,
        system="You answer questions about compounds with yes or no, as JSON. " * 3,
        user=f"Is aspirin a compound? ({unit})",
        reply_type=Choice,
        prompt="test@1",
        max_output_tokens=40,
    )


pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]


@pytest.fixture(autouse=True)
def own_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Servers of a test live in a folder of their own, and none outlives it."""
    folder = tmp_path_factory.mktemp("servers")
    monkeypatch.setattr(server_module.tempfile, "gettempdir", lambda: str(folder))
    monkeypatch.setattr(server_module, "LINGER_SECONDS", 2.0)
    yield folder
    for state in folder.rglob("state.json"):
        running = read_state(state.parent)
        if running is not None:
            os.kill(running.pid, signal.SIGKILL)


def test_a_call_without_an_endpoint_is_answered_by_the_packaged_model(tiny: Settings) -> None:
    client = build_client(tiny)
    reply = run_blocking(client.complete(a_call()))
    assert reply.value.answer in {"yes", "no"}
    assert "\n" not in reply.raw  # compact: no token is spent on layout
    first = read_ledger(tiny.ledger_dir).row(0, named=True)
    assert first["model"] == "smollm2-135m-instruct-q4_1"
    assert first["cost"] == 0
    assert first["prompt_tokens"] > 0
    release(tiny)


def test_two_users_share_one_server_and_the_last_one_stops_it(tiny: Settings) -> None:
    with local_endpoint(tiny) as one:
        with local_endpoint(tiny) as two:
            assert one == two
            assert one.is_alive()
        assert one.is_alive()
        answer = httpx.get(
            f"{one.base_url}/models", headers={"Authorization": f"Bearer {one.api_key}"}, trust_env=False
        )
        assert answer.status_code == 200
        assert httpx.get(f"{one.base_url}/slots", trust_env=False).status_code in {401, 404}
        assert one.base_url.startswith("http://127.0.0.1:")
    wait_for_end(one)


def test_a_shared_prefix_is_read_once(tiny: Settings) -> None:
    client = build_client(tiny)
    for unit in ("w1", "w2"):
        run_blocking(client.complete(a_call(unit)))
    first, second = read_ledger(tiny.ledger_dir).rows(named=True)
    assert first["cached_tokens"] == 0
    assert second["cached_tokens"] >= 30
    release(tiny)


def test_a_server_that_died_is_started_again(tiny: Settings) -> None:
    client = build_client(tiny)
    first = acquire(tiny)
    os.kill(first.pid, signal.SIGKILL)
    wait_for_end(first)
    try:
        run_blocking(client.complete(a_call()))
    finally:
        second = acquire(tiny)
        assert second.pid != first.pid
        for _ in range(3):
            release(tiny)
    wait_for_end(second)


USER = """
import sys, time
from pathlib import Path
from starling_assets.settings import Settings
import resources.local_model.server as s
s.LINGER_SECONDS = 2.0
s.tempfile.gettempdir = lambda: sys.argv[2]
print(s.acquire(Settings.model_validate_json(sys.argv[1])).model_dump_json(), flush=True)
time.sleep(120)
"""


def test_a_user_that_is_killed_does_not_leave_the_server_for_ever(
    tiny: Settings, repository: Path, own_folder: Path
) -> None:
    user = subprocess.Popen(
        [sys.executable, "-c", USER, tiny.model_dump_json(), str(own_folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(repository)},
    )
    assert user.stdout is not None
    running = LocalServer.model_validate_json(user.stdout.readline())
    assert running.is_alive()
    user.kill()
    user.communicate()
    assert running.is_alive()  # it lingers: the next run need not load the model again
    wait_for_end(running)


def test_a_file_that_is_no_model_is_explained(tiny: Settings, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\0" * 64)
    settings = Settings(home=tmp_path, llm=LlmSettings(local=LocalModel(path=broken)))
    with pytest.raises(LocalModelError, match="STARLING_LLM_BASE_URL"), local_endpoint(settings):
        pass


def test_a_folder_that_others_may_write_is_refused(tiny: Settings, own_folder: Path) -> None:
    with local_endpoint(tiny):
        pass
    base = next(own_folder.glob("starling-model-servers-*"))
    base.chmod(0o777)
    with pytest.raises(LocalModelError, match="open to others"), local_endpoint(tiny):
        pass


def test_a_process_is_told_from_a_later_one_with_its_number() -> None:
    own = process_start(os.getpid())
    assert own
    state = LocalServer(base_url="http://127.0.0.1:1/v1", model="m", api_key="k", pid=os.getpid(), started=own)
    assert state.is_alive()
    assert not state.model_copy(update={"started": "1"}).is_alive()
    assert process_start(2**22 + 1) == ""


def wait_for_end(running: LocalServer) -> None:
    deadline = time.monotonic() + 30
    while running.is_alive():
        assert time.monotonic() < deadline, "the server is still there"
        time.sleep(0.1)
