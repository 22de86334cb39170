"""What a deployment can choose, and what it cannot get wrong silently."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr, ValidationError

from resources.gpu_jobs import CONFIG_TAG, ROLE_MODELS, ModelSpec, model_of, op_tags, step_config
from resources.gpu_jobs.manifest import job_manifest, main
from resources.gpu_jobs.sidecar import sidecar
from starling_assets.inference.calls import Role
from starling_assets.settings import Settings

from .conftest import ROLES


def settings(**values: Any) -> Settings:
    return Settings.model_validate({"profile": "cluster", **values})


def test_every_role_that_makes_calls_has_a_model() -> None:
    assert {str(role) for role in Role} <= set(ROLE_MODELS)
    assert {"embedder", "ocr"} <= set(ROLE_MODELS)


@pytest.mark.parametrize("role", ROLES)
def test_dagster_accepts_the_tag(role: str) -> None:
    from dagster_k8s.job import get_user_defined_k8s_config

    tags = op_tags(role, settings())
    config = get_user_defined_k8s_config({CONFIG_TAG: json.dumps(tags[CONFIG_TAG])})
    assert config.job_spec_config["backoff_limit"] == 0
    assert config.pod_spec_config["init_containers"][0]["restart_policy"] == "Always"


def test_the_tag_survives_an_asset() -> None:
    import dagster as dg

    @dg.asset(op_tags=op_tags(Role.JUDGE, settings()))
    def verdicts() -> None:
        """An asset that asks a model."""

    assert json.loads(verdicts.op.tags[CONFIG_TAG]) == step_config("judge", settings())


def test_without_settings_those_of_the_project_are_read(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "starling.toml").write_text("[cluster]\njob_deadline_seconds = 1234\n")
    monkeypatch.setenv("STARLING_PROJECT", str(tmp_path))
    assert op_tags("judge")[CONFIG_TAG]["job_spec_config"]["active_deadline_seconds"] == 1234


def test_an_unknown_role_is_refused_with_the_roles_there_are() -> None:
    with pytest.raises(ValueError, match=r"'translator'.*extractor.*judge"):
        op_tags("translator", settings())


@pytest.mark.parametrize(
    "llm", [{"base_url": "https://models.example/v1"}, {"judge": {"base_url": "https://j.example/v1"}}]
)
def test_a_role_with_an_endpoint_gets_no_gpu(llm: dict[str, Any]) -> None:
    config = step_config("judge", settings(llm=llm))
    assert "init_containers" not in config["pod_spec_config"]
    assert "node_selector" not in config["pod_spec_config"]
    assert "env" not in config["container_config"]
    assert "nvidia" not in json.dumps(config)
    assert config["job_spec_config"]["backoff_limit"] == 0


def test_an_endpoint_of_another_role_changes_nothing() -> None:
    assert step_config("judge", settings(llm={"tagger": {"base_url": "https://t.example/v1"}})) == step_config(
        "judge", settings()
    )


@pytest.mark.parametrize("role", ["embedder", "ocr"])
def test_a_chat_endpoint_does_not_answer_for_vectors_or_pages(role: str) -> None:
    config = step_config(role, settings(llm={"base_url": "https://models.example/v1", "model": "chat"}))
    server = config["pod_spec_config"]["init_containers"][0]
    assert server["command"][-1] == ROLE_MODELS[role].model


def test_one_server_answers_for_several_roles() -> None:
    config = step_config("proposer", settings(), also=["validator", "investigator"])
    env = {item["name"]: item["value"] for item in config["container_config"]["env"]}
    assert set(env) == {
        f"STARLING_LLM_{role}_{what}"
        for role in ("PROPOSER", "VALIDATOR", "INVESTIGATOR")
        for what in ("BASE_URL", "MODEL")
    }
    assert len(config["pod_spec_config"]["init_containers"]) == 1


def test_a_role_answered_elsewhere_is_left_out_of_the_shared_server() -> None:
    chosen = settings(llm={"proposer": {"base_url": "https://p.example/v1"}})
    names = {item["name"] for item in step_config("proposer", chosen, also=["validator"])["container_config"]["env"]}
    assert names == {"STARLING_LLM_VALIDATOR_BASE_URL", "STARLING_LLM_VALIDATOR_MODEL"}


def test_the_model_of_a_role_is_a_setting() -> None:
    chosen = settings(llm={"judge": {"model": "org/own-judge"}})
    server = step_config("judge", chosen)["pod_spec_config"]["init_containers"][0]
    assert server["command"] == ["vllm", "serve", "org/own-judge"]
    assert step_config("tagger", chosen) == step_config("tagger", settings())


def test_flags_of_the_default_model_do_not_follow_to_another() -> None:
    assert "--limit-mm-per-prompt" in sidecar(model_of("extractor", settings()))["args"]
    other = model_of("extractor", settings(llm={"extractor": {"model": "org/text-only"}}))
    assert other.arguments == ()


def test_flags_of_a_known_model_go_with_it_to_another_role() -> None:
    chosen = model_of("extractor", settings(llm={"model": ROLE_MODELS["judge"].model}))
    assert chosen.arguments == ROLE_MODELS["judge"].arguments != ()


def test_gpus_pool_image_and_deadline_are_settings() -> None:
    chosen = settings(
        cluster={
            "gpus": 4,
            "vllm_image": "registry.example/vllm:1",
            "gpu_node_selector": {"pool": "h100"},
            "job_deadline_seconds": 600,
        }
    )
    config = step_config("extractor", chosen)
    server = config["pod_spec_config"]["init_containers"][0]
    assert server["image"] == "registry.example/vllm:1"
    assert server["resources"]["limits"]["nvidia.com/gpu"] == "4"
    assert server["args"][server["args"].index("--tensor-parallel-size") + 1] == "4"
    assert config["pod_spec_config"]["node_selector"] == {"pool": "h100"}
    assert config["job_spec_config"]["active_deadline_seconds"] == 600


def test_no_secret_of_the_settings_reaches_a_tag() -> None:
    # Tags are stored in the run database and shown in the UI.
    chosen = settings(
        llm={"api_key": SecretStr("sk-very-secret")},
        cluster={"clickhouse_password": SecretStr("pw-secret"), "milvus_token": SecretStr("tok-secret")},
    )
    for role in ROLES:
        assert "secret" not in json.dumps(op_tags(role, chosen)).replace("secret_key_ref", "")


def test_a_spec_without_an_image_is_refused() -> None:
    with pytest.raises(ValueError, match="names no image"):
        sidecar(ModelSpec(model="org/model"))


@pytest.mark.parametrize(
    "values", [{"model": ""}, {"gpus": 0}, {"max_length": 1}, {"gpu_memory_share": 1.5}, {"port": 80}, {"unknown": 1}]
)
def test_a_wrong_spec_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ModelSpec.model_validate({"model": "org/model", **values})


@given(
    gpus=st.integers(1, 16),
    length=st.integers(512, 1_000_000),
    port=st.integers(1_024, 65_535),
    startup=st.integers(60, 36_000),
    arguments=st.lists(st.text(max_size=20), max_size=5),
)
def test_any_spec_gives_one_argument_per_word_and_enough_time_to_start(
    gpus: int, length: int, port: int, startup: int, arguments: list[str]
) -> None:
    spec = ModelSpec(
        model="org/model",
        image="i",
        gpus=gpus,
        max_length=length,
        port=port,
        startup_seconds=startup,
        arguments=tuple(arguments),
    )
    server = sidecar(spec)
    assert server["args"][len(server["args"]) - len(arguments) :] == arguments
    probe = server["startup_probe"]
    assert startup <= probe["period_seconds"] * probe["failure_threshold"] < startup + probe["period_seconds"]
    assert json.loads(json.dumps(server)) == server


def test_printing_manifests_reports_wrong_settings_in_one_line(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "starling.toml").write_text("[cluster]\ngpu = 1\n")
    monkeypatch.setenv("STARLING_PROJECT", str(tmp_path))
    assert main() == 1
    assert "cluster.gpu" in capsys.readouterr().err


def test_the_image_of_the_code_is_the_callers() -> None:
    job = job_manifest("judge", settings(), image="registry.example/starling@sha256:00")
    assert job["spec"]["template"]["spec"]["containers"][0]["image"] == "registry.example/starling@sha256:00"
