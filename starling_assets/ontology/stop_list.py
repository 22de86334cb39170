"""The stop list: names a vocabulary holds that running text nearly always uses in another sense."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from starling_assets.ontology.folding import fold

_ITEM = re.compile(r'"([^"]+)"|(\S+)')


@dataclass(frozen=True)
class StopList:
    """``everywhere``: folded names stopped for all types; ``by_type``: for the named types only."""

    everywhere: frozenset[str]
    by_type: dict[str, frozenset[str]]

    def stops(self, folded: str, entity_type: str) -> bool:
        """Whether that folded name must not be tagged as that type."""
        return folded in self.everywhere or entity_type in self.by_type.get(folded, frozenset())


@lru_cache(maxsize=1)
def stop_list() -> StopList:
    """The packaged list. Lines: words, or "several words", or ``word | Type, Type``; ``#`` starts a comment."""
    text = resources.files("starling_assets.ontology").joinpath("vocabulary/stop_names.txt").read_text("utf-8")
    return parse_stop_list(text)


def parse_stop_list(text: str) -> StopList:
    """Parse the format of :func:`stop_list`."""
    everywhere: set[str] = set()
    by_type: dict[str, frozenset[str]] = {}
    for line in text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        names, limited, types = line.partition(" | ")
        folded = [fold(match.group(1) or match.group(2)) for match in _ITEM.finditer(names)]
        if limited:
            kinds = frozenset(kind.strip() for kind in types.split(","))
            by_type.update({name: by_type.get(name, frozenset()) | kinds for name in folded})
        else:
            everywhere.update(folded)
    return StopList(frozenset(everywhere), by_type)
