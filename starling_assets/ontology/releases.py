"""Imports one vocabulary release from a folder of files, in the formats their publishers use."""

from __future__ import annotations

import hashlib
from pathlib import Path

from starling_assets.ontology.catalogue import RELEASES, ReleaseSpec
from starling_assets.ontology.readers.opening import BadRelease
from starling_assets.ontology.rows import Release, Rows

__all__ = [
    "RELEASES", "BadRelease", "Release", "ReleaseSpec", "bundled_dir", "import_release", "releases_in",
]  # fmt: skip

_BUNDLED = Path(__file__).resolve().parents[2] / "examples" / "ontologies"


def bundled_dir() -> Path:
    """The small open subset in the checkout. Raises :class:`BadRelease` when this is not a checkout."""
    if not _BUNDLED.is_dir():
        raise BadRelease(
            f"the bundled vocabularies are not at {_BUNDLED}. Run from a checkout of the repository, or set "
            "tagging.lexicon_dir to a folder of vocabulary releases."
        )
    return _BUNDLED


def releases_in(folder: Path) -> list[str]:
    """Names of the vocabularies whose files are in ``folder`` or its sub-folders, in the catalogue's order."""
    found = _listing(folder)
    return [name for name, spec in RELEASES.items() if not _missing(spec, found)]


def import_release(name: str, source_dir: Path) -> Release:
    """Read the vocabulary ``name`` from ``source_dir``.

    Raises :class:`BadRelease` for an unknown name, missing files, or files that cannot be read.
    """
    spec = RELEASES.get(name)
    if spec is None:
        raise BadRelease(f"{name} is not a vocabulary of Starling. Known: {', '.join(RELEASES)}.")
    found = _listing(source_dir)
    missing = _missing(spec, found)
    if missing:
        raise BadRelease(
            f"{name}: no file in {source_dir} matches {' or '.join(missing)}. Download it from {spec.homepage}."
        )
    files = {
        role.removesuffix("?"): path
        for role, patterns in spec.files.items()
        if (path := _first(patterns, found)) is not None
    }
    rows = Rows(name)
    spec.read(rows, files)
    return rows.release(_version(files), spec.licence, spec.attribution)


def _listing(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise BadRelease(f"{folder} is not a folder. Set tagging.lexicon_dir to a folder of vocabulary releases.")
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _missing(spec: ReleaseSpec, found: list[Path]) -> list[str]:
    needed = [patterns for role, patterns in spec.files.items() if not role.endswith("?")]
    absent = [" / ".join(patterns) for patterns in needed if _first(patterns, found) is None]
    if not needed and all(_first(patterns, found) is None for patterns in spec.files.values()):
        # Alternatives of which one is enough.
        absent = [" / ".join(patterns) for patterns in spec.files.values()]
    return absent


def _first(patterns: tuple[str, ...], found: list[Path]) -> Path | None:
    for pattern in patterns:
        for path in found:
            if path.match(pattern):
                return path
    return None


def _version(files: dict[str, Path]) -> str:
    """Name and content of the files: what the vocabulary states itself differs from format to format."""
    digest = hashlib.sha256()
    for role in sorted(files):
        digest.update(files[role].read_bytes())
    stems = "+".join(sorted(path.name.split(".gz")[0].rsplit(".", 1)[0] for path in files.values()))
    return f"{stems}@{digest.hexdigest()[:12]}"
