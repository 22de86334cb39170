"""Content keys and safe file names for partition keys."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, unquote

_KEY_BYTES = 16
#: Percent-encoding never leaves a bare sign, so no other key has this name.
_EMPTY = "%"


def sha256_hex(data: bytes) -> str:
    """Full SHA-256 of ``data`` as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def content_key(*parts: Any) -> str:
    """A 128-bit hexadecimal key of JSON-serialisable ``parts``; equal parts give equal keys anywhere."""
    canonical = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(canonical.encode("utf-8"), digest_size=_KEY_BYTES).hexdigest()


def joined_key(keys: Iterable[str]) -> str:
    """Key of an ordered sequence of keys (a window's key is the joined key of its members' block keys)."""
    digest = hashlib.blake2b(digest_size=_KEY_BYTES)
    for key in keys:
        digest.update(key.encode("utf-8"))
        digest.update(b"\x00")
    return digest.hexdigest()


def safe_name(key: str) -> str:
    """Reversible file name of a partition key: percent-encoded, never ``.``, ``..`` or empty."""
    name = quote(key, safe="-_.")
    if name in {"", ".", ".."} or name.startswith("."):
        name = name.replace(".", "%2E") or _EMPTY
    return name


def key_of_name(name: str) -> str:
    """Inverse of :func:`safe_name`."""
    return "" if name == _EMPTY else unquote(name)
