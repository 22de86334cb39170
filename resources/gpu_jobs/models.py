"""Which model serves which role in the cluster, and what it needs. The one place for these defaults.

Extractor, judge, tagger base, teacher, embedder and OCR models are the families of the Starling paper (tables 13
and section 2), as published on the Hugging Face hub; the judge and the tagger are the base models, until a distilled
one is named in the settings. A deployment changes the model of a role with ``llm.<role>.model`` and the number of
GPUs with ``cluster.gpus``; a role whose ``llm.<role>.base_url`` is set needs no server of its own.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from starling_assets.settings import Settings
from starling_assets.settings.endpoints import Endpoint


class ModelSpec(BaseModel):
    """A model and the server that answers for it inside a step's pod."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    model: str = Field(min_length=1, description="hub repository, or a folder inside the model cache volume")
    image: str | None = Field(None, description="image of the server; empty means cluster.vllm_image")
    gpus: int = Field(1, ge=1, description="GPUs of the server; also its tensor parallelism")
    max_length: int = Field(8_192, ge=512, description="longest prompt plus reply, in tokens")
    arguments: tuple[str, ...] = Field((), description="further arguments of `vllm serve`, after the standard ones")
    node_selector: dict[str, str] | None = Field(None, description="node pool; empty means cluster.gpu_node_selector")
    cpu: str = Field("4", description="CPU request of the server")
    memory: str = Field("48Gi", description="memory request and limit of the server")
    shared_memory: str = Field("8Gi", description="size of /dev/shm; counts against the server's memory")
    gpu_memory_share: float = Field(0.92, gt=0, le=1, description="share of GPU memory that the server may take")
    startup_seconds: int = Field(1_800, ge=60, description="time for download, load and warm-up before it is restarted")
    port: int = Field(8_000, ge=1_024, le=65_535, description="loopback port of the server")


#: Roles whose model is served in the pod of the step that asks. The agents' roles share the extractor's model: their
#: calls are few, and a hosted endpoint is the better choice for them where one may be used.
ROLE_MODELS: dict[str, ModelSpec] = {
    "extractor": ModelSpec(
        model="google/gemma-4-31B-it",
        gpus=2,
        max_length=8_192,
        memory="96Gi",
        # Papers are read as text: no memory is set aside for images.
        arguments=("--limit-mm-per-prompt", '{"image": 0, "audio": 0}'),
    ),
    "judge": ModelSpec(
        model="Qwen/Qwen3.5-9B",
        max_length=8_192,
        # Replies are short and follow a schema: thinking aloud would use up their tokens.
        arguments=("--default-chat-template-kwargs", '{"enable_thinking": false}'),
    ),
    "tagger": ModelSpec(model="openai/gpt-oss-20b", max_length=8_192),
    "teacher": ModelSpec(model="openai/gpt-oss-120b", max_length=8_192, memory="96Gi"),
    "embedder": ModelSpec(
        model="Qwen/Qwen3-Embedding-4B",
        max_length=4_096,
        arguments=("--runner", "pooling", "--hf-overrides", '{"is_matryoshka": true}'),
    ),
    "ocr": ModelSpec(
        model="rednote-hilab/dots.ocr",
        max_length=24_576,
        # The model brings its own code, and its chat template takes plain strings.
        arguments=("--chat-template-content-format", "string", "--trust-remote-code"),
    ),
}
_SAME_AS_EXTRACTOR = ("proposer", "validator", "investigator")
ROLE_MODELS.update(dict.fromkeys(_SAME_AS_EXTRACTOR, ROLE_MODELS["extractor"]))


_ARGUMENTS = {spec.model: spec.arguments for spec in ROLE_MODELS.values()}
#: Roles that hold no conversation: the default chat endpoint says nothing about them.
_OWN_ENDPOINT_ONLY = frozenset({"embedder", "ocr"})


def endpoint_of(role: str, settings: Settings) -> Endpoint:
    """Where a deployment says that ``role`` is answered; ``base_url`` is empty when a server of ours has to do it."""
    if role in _OWN_ENDPOINT_ONLY:
        own: Endpoint = getattr(settings.llm, role)
        return own
    return settings.llm.for_role(role)


def model_of(role: str, settings: Settings) -> ModelSpec:
    """The spec of ``role`` with the deployment's choices applied; ``ValueError`` names the roles there are."""
    if role not in ROLE_MODELS:
        raise ValueError(f"no model serves the role {role!r}: choose one of {', '.join(sorted(ROLE_MODELS))}")
    spec = ROLE_MODELS[role]
    changes: dict[str, object] = {
        "image": spec.image or settings.cluster.vllm_image,
        "node_selector": spec.node_selector or settings.cluster.gpu_node_selector,
    }
    named = endpoint_of(role, settings).model
    if named is not None and named != spec.model:
        # Flags go with the model: those of the role's default may not suit another one.
        changes |= {"model": named, "arguments": _ARGUMENTS.get(named, ())}
    if settings.cluster.gpus is not None:
        changes["gpus"] = settings.cluster.gpus
    return spec.model_copy(update=changes)
