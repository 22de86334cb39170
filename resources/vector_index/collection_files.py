"""Vectors on disk: one folder per embedding model and shard, memory-mapped, replaced atomically.

``<root>/<model>/<shard>/current.json`` names the generation in use, a folder with ``vectors.faiss`` (a flat index) and
``ordinals.u32``. ``<root>/active.json`` names the model whose collection is served: another model's vectors are built
beside it and take over once they cover every shard.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from starling_assets.artifacts.files import StoreError, write_bytes
from starling_assets.artifacts.keys import key_of_name, safe_name


@dataclass(frozen=True)
class ShardVectors:
    """An opened shard: sorted ordinals uint32 (n,), vectors float32 (n, d) and the FAISS index over the same memory."""

    generation: str
    ordinals: np.ndarray
    vectors: np.ndarray
    faiss_index: Any

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self.vectors.shape[1])


def active_model(root: Path) -> str | None:
    """The model whose vectors are served; None before the first load."""
    path = root / "active.json"
    return str(orjson.loads(path.read_bytes())["model"]) if path.is_file() else None


def shards_of(root: Path, model: str) -> list[str]:
    """Loaded shards of one model's collection, sorted."""
    return sorted(key_of_name(path.parent.name) for path in (root / safe_name(model)).glob("*/current.json"))


def write_vectors(root: Path, shard: str, model: str, ordinals: np.ndarray, vectors: np.ndarray) -> None:
    """Replace a shard's vectors. ``ordinals`` distinct uint32 (n,), ``vectors`` float32 (n, d)."""
    import faiss

    folder = root / safe_name(model) / safe_name(shard)
    order = np.argsort(ordinals, kind="stable")
    ordinals = np.ascontiguousarray(ordinals[order], dtype=np.uint32)
    vectors = np.ascontiguousarray(vectors[order], dtype=np.float32)
    name = "gen-" + hashlib.blake2b(ordinals.tobytes() + vectors.tobytes(), digest_size=12).hexdigest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / name).is_dir():
            work = Path(tempfile.mkdtemp(dir=folder, prefix=".gen-"))
            index = faiss.IndexFlatIP(vectors.shape[1])
            if len(vectors):
                index.add(vectors)
            faiss.write_index(index, str(work / "vectors.faiss"))
            (work / "ordinals.u32").write_bytes(ordinals.tobytes())
            for path in work.iterdir():
                _sync(path)
            os.replace(work, folder / name)
    except (OSError, RuntimeError) as error:
        # FAISS reports a failed write as RuntimeError.
        for leftover in folder.glob(".gen-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        raise StoreError(f"cannot write vectors in {folder}: {error}. The old shard stays.") from error
    pointer = {"generation": name, "model": model, "vectors": len(ordinals), "dimension": int(vectors.shape[1])}
    write_bytes(folder / "current.json", orjson.dumps(pointer, option=orjson.OPT_SORT_KEYS))
    for old in folder.iterdir():
        if old.is_dir() and old.name != name:
            shutil.rmtree(old, ignore_errors=True)


def activate(root: Path, model: str) -> None:
    """Serve this model's vectors from now on."""
    write_bytes(root / "active.json", orjson.dumps({"model": model}))


def current_generation(root: Path, shard: str, model: str) -> str | None:
    """Name of the generation in use; None when the shard is not loaded."""
    path = root / safe_name(model) / safe_name(shard) / "current.json"
    return str(orjson.loads(path.read_bytes())["generation"]) if path.is_file() else None


def open_vectors(root: Path, shard: str, model: str, generation: str) -> ShardVectors:
    """Map a generation's files; nothing is read until it is searched."""
    import faiss

    folder = root / safe_name(model) / safe_name(shard) / generation
    ordinals = np.frombuffer((folder / "ordinals.u32").read_bytes(), dtype=np.uint32)
    index: Any = faiss.read_index(str(folder / "vectors.faiss"), faiss.IO_FLAG_MMAP_IFC)
    if index.ntotal:
        vectors = faiss.rev_swig_ptr(index.get_xb(), index.ntotal * index.d).reshape(index.ntotal, index.d)
    else:
        vectors = np.zeros((0, index.d), dtype=np.float32)
    return ShardVectors(generation, ordinals, vectors, index)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
