"""Asset and check specs of the marts, read from dbt's manifest.

dagster-dbt would make the same from the manifest, but importing it imports dbt, which is more than half of the time a
code location takes to load. So the specs are read here, and dagster-dbt is imported by the step that runs dbt.
`tests/dbt/test_mart_specs.py` holds the two against each other.

Manifest format: https://schemas.getdbt.com/dbt/manifest/v12.json
"""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

import dagster as dg

GROUP = "marts"
Node = Mapping[str, Any]


def mart_specs(manifest: Mapping[str, Any]) -> list[dg.AssetSpec]:
    """One spec per model, in order of its name; sources keep the asset key that their `meta` states."""
    adapter = str(manifest["metadata"]["adapter_type"])
    return [
        dg.AssetSpec(
            key=asset_key(node),
            deps=[asset_key(parent) for parent in parents(manifest, node)],
            description=f"{node['description']}\n\n```sql\n{node['raw_code'].strip()}\n```",
            group_name=GROUP,
            kinds={"dbt", adapter},
            code_version=sha256(node["raw_code"].encode()).hexdigest()[:16],
            skippable=True,
            metadata={
                "dagster/column_schema": column_schema(node),
                "dagster/table_name": ".".join(
                    part for part in (node.get("database"), node.get("schema"), node.get("alias")) if part
                ),
                "materialized": str(node["config"]["materialized"]),
            },
        )
        for node in sorted(models(manifest), key=lambda node: str(node["name"]))
    ]


def mart_checks(manifest: Mapping[str, Any]) -> list[dg.AssetCheckSpec]:
    """One check per dbt test that is attached to a model; a failed test of severity `error` blocks what follows."""
    return [
        dg.AssetCheckSpec(
            name=test["name"],
            asset=asset_key(model),
            additional_deps=[asset_key(node) for node in parents(manifest, test) if node != model],
            blocking=str(test["config"].get("severity") or "error").lower() == "error",
            description=test.get("description") or None,
        )
        for test, model in sorted(attached(manifest), key=lambda pair: str(pair[0]["name"]))
    ]


def models(manifest: Mapping[str, Any]) -> Iterator[Node]:
    """The nodes that become tables or views."""
    return (node for node in manifest["nodes"].values() if node["resource_type"] == "model")


def attached(manifest: Mapping[str, Any]) -> Iterator[tuple[Node, Node]]:
    """(test, model) of every test that names its model, or reads only one."""
    for test in manifest["nodes"].values():
        if test["resource_type"] != "test":
            continue
        read = parents(manifest, test)
        named = manifest["nodes"].get(test.get("attached_node"))
        model = read[0] if len(read) == 1 else named
        if model is not None and model["resource_type"] == "model":
            yield test, model


def parents(manifest: Mapping[str, Any], node: Node) -> list[Node]:
    """The models and sources that a node reads, in the manifest's order."""
    found = (manifest["nodes"].get(name) or manifest["sources"].get(name) for name in node["depends_on"]["nodes"])
    return [parent for parent in found if parent is not None]


def asset_key(node: Node) -> dg.AssetKey:
    """A model is named after itself, without a schema prefix."""
    stated = node.get("meta", {}).get("dagster", {}).get("asset_key")
    return dg.AssetKey(stated or node["name"])


def column_schema(node: Node) -> dg.TableSchema:
    """The described columns; types are known to the database only."""
    columns = [
        dg.TableColumn(name=column["name"], type=column.get("data_type") or "?", description=column["description"])
        for column in node["columns"].values()
    ]
    return dg.TableSchema(columns=columns)
