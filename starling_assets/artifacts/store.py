"""The artifact store: one Parquet table per asset, partition and table name.

Layout: ``<root>/<asset>/<partition key>[/<partition key>]/<table>.parquet``. That table is the record;
indexes and warehouses are rebuilt from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from .files import StoreError, write_atomically
from .keys import key_of_name, safe_name

Schema = dict[str, pl.DataType | type[pl.DataType]]


class MissingPartition(StoreError):
    """A table that a step needs has not been made yet."""


@dataclass(frozen=True)
class Store:
    """Tables of all partitions under one ``root`` folder."""

    root: Path

    def folder(self, asset: str, *keys: str) -> Path:
        """Folder of one partition (not created). For journals and index files beside the tables."""
        return self.root.joinpath(safe_name(asset), *(safe_name(key) for key in keys))

    def path(self, asset: str, *keys: str, table: str = "data") -> Path:
        """Path of one table of one partition."""
        return self.folder(asset, *keys) / f"{table}.parquet"

    def exists(self, asset: str, *keys: str, table: str = "data") -> bool:
        """Whether that table has been written."""
        return self.path(asset, *keys, table=table).is_file()

    def write(
        self, frame: pl.DataFrame, asset: str, *keys: str, table: str = "data", schema: Schema | None = None
    ) -> Path:
        """Write one table atomically and return its path.

        With ``schema`` the frame's columns are selected in that order and cast; a missing column is an error.
        The same frame always gives the same bytes (zstd, one row group per 64k rows, no statistics of time).
        """
        path = self.path(asset, *keys, table=table)
        if schema is not None:
            frame = conform(frame, schema, where=str(path))
        write_atomically(
            path,
            lambda handle: frame.write_parquet(handle, compression="zstd", row_group_size=65_536, statistics=True),
        )
        return path

    def read(self, asset: str, *keys: str, table: str = "data", columns: list[str] | None = None) -> pl.DataFrame:
        """Read one table. Raises :class:`MissingPartition` naming the asset to materialise first."""
        path = self.path(asset, *keys, table=table)
        if not path.is_file():
            partition = "|".join(keys) or "(unpartitioned)"
            raise MissingPartition(
                f"{asset} of partition {partition} has not been made yet: materialise it first ({path})"
            )
        return pl.read_parquet(path, columns=columns)

    def partitions(self, asset: str, table: str = "data") -> Iterator[tuple[str, ...]]:
        """Partition keys, sorted, for which ``table`` exists."""
        base = self.folder(asset)
        for path in sorted(base.rglob(f"{table}.parquet")):
            yield tuple(key_of_name(part) for part in path.parent.relative_to(base).parts)


def conform(frame: pl.DataFrame, schema: Schema, where: str = "table") -> pl.DataFrame:
    """Columns of ``frame`` in the order and with the types of ``schema``; raises StoreError on a missing column."""
    missing = [name for name in schema if name not in frame.columns]
    if missing:
        raise StoreError(f"{where}: columns {missing} are missing")
    return frame.select(pl.col(name).cast(dtype) for name, dtype in schema.items())


def empty(schema: Schema) -> pl.DataFrame:
    """A frame of ``schema`` without rows."""
    return pl.DataFrame(schema=schema)
