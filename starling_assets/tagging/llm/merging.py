"""One reading of a paper from many passes: names agreed on, type conflicts decided, overlaps resolved.

Everything is decided by counts over the paper's passages and by fixed orders, so the order of passes and of replies
changes nothing:

1. Forms of one type that were given several names get the name that most passages gave; ties go to the longer, then
   to the first in the alphabet. Names that fold alike are one name, in its most frequent spelling. What was said under
   a name that lost (synonyms, organism) is not carried over to the other.
2. One span with several types gets the type that most passages gave to that form; ties go to ``TYPE_ORDER``.
3. Of mentions that overlap without one lying inside the other, the longer one stays, then the earlier one. A mention
   inside a longer one stays only where its type is another one: the target in "EGFR inhibitor" can be asked for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from starling_assets.ontology.folding import fold
from starling_assets.tagging.choosing import TYPE_ORDER
from starling_assets.tagging.collecting import Block

from .grounding import Found

_TYPE_RANK = {name: rank for rank, name in enumerate(TYPE_ORDER)}
#: Most synonyms kept of one entity, the most often given first.
MOST_SYNONYMS = 12


@dataclass(frozen=True, slots=True)
class Spot:
    """A mention after merging: ``block.text[start:end]`` is the entity ``key`` of ``Merged.entities``."""

    block: Block
    start: int
    end: int
    key: tuple[str, str]


@dataclass(slots=True)
class Entity:
    """What the passages of a paper together say of one entity."""

    entity_type: str
    name: str
    synonyms: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    organism: str | None = None
    alias: str | None = None
    resolved_name: str | None = None


@dataclass(frozen=True, slots=True)
class Merged:
    """A paper's mentions in the order of the text, and its entities by (type, folded name)."""

    spots: tuple[Spot, ...]
    entities: Mapping[tuple[str, str], Entity]


@dataclass(slots=True)
class _Votes:
    """Distinct passages in which something was said; a model that repeats itself has one vote a passage."""

    seen: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, what: str | None, passage: str) -> None:
        if what is not None:
            self.seen[what].add(passage)

    def best(self) -> str | None:
        ranked = sorted(self.seen, key=lambda what: (-len(self.seen[what]), -len(what), what))
        return ranked[0] if ranked else None

    def ranked(self) -> list[str]:
        return sorted(self.seen, key=lambda what: (-len(self.seen[what]), what))


def merge(found: Iterable[Found]) -> Merged:
    """Merge everything that was found in one paper, over all its passages and types."""
    items = list(found)
    names = _names(items)
    named = [(item, (item.entity.entity_type, names[_slot(item)])) for item in items]
    types = _types(items)
    spans: dict[tuple[int, int, int], list[tuple[Found, tuple[str, str]]]] = defaultdict(list)
    for item, key in named:
        spans[item.block.para_idx, item.start, item.end].append((item, key))
    spots = []
    for _, group in sorted(spans.items()):
        wanted = types[_form(group[0][0])]
        keys = sorted({key for _, key in group}, key=lambda key: (wanted.index(key[0]), key[1]))
        spots.append(Spot(group[0][0].block, group[0][0].start, group[0][0].end, keys[0]))
    kept = tuple(_without_overlaps(spots))
    used = {spot.key for spot in kept}
    return Merged(kept, _entities([(item, key) for item, key in named if key in used]))


@lru_cache(maxsize=100_000)
def _form_of(surface: str) -> str:
    """Forms that fold alike are one form, but capitals are kept apart: WAS and "was" are not the same."""
    return surface if len(surface) < 5 or surface.isupper() else fold(surface) or surface


@lru_cache(maxsize=100_000)
def _folded(name: str) -> str:
    return fold(name) or name


def _form(item: Found) -> str:
    return _form_of(item.surface)


def _slot(item: Found) -> tuple[str, str, str]:
    return item.entity.entity_type, _form(item), _folded(item.entity.name)


def _names(items: Sequence[Found]) -> dict[tuple[str, str, str], str]:
    """The folded name that stands for (type, form, folded name as given)."""
    votes: dict[tuple[str, str], _Votes] = defaultdict(_Votes)
    for item in items:
        kind, form, name = _slot(item)
        votes[kind, form].add(name, item.key)
    slots = {_slot(item) for item in items}
    best = {form: found.best() for form, found in votes.items()}
    return {slot: best[slot[:2]] or slot[2] for slot in slots}


def _types(items: Sequence[Found]) -> dict[str, list[str]]:
    """Types given to each form, most wanted first."""
    votes: dict[str, _Votes] = defaultdict(_Votes)
    for item in items:
        votes[_form(item)].add(item.entity.entity_type, item.key)
    return {
        form: sorted(found.seen, key=lambda kind: (-len(found.seen[kind]), _TYPE_RANK.get(kind, len(_TYPE_RANK))))
        for form, found in votes.items()
    }


def _without_overlaps(spots: Sequence[Spot]) -> list[Spot]:
    kept: dict[int, list[Spot]] = defaultdict(list)
    for spot in sorted(spots, key=lambda item: (item.start - item.end, item.start, item.key)):
        others = kept[spot.block.para_idx]
        if all(_compatible(spot, other) for other in others):
            others.append(spot)
    return [spot for para in sorted(kept) for spot in sorted(kept[para], key=lambda item: (item.start, -item.end))]


def _compatible(spot: Spot, other: Spot) -> bool:
    """Whether ``spot`` may stand beside the longer ``other``."""
    if spot.end <= other.start or other.end <= spot.start:
        return True
    inside = other.start <= spot.start and spot.end <= other.end
    return inside and spot.key[0] != other.key[0]


def _entities(items: Sequence[tuple[Found, tuple[str, str]]]) -> dict[tuple[str, str], Entity]:
    groups: dict[tuple[str, str], list[Found]] = defaultdict(list)
    for item, key in items:
        groups[key].append(item)
    return {key: _entity(key, groups[key]) for key in sorted(groups)}


def _entity(key: tuple[str, str], items: Sequence[Found]) -> Entity:
    names, synonyms, organisms, aliases, resolved = _Votes(), _Votes(), _Votes(), _Votes(), _Votes()
    for item in items:
        if _folded(item.entity.name) != key[1]:
            continue
        names.add(item.entity.name, item.key)
        for synonym in item.entity.synonyms:
            synonyms.add(synonym, item.key)
        organisms.add(item.entity.organism, item.key)
        aliases.add(item.entity.alias, item.key)
        resolved.add(item.entity.resolved_name, item.key)
    name = names.best() or key[1]
    forms = Counter(item.surface for item in items)
    return Entity(
        entity_type=key[0],
        name=name,
        synonyms=tuple(word for word in synonyms.ranked() if word != name)[:MOST_SYNONYMS],
        forms=tuple(sorted(forms, key=lambda form: (-forms[form], form))),
        organism=organisms.best(),
        alias=aliases.best(),
        resolved_name=resolved.best(),
    )
