"""Who shares a server with whom, and what a server is started with. Needs no model."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from resources.endpoints.targets import EndpointError, Targets, packaged_model_name
from resources.local_model import server as server_module
from resources.local_model.server import LocalModelError, LocalServer, process_start, read_state
from resources.local_model.weights import weights_path
from starling_assets.inference.calls import Role
from starling_assets.settings import Settings, SettingsError
from starling_assets.settings.endpoints import Endpoint, LlmSettings, LocalModel


def settings_with(home: Path, **local: object) -> Settings:
    return Settings(home=home, llm=LlmSettings(local=LocalModel.model_validate(local)))


def identity(settings: Settings) -> str:
    return server_module._identity(settings, weights_path(settings))


def test_two_projects_with_the_same_model_share_a_server(tmp_path: Path) -> None:
    assert identity(settings_with(tmp_path / "a")) == identity(settings_with(tmp_path / "b"))


@pytest.mark.parametrize(
    "other", [{"name": "smollm2-135m"}, {"context_tokens": 8_192}, {"threads": 3}, {"path": "/models/own.gguf"}]
)
def test_another_model_context_or_thread_count_is_another_server(tmp_path: Path, other: dict[str, object]) -> None:
    assert identity(settings_with(tmp_path)) != identity(settings_with(tmp_path, **other))


def test_the_folder_of_servers_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module.tempfile, "gettempdir", lambda: str(tmp_path))
    folder = server_module._private_folder("abc")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert folder.parent.stat().st_mode & 0o777 == 0o700
    assert server_module._private_folder("abc") == folder


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module.tempfile, "gettempdir", lambda: str(tmp_path))
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / f"starling-model-servers-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LocalModelError, match="belongs to someone else"):
        server_module._private_folder("abc")


@pytest.mark.parametrize("content", [None, b"", b"{", b'{"base_url": "x"}', b"[]"])
def test_a_state_that_cannot_be_read_is_no_server(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "state.json").write_bytes(content)
    assert read_state(tmp_path) is None


def test_a_state_of_a_process_that_is_gone_is_no_server(tmp_path: Path) -> None:
    alive = LocalServer(
        base_url="http://127.0.0.1:1/v1", model="m", api_key="k", pid=os.getpid(), started=process_start(os.getpid())
    )
    (tmp_path / "state.json").write_text(alive.model_dump_json())
    assert read_state(tmp_path) == alive
    (tmp_path / "state.json").write_text(alive.model_copy(update={"started": "1"}).model_dump_json())
    assert read_state(tmp_path) is None


def test_the_server_is_asked_for_once_and_again_when_it_died(tmp_path: Path) -> None:
    asked: list[LocalServer] = []

    def start() -> LocalServer:
        started = process_start(os.getpid()) if asked else "1"  # the first one is dead at once
        found = LocalServer(base_url="http://127.0.0.1:1/v1", model="m", api_key="k", pid=os.getpid(), started=started)
        asked.append(found)
        return found

    targets = Targets(Settings(home=tmp_path), start)
    assert asked == []
    assert not targets.is_ready(Role.JUDGE)
    for _ in range(3):
        target = targets.resolve(Role.JUDGE)
    assert len(asked) == 2
    assert targets.is_ready(Role.JUDGE)
    assert target.packaged
    assert target.loopback
    assert target.concurrency == 1
    assert target.api_key.get_secret_value() == "k"
    assert "api_key" not in repr(target)


def test_a_role_with_an_endpoint_does_not_start_the_packaged_model(tmp_path: Path) -> None:
    judge = Endpoint(base_url="https://api.example.org/v1", model="wise", price_prompt=1, price_completion=2)

    def start() -> LocalServer:
        raise AssertionError("not needed")

    targets = Targets(Settings(home=tmp_path, llm=LlmSettings(judge=judge)), start)
    target = targets.resolve(Role.JUDGE)
    assert (target.model, target.packaged, target.loopback, target.concurrency) == ("wise", False, False, 16)
    assert target.prices.cost(1_000_000, 1_000_000) == pytest.approx(3.0)
    assert targets.model_name(Role.EXTRACTOR) == packaged_model_name(Settings()) == "qwen2.5-coder-1.5b-instruct-q4_k_m"


def test_a_half_configured_endpoint_is_a_mistake_in_the_settings(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, llm=LlmSettings(tagger=Endpoint(base_url="http://127.0.0.1:9/v1")))
    with pytest.raises(EndpointError, match="role tagger") as caught:
        Targets(settings, lambda: pytest.fail("not needed"))
    assert isinstance(caught.value, SettingsError)
