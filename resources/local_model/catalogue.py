"""The models that can be had without an account: where each comes from, and the hash its file must have."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One GGUF file. ``hub`` is empty where no official repository serves this very file.

    ``group`` is the dependency group of ``pyproject.toml`` whose packages carry the parts; the lock file pins each
    package by hash, and ``sha256`` pins the whole whatever its source.
    """

    name: str
    file_name: str
    sha256: str
    size: int
    group: str
    hub: str = ""

    @property
    def hub_url(self) -> str:
        """Address of the file in its publisher's repository."""
        return f"https://huggingface.co/{self.hub}" if self.hub else ""


MODELS: dict[str, ModelFile] = {
    model.name: model
    for model in (
        ModelFile(
            name="qwen2.5-coder-1.5b",
            file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            size=1_117_320_768,
            group="weights",
            hub="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        ),
        ModelFile(
            name="qwen2.5-coder-0.5b",
            file_name="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            size=491_400_064,
            group="weights-small",
            hub="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        ),
        ModelFile(
            name="smollm2-135m",
            file_name="smollm2-135m-instruct-q4_1.gguf",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            size=98_362_432,
            group="weights-tiny",
        ),
    )
}
