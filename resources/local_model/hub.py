"""The publisher's own copy of a model file, by HTTP, resumed by byte range."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .catalogue import ModelFile

if TYPE_CHECKING:
    import httpx

#: A hub that does not answer within this many seconds is not waited for.
ANSWER_SECONDS = 3.0
CHUNK = 1 << 20


def fetch_from_hub(model: ModelFile, partial: Path, report: Callable[[int, int, str], None]) -> None:
    """Write the hub's file to ``partial``, after what is there already.

    Raises :class:`LookupError` when the hub has no such file or does not answer, :class:`RuntimeError` when the
    download breaks off (what came stays for the next try), and :class:`OSError` when the disk refuses it.
    """
    # The definitions import this module; only a download needs an HTTP client.
    import httpx

    if not model.hub_url:
        raise LookupError("no official repository serves this file")
    have = partial.stat().st_size if partial.is_file() else 0
    if have > model.size:
        partial.unlink()
        have = 0
    if have == model.size:
        return
    headers = {"Range": f"bytes={have}-"} if have else {}
    timeout = httpx.Timeout(30.0, connect=ANSWER_SECONDS)
    try:
        with httpx.Client(timeout=timeout, follow_redirects=True) as client:
            client.head(model.hub_url, timeout=ANSWER_SECONDS).raise_for_status()
            with client.stream("GET", model.hub_url, headers=headers) as response:
                response.raise_for_status()
                resumed = response.status_code == httpx.codes.PARTIAL_CONTENT
                _append(response, partial, have if resumed else 0, model, report)
    except httpx.HTTPStatusError as error:
        raise LookupError(f"it answered {error.response.status_code}") from error
    except httpx.HTTPError as error:
        raise RuntimeError(f"no answer ({type(error).__name__})") from error


def _append(
    response: httpx.Response, partial: Path, have: int, model: ModelFile, report: Callable[[int, int, str], None]
) -> None:
    with partial.open("r+b" if have else "wb") as handle:
        handle.seek(have)
        handle.truncate()
        for block in response.iter_bytes(CHUNK):
            have += len(block)
            if have > model.size:
                raise RuntimeError("it sent more bytes than the model has")
            handle.write(block)
            report(have, model.size, "downloading from the hub")
