"""One typed model: file, environment, sources, masking."""

from __future__ import annotations

from pathlib import Path

import pytest

from starling_assets.settings import SettingsError, load_settings
from starling_assets.settings.loading import effective, load_with_sources, project_root


def test_without_file_and_environment_the_defaults_hold(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, {})
    assert settings.profile == "embedded"
    assert settings.home == tmp_path / ".starling"
    assert settings.inbox == tmp_path / ".starling" / "inbox"
    assert settings.llm.base_url is None


def test_the_environment_wins_over_the_file_and_both_are_named_as_source(tmp_path: Path) -> None:
    (tmp_path / "starling.toml").write_text('home = "data"\n[llm]\nmodel = "from-file"\nbase_url = "http://file/v1"\n')
    settings, sources = load_with_sources(tmp_path, {"STARLING_LLM_MODEL": "from-env"})
    assert settings.llm.model == "from-env"
    assert settings.llm.base_url == "http://file/v1"
    assert settings.home == tmp_path / "data"
    shown = {value.key: value.source for value in effective(settings, sources)}
    assert shown["llm.model"] == "STARLING_LLM_MODEL"
    assert shown["llm.base_url"] == "starling.toml"
    assert shown["llm.temperature"] == "default"


def test_openai_names_stand_in_only_where_ours_are_missing(tmp_path: Path) -> None:
    environ = {"OPENAI_API_KEY": "k1", "OPENAI_BASE_URL": "http://openai/v1", "STARLING_LLM_BASE_URL": "http://ours/v1"}
    settings = load_settings(tmp_path, environ)
    assert settings.llm.base_url == "http://ours/v1"
    assert settings.llm.api_key is not None
    assert settings.llm.api_key.get_secret_value() == "k1"


def test_a_role_overrides_only_what_it_states(tmp_path: Path) -> None:
    environ = {
        "STARLING_LLM_BASE_URL": "http://all/v1",
        "STARLING_LLM_MODEL": "small",
        "STARLING_LLM_JUDGE_MODEL": "large",
    }
    llm = load_settings(tmp_path, environ).llm
    assert llm.for_role("judge").model == "large"
    assert llm.for_role("judge").base_url == "http://all/v1"
    assert llm.for_role("extractor").model == "small"


def test_secrets_are_masked_and_refused_in_files(tmp_path: Path) -> None:
    settings, sources = load_with_sources(tmp_path, {"STARLING_LLM_API_KEY": "sk-secret"})
    shown = [value.value for value in effective(settings, sources)]
    assert not any("sk-secret" in text for text in shown)
    assert "sk-secret" not in repr(settings)
    (tmp_path / "starling.toml").write_text('[llm]\napi_key = "sk-secret"\n')
    with pytest.raises(SettingsError, match="STARLING_LLM_API_KEY") as caught:
        load_settings(tmp_path, {})
    assert "sk-secret" not in str(caught.value)


def test_the_project_is_the_nearest_folder_with_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STARLING_PROJECT", raising=False)
    (tmp_path / "starling.toml").write_text("")
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    assert project_root() == tmp_path
    monkeypatch.setenv("STARLING_PROJECT", str(inside))
    assert project_root() == inside
