"""F7: Ctrl-C, or a consumer that stops early: no call starts after one second, and no task is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from resources.endpoints import build_client
from starling_assets.inference.calls import FailureKind, ModelFailure, ModelReply
from starling_assets.inference.engine import run_blocking, run_units
from starling_assets.inference.ledger import read_ledger
from starling_assets.inference.stopping import Stop
from tests.endpoints.conftest import Found, a_call, one_compound, settings_for
from tests.stub_endpoint import StubEndpoint

SCRIPT = """
import sys
from pathlib import Path
from resources.endpoints import build_client
from starling_assets.inference.engine import run_blocking, run_units
from starling_assets.inference.stopping import Stop
from starling_assets.settings import load_settings
from tests.endpoints.conftest import a_call

client = build_client(load_settings(Path(sys.argv[1])))
done = []
print("ready", flush=True)
try:
    run_blocking(run_units((f"w{n}" for n in range(10_000)), lambda u: client.complete(a_call(u)), 4,
                           lambda u, r: done.append(u), lambda u, f: None, Stop()))
except KeyboardInterrupt:
    import threading
    left = [t.name for t in threading.enumerate() if t is not threading.main_thread() and not t.daemon]
    print(f"stopped after {len(done)} units, threads left: {sorted(left)}", flush=True)
    sys.exit(130)
"""


def test_ctrl_c_stops_the_calls_of_a_process(tmp_path: Path, repository: Path) -> None:
    with StubEndpoint(answer=one_compound, delay=0.05) as stub:
        environment = {
            **os.environ,
            "PYTHONPATH": str(repository),
            "STARLING_LLM_BASE_URL": stub.base_url,
            "STARLING_LLM_MODEL": "stub",
        }
        child = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=environment
        )
        try:
            wait_until(lambda: len(stub.calls) >= 8, 50)
            child.send_signal(signal.SIGINT)
            asked = time.monotonic()
            output, _ = child.communicate(timeout=10)
        finally:
            child.kill()
            child.communicate()
        assert child.returncode == 130, output
        assert time.monotonic() - asked < 5
        assert max(seen.at for seen in stub.calls) <= asked + 1.0
        quiet = len(stub.calls)
        time.sleep(0.3)
        assert len(stub.calls) == quiet
        done = int(output.split("stopped after ")[1].split(" ")[0])
        assert done >= 4
        assert "threads left: []" in output
    # Every unit that was handed over was written down; those in flight at most were paid for and not handed over.
    assert done <= read_ledger(tmp_path / ".starling" / "ledger").height <= done + 4


def test_a_request_to_stop_ends_the_run_within_a_second(tmp_path: Path) -> None:
    stop, done = Stop(), list[str]()
    asked: list[float] = []

    def enough(unit: str, _reply: ModelReply[Found]) -> None:
        done.append(unit)
        if len(done) == 6:
            asked.append(time.monotonic())
            threading.Thread(target=stop.request, args=("the user asked",)).start()

    with StubEndpoint(answer=one_compound, delay=0.05) as stub:
        client = build_client(settings_for(stub, tmp_path, concurrency=4))
        with pytest.raises(ModelFailure) as caught:
            run_blocking(
                run_units(
                    (f"w{number}" for number in range(10_000)),
                    lambda unit: client.complete(a_call(unit)),
                    4,
                    enough,
                    lambda _unit, _failure: None,
                    stop,
                )
            )
        assert caught.value.kind is FailureKind.CANCELLED
        assert caught.value.message == "the user asked"
        assert 6 <= len(done) <= 10
        time.sleep(0.3)
        assert max(seen.at for seen in stub.calls) <= asked[0] + 1.0


def test_a_call_that_hangs_does_not_hold_up_the_stop() -> None:
    stop, cancelled = Stop(), list[str]()

    async def hang(unit: str) -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(unit)
            raise

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(0.1, stop.request, "enough")
        with pytest.raises(ModelFailure):
            await run_units(["a", "b", "c"], hang, 2, lambda _u, _r: None, lambda _u, _f: None, stop)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    started = time.monotonic()
    run_blocking(main())
    assert time.monotonic() - started < 2
    assert sorted(cancelled) == ["a", "b"]  # and the third was never begun


def test_a_consumer_that_fails_stops_everything() -> None:
    begun: list[int] = []

    async def work(unit: int) -> int:
        begun.append(unit)
        await asyncio.sleep(0.01)
        return unit

    def full_disk(_unit: int, _result: int) -> None:
        raise OSError(28, "No space left on device")

    async def main() -> None:
        with pytest.raises(OSError, match="No space"):
            await run_units(range(1_000), work, 3, full_disk, lambda _u, _f: None, Stop())
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run_blocking(main())
    assert len(begun) <= 6


def test_cancelling_the_caller_cancels_its_calls() -> None:
    cancelled: list[int] = []

    async def hang(unit: int) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.append(unit)

    async def main() -> None:
        run = asyncio.create_task(run_units([1, 2], hang, 2, lambda _u, _r: None, lambda _u, _f: None, Stop()))
        await asyncio.sleep(0.05)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run_blocking(main())
    assert sorted(cancelled) == [1, 2]


def test_signals_ask_for_a_stop_once_and_then_get_their_old_meaning() -> None:
    stop = Stop()
    with stop.on_signals():
        os.kill(os.getpid(), signal.SIGINT)
        wait_until(lambda: stop.requested, 2)
        assert stop.reason == "stopped by SIGINT"
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def wait_until(holds: object, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
