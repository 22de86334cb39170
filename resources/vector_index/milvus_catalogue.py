"""Which generation of which shard is served: a small collection beside the vectors, read with strong consistency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starling_assets.artifacts.keys import content_key

from .milvus_door import MilvusDoor

NAME = "starling_catalogue"
_ACTIVE = "active"
_LOADING = "loading"
_FIELDS = ["kind", "model", "shard", "generation", "rows_loaded", "dimension"]
_PAGE = 16_384


@dataclass(frozen=True)
class ShardEntry:
    """A shard's vectors of one model: the generation in use, how many, how long."""

    model: str
    shard: str
    generation: int
    rows: int
    dimension: int


class Catalogue:
    """One row per model and shard, and one that names the active model. A row is replaced in one step."""

    def __init__(self, door: MilvusDoor) -> None:
        self._door = door
        self._made = False

    def all_entries(self) -> list[ShardEntry]:
        """Every shard of every model."""
        return [
            ShardEntry(
                row["model"], row["shard"], int(row["generation"]), int(row["rows_loaded"]), int(row["dimension"])
            )
            for row in self._rows()
            if row["kind"] == "shard"
        ]

    def entries(self, model: str) -> dict[str, ShardEntry]:
        """The shards of one model, by name."""
        return {entry.shard: entry for entry in self.all_entries() if entry.model == model}

    def active(self) -> str | None:
        """The model that is served; None before the first load."""
        return next((str(row["model"]) for row in self._rows() if row["kind"] == _ACTIVE), None)

    def put(self, entry: ShardEntry) -> None:
        """Serve this generation from now on."""
        self._upsert(_key(entry), "shard", entry.model, entry.shard, entry.generation, entry.rows, entry.dimension)

    def activate(self, model: str) -> None:
        """Serve this model from now on."""
        self._upsert(_ACTIVE, _ACTIVE, model, "", 0, 0, 0)

    def remove(self, entry: ShardEntry) -> None:
        """Serve this shard no more."""
        self._make()
        self._door.call("forget a shard", lambda client: client.delete(NAME, ids=[_key(entry)]))

    def begin(self, entry: ShardEntry, started: int) -> None:
        """Put down that rows of this generation are about to be written; ``started``: seconds of the epoch."""
        self._upsert(_load_key(entry), _LOADING, entry.model, entry.shard, entry.generation, started, entry.dimension)

    def end(self, entry: ShardEntry) -> None:
        """The load of this generation is over, or what it left has been deleted."""
        self._make()
        self._door.call("end a load", lambda client: client.delete(NAME, ids=[_load_key(entry)]))

    def begun_before(self, moment: int) -> list[ShardEntry]:
        """Loads that began before ``moment`` and never ended: a kill left their rows, which nothing serves."""
        return [
            ShardEntry(row["model"], row["shard"], int(row["generation"]), 0, int(row["dimension"]))
            for row in self._rows()
            if row["kind"] == _LOADING and int(row["rows_loaded"]) < moment
        ]

    def _rows(self) -> list[dict[str, Any]]:
        self._make()
        rows: list[dict[str, Any]] = []
        last = ""
        while True:
            page = self._page(last)
            rows.extend(page)
            if len(page) < _PAGE:
                return rows
            last = max(str(row["key"]) for row in page)

    def _page(self, after: str) -> list[dict[str, Any]]:
        rows = self._door.call(
            "read the catalogue",
            lambda client: client.query(
                NAME,
                filter=f'key > "{after}"',
                output_fields=["key", *_FIELDS],
                limit=_PAGE,
                consistency_level="Strong",
            ),
            reads=NAME,
        )
        return list(rows)

    def _upsert(self, key: str, *values: Any) -> None:
        self._make()
        row = {"key": key, "unused": [0.0, 1.0], **dict(zip(_FIELDS, values, strict=True))}
        self._door.call("update the catalogue", lambda client: client.upsert(NAME, [row]))

    def _make(self) -> None:
        if not self._made:
            if not self._door.call("look for the catalogue", lambda client: client.has_collection(NAME)):
                self._door.call("create the catalogue", _create)
            self._made = True


def _key(entry: ShardEntry) -> str:
    return content_key(entry.model, entry.shard)


def _load_key(entry: ShardEntry) -> str:
    return f"load-{entry.generation:016x}"


def _create(client: Any) -> None:
    from pymilvus import DataType

    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("key", DataType.VARCHAR, is_primary=True, max_length=64)
    schema.add_field("kind", DataType.VARCHAR, max_length=16)
    schema.add_field("model", DataType.VARCHAR, max_length=1_024)
    schema.add_field("shard", DataType.VARCHAR, max_length=4_096)
    schema.add_field("generation", DataType.INT64)
    schema.add_field("rows_loaded", DataType.INT64)
    schema.add_field("dimension", DataType.INT64)
    schema.add_field("unused", DataType.FLOAT_VECTOR, dim=2)  # a collection must have a vector
    index = client.prepare_index_params()
    index.add_index("unused", index_type="FLAT", metric_type="IP")
    client.create_collection(NAME, schema=schema, index_params=index, consistency_level="Strong")
