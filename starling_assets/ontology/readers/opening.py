"""Opens vocabulary files, compressed or not, and reports a damaged one in one line."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


class BadRelease(Exception):
    """A vocabulary file is missing, damaged or of another format; the message names the file and what to do."""


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """``path`` as UTF-8 text; ``.gz`` is decompressed. A leading byte-order mark is dropped."""
    try:
        # Either handle is closed by the statement below.
        binary = gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # noqa: SIM115
        with binary, io.TextIOWrapper(binary, encoding="utf-8-sig", newline="") as text:
            yield text
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise BadRelease(f"{path} cannot be read: {error}. Download that vocabulary file again.") from error


def lines(path: Path) -> Iterator[str]:
    """Lines without their line ends."""
    with open_text(path) as text:
        for line in text:
            yield line.rstrip("\r\n")


def tab_rows(path: Path, columns: list[str] | None = None) -> Iterator[dict[str, str]]:
    """Rows of an unquoted tab-separated file. ``columns`` None: the first line names them."""
    rows = lines(path)
    header = columns
    if header is None:
        first = next(rows, None)
        if first is None:
            raise BadRelease(f"{path} is empty. Download that vocabulary file again.")
        header = first.split("\t")
    for line in rows:
        if line:
            values = line.split("\t")
            yield dict(zip(header, values + [""] * (len(header) - len(values)), strict=False))


def csv_rows(path: Path) -> Iterator[dict[str, str]]:
    """Rows of a quoted comma-separated file with a header."""
    with open_text(path) as text:
        yield from csv.DictReader(text)


def need(path: Path, row: dict[str, str], *columns: str) -> None:
    """Raise :class:`BadRelease` when a column of the expected format is missing."""
    missing = [column for column in columns if column not in row]
    if missing:
        raise BadRelease(f"{path}: the columns {missing} are missing; this is not the expected vocabulary file.")
