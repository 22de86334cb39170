"""OBO 1.2/1.4 flat files: ChEBI, Uberon, Cell Ontology, Sequence Ontology, HGNC gene groups, Pfam, HPO and others.

Format: https://owlcollab.github.io/oboformat/doc/GO.format.obo-1_2.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from starling_assets.ontology.readers.opening import BadRelease, lines

_SYNONYM = re.compile(r'"((?:[^"\\]|\\.)*)"\s*(\w+)?\s*([^\s\[]+)?')
_ESCAPE = re.compile(r"\\(.)")
_PROPERTY = re.compile(r'(\S+)\s+(?:"((?:[^"\\]|\\.)*)"|(\S+))')

_STRUCTURE = {"SMILES": "smiles", "InChIKey": "inchikey", "smiles": "smiles", "inchikey": "inchikey"}
_SKIPPED_TYPES = {"InChI", "FORMULA", "FORMULA:", "MASS", "CHARGE"}


@dataclass
class Term:
    """One ``[Term]`` stanza. ``synonyms``: (text, scope, type)."""

    id: str = ""
    name: str = ""
    namespace: str = ""
    obsolete: bool = False
    replaced_by: str | None = None
    alt_ids: list[str] = field(default_factory=list)
    synonyms: list[tuple[str, str, str]] = field(default_factory=list)
    is_a: list[str] = field(default_factory=list)
    part_of: list[str] = field(default_factory=list)
    xrefs: list[str] = field(default_factory=list)
    smiles: str | None = None
    inchikey: str | None = None


def read_terms(path: Path) -> Iterator[Term]:
    """All terms of a file in its order. Raises :class:`BadRelease` when it holds none."""
    found = False
    for stanza in stanzas(path):
        if stanza[0] == "[Term]":
            found = True
            yield parse_term(stanza)
    if not found:
        raise BadRelease(f"{path} holds no [Term]: it is not an OBO file, or it is cut short. Download it again.")


def stanzas(path: Path) -> Iterator[list[str]]:
    """Groups of lines, each starting with its ``[Kind]`` line; the header comes first, starting with ``""``."""
    current = [""]
    for line in lines(path):
        if line.startswith("[") and line.endswith("]"):
            yield current
            current = [line]
        elif line:
            current.append(line)
    yield current


def parse_term(stanza: list[str]) -> Term:
    """One stanza as a :class:`Term`."""
    term = Term()
    for line in stanza[1:]:
        tag, _, value = line.partition(": ")
        _TAGS.get(tag, _ignore)(term, value.strip())
    return term


def _identifier(value: str) -> str:
    return value.split(" ", 1)[0].split("{", 1)[0]


def _ignore(term: Term, value: str) -> None:
    """Tags that carry nothing for this room."""


def _set_id(term: Term, value: str) -> None:
    term.id = _identifier(value)


def _set_name(term: Term, value: str) -> None:
    term.name = _unescape(value)


def _set_namespace(term: Term, value: str) -> None:
    term.namespace = value


def _set_obsolete(term: Term, value: str) -> None:
    term.obsolete = value.startswith("true")


def _set_replaced(term: Term, value: str) -> None:
    term.replaced_by = term.replaced_by or _identifier(value)


def _add_alt(term: Term, value: str) -> None:
    term.alt_ids.append(_identifier(value))


def _add_parent(term: Term, value: str) -> None:
    term.is_a.append(_identifier(value))


def _add_xref(term: Term, value: str) -> None:
    term.xrefs.append(_identifier(value))


def _add_relationship(term: Term, value: str) -> None:
    relation, _, target = value.partition(" ")
    if relation in {"part_of", "BFO:0000050"}:
        term.part_of.append(_identifier(target))


def _add_synonym(term: Term, value: str) -> None:
    match = _SYNONYM.match(value)
    if not match:
        return
    text, scope, kind = _unescape(match.group(1)), match.group(2) or "RELATED", match.group(3) or ""
    if kind in _STRUCTURE:
        _set_structure(term, kind, text)
    elif kind not in _SKIPPED_TYPES:
        term.synonyms.append((text, scope, kind))


def _add_property(term: Term, value: str) -> None:
    # Newer ChEBI releases state structures as properties, not as synonyms.
    match = _PROPERTY.match(value)
    if match:
        kind = match.group(1).rpartition("/")[2].rpartition(":")[2]
        _set_structure(term, kind, _unescape(match.group(2) or match.group(3) or ""))


def _set_structure(term: Term, kind: str, text: str) -> None:
    slot = _STRUCTURE.get(kind)
    if slot == "smiles":
        term.smiles = term.smiles or text
    elif slot == "inchikey":
        term.inchikey = term.inchikey or text.removeprefix("InChIKey=")


def _unescape(value: str) -> str:
    return _ESCAPE.sub(lambda match: {"n": " ", "t": " ", "W": " "}.get(match.group(1), match.group(1)), value)


_TAGS = {
    "id": _set_id,
    "name": _set_name,
    "namespace": _set_namespace,
    "is_obsolete": _set_obsolete,
    "replaced_by": _set_replaced,
    "alt_id": _add_alt,
    "is_a": _add_parent,
    "relationship": _add_relationship,
    "synonym": _add_synonym,
    "xref": _add_xref,
    "property_value": _add_property,
}
