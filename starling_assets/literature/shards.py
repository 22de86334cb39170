"""Shards on disk: closed batches of source files with a manifest.

``<home>/shards/<key>/files/…`` holds the bytes, ``manifest.json`` their names and checksums. The manifest is written
last and never changed: a folder without one is an interrupted closing and is cleared by the next.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from datetime import date
from hashlib import sha256
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from starling_assets.artifacts.files import StoreError, write_text
from starling_assets.artifacts.keys import content_key, key_of_name, safe_name
from starling_assets.artifacts.locks import partition_lock

from .sources import SourceFile

_PUBMED_FILE = re.compile(r"^(pubmed\d{2}n\d{4})\.xml(\.gz)?$")


class ShardFile(BaseModel):
    """One source file of a shard: the name it arrived under, its name on disk and its checksum."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    stored: str
    sha256: str
    bytes: int


class Shard(BaseModel):
    """A closed shard. ``order`` counts the shards closed before it: later versions of papers lie in later shards."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    order: int
    digest: str
    files: tuple[ShardFile, ...]


class ShardBook:
    """All shards under one home folder."""

    def __init__(self, home: Path) -> None:
        self.root = home / "shards"

    def keys(self) -> list[str]:
        """Keys of the closed shards, sorted."""
        return sorted(key_of_name(path.parent.name) for path in self.root.glob("*/manifest.json"))

    def in_order(self) -> list[str]:
        """Keys of the closed shards in the order in which they were closed."""
        return sorted(self.keys(), key=lambda key: self.shard(key).order)

    def shard(self, key: str) -> Shard:
        """Manifest of one shard. Raises StoreError when there is none."""
        path = self._folder(key) / "manifest.json"
        try:
            return Shard.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            raise StoreError(f"there is no shard {key!r}; `starling status` lists the shards") from None

    def sources(self, key: str) -> list[SourceFile]:
        """The shard's files for the readers."""
        folder = self._folder(key) / "files"
        return [SourceFile(folder / file.stored, file.name, file.sha256) for file in self.shard(key).files]

    def known(self) -> dict[str, str]:
        """Checksum of every file taken so far -> shard key."""
        return {file.sha256: key for key in self.keys() for file in self.shard(key).files}

    def close(self, files: Iterable[Path], key: str | None = None, today: date | None = None) -> list[Shard]:
        """Close ``files`` that are new (by content) into shards; returns the new shards, none when nothing is new.

        A PubMed file becomes a shard of its own, named after it (a re-issue gets ``~2``, ``~3`` …); the rest becomes
        one drop shard ``drop-<date>-<number>`` unless ``key`` names it.
        """
        with partition_lock(self.root, "the list of shards"):
            fresh = self._fresh(files)
            if not fresh:
                return []
            if key is not None:
                return [self._write(self._free_key(key), fresh)]
            issues = [(path, digest) for path, digest in fresh if _PUBMED_FILE.match(path.name)]
            rest = [item for item in fresh if item not in issues]
            closed = [self._write(self._free_key(pubmed_key(path.name)), [(path, digest)]) for path, digest in issues]
            if rest:
                closed.append(self._write(self._drop_key(today or date.today()), rest))  # noqa: DTZ011 - a local name
            return closed

    def _fresh(self, files: Iterable[Path]) -> list[tuple[Path, str]]:
        known = set(self.known())
        fresh: list[tuple[Path, str]] = []
        for path in sorted(files):
            digest = file_sha256(path)
            if digest not in known:
                known.add(digest)
                fresh.append((path, digest))
        return fresh

    def _folder(self, key: str) -> Path:
        return self.root / safe_name(key)

    def _free_key(self, key: str) -> str:
        taken = set(self.keys())
        if key not in taken:
            return key
        number = 2
        while f"{key}~{number}" in taken:
            number += 1
        return f"{key}~{number}"

    def _drop_key(self, today: date) -> str:
        taken = set(self.keys())
        number = 1
        while f"drop-{today.isoformat()}-{number:03d}" in taken:
            number += 1
        return f"drop-{today.isoformat()}-{number:03d}"

    def _write(self, key: str, files: Sequence[tuple[Path, str]]) -> Shard:
        folder = self._folder(key)
        shutil.rmtree(folder, ignore_errors=True)  # an interrupted closing left no manifest
        target = folder / "files"
        try:
            target.mkdir(parents=True)
            stored = []
            for number, (path, digest) in enumerate(files):
                name = f"{number:05d}-{safe_name(path.name)[-150:]}"
                shutil.copyfile(path, target / name)
                if file_sha256(target / name) != digest:
                    raise StoreError(f"{path} changed while it was copied; it is taken once it is complete")
                stored.append(ShardFile(name=path.name, stored=name, sha256=digest, bytes=path.stat().st_size))
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise StoreError(f"cannot close shard {key} in {folder}: {error.strerror or error}") from error
        shard = Shard(
            key=key, order=len(self.keys()), digest=content_key([file.sha256 for file in stored]), files=tuple(stored)
        )
        write_text(folder / "manifest.json", shard.model_dump_json(indent=1) + "\n")
        return shard


def pubmed_key(name: str) -> str:
    """Shard key of a PubMed baseline or update file: its name without the suffixes."""
    match = _PUBMED_FILE.match(name)
    return match.group(1) if match else safe_name(name)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, read in blocks."""
    digest = sha256()
    with path.open("rb") as handle:
        while block := handle.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
