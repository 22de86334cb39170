"""F39: an unknown configuration key is refused; a default is stated in one place."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from starling_assets.settings import SettingsError, load_settings


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("homee = 'x'\n", "homee"),
        ("[llm]\nmodell = 'x'\n", "llm.modell"),
        ("[llm.judge]\nprice = 1\n", "llm.judge.price"),
        ("[unknown]\na = 1\n", "unknown"),
    ],
)
def test_unknown_keys_of_the_file_are_named(tmp_path: Path, text: str, named: str) -> None:
    (tmp_path / "starling.toml").write_text(text)
    with pytest.raises(SettingsError, match=named):
        load_settings(tmp_path, {})


@pytest.mark.parametrize("variable", ["STARLING_LLM_MODELL", "STARLING_FOO", "STARLING_LLM"])
def test_unknown_variables_are_named(tmp_path: Path, variable: str) -> None:
    with pytest.raises(SettingsError, match=variable):
        load_settings(tmp_path, {variable: "x"})


def test_a_wrong_value_names_its_key_and_source(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"serve.port \(STARLING_SERVE_PORT\)"):
        load_settings(tmp_path, {"STARLING_SERVE_PORT": "high"})


def test_broken_toml_is_one_line_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "starling.toml").write_text("home = \n")
    with pytest.raises(SettingsError, match=r"starling\.toml cannot be read"):
        load_settings(tmp_path, {})


def test_no_other_module_reads_starling_variables(repository: Path) -> None:
    """Defaults live in the settings model: nobody else looks into the environment for a STARLING_ key."""
    offenders = []
    for folder in ("starling_assets", "resources", "sensors"):
        for path in (repository / folder).rglob("*.py"):
            if path.parent.name == "settings":
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and ast.unparse(node.func) in {"os.environ.get", "os.getenv"}:
                    key = node.args[0] if node.args else None
                    if isinstance(key, ast.Constant) and str(key.value).startswith("STARLING_"):
                        offenders.append(f"{path.name}: {key.value}")
    assert offenders == []
