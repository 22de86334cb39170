"""From what a model says of a passage to places in the stored text: only forms that are printed there count (F32).

Rule of occurrences: a form stands at every whole-word occurrence in the paragraphs that the reply names; where it
stands in none of them, at every occurrence in the passage. What stands nowhere is rejected with a reason and counted.
A short form that begins with a digit is no mention behind the words that count figures and tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from starling_assets.inference.prompting import visible
from starling_assets.tagging.collecting import Block

from .passages import Passage, Piece
from .replies import Named
from .surfaces import Span, occurrences

NOT_IN_PASSAGE = "form not in the passage"
NO_LETTER = "form without a letter or digit"
TOO_LONG = "form too long"
NO_NAME = "entity without a name"
ALIAS_NOT_PRINTED = "alias not in the passage"
RESOLVED_NOT_PRINTED = "resolved name not in the passage"
#: Longer than the longest systematic name worth a tag; a model that copies sentences gets nothing.
MAX_FORM = 200
MAX_NAME = 200
#: "Figure 6f" is not compound 6f.
_COUNTED = re.compile(r"(?:fig(?:ure)?s?|tables?|schemes?|sections?|eqs?|refs?|panels?|charts?)\.?\s*$", re.IGNORECASE)
_LABEL = re.compile(r"\d{1,3}[a-z]{0,2}")


class Found(NamedTuple):
    """``block.text[start:end]`` is a mention of ``entity``, given in the passage ``key``."""

    block: Block
    start: int
    end: int
    entity: Named
    key: str

    @property
    def surface(self) -> str:
        """The stored text's own characters."""
        return self.block.text[self.start : self.end]


class Rejected(NamedTuple):
    """A form, or a field, that the passage does not bear out."""

    paper_id: str
    first_para: int
    entity_type: str
    name: str
    form: str
    reason: str


@dataclass(frozen=True, slots=True)
class Grounded:
    """Mentions in the order of the text, and everything that was refused."""

    found: tuple[Found, ...]
    rejected: tuple[Rejected, ...]


def ground(passage: Passage, entities: Iterable[Named]) -> Grounded:
    """Places of all ``entities`` in ``passage``. An entity none of whose forms stands there gives no mention."""
    found: dict[tuple[str, int, int, str, str], Found] = {}
    rejected: list[Rejected] = []
    for raw in entities:
        entity, refused = _checked(raw, passage)
        if entity is not None:
            for form in dict.fromkeys(entity.forms):
                spans, reason = _places(form, passage, entity.paragraphs)
                if reason:
                    refused.append((form, reason))
                for piece, span in spans:
                    start, end = piece.start + span.start, piece.start + span.end
                    slot = (piece.block.block_key, start, end, entity.entity_type, entity.name)
                    found.setdefault(slot, Found(piece.block, start, end, entity, passage.key))
        rejected += [_rejected(passage, raw, form, reason) for form, reason in refused]
    order = sorted(found.values(), key=lambda item: (item.block.para_idx, item.start, item.end, *_rank(item.entity)))
    return Grounded(tuple(order), tuple(rejected))


def _checked(entity: Named, passage: Passage) -> tuple[Named | None, list[tuple[str, str]]]:
    """The entity with clean names and without what is not printed; None where it has no name."""
    name = _line(entity.name)
    if not any(char.isalnum() for char in name):
        return None, [(form, NO_NAME) for form in entity.forms or ("",)]
    refused = []
    alias, resolved = entity.alias, entity.resolved_name
    if alias is not None and not _printed(alias, passage):
        refused.append((alias, ALIAS_NOT_PRINTED))
        alias = None
    if resolved is not None and _line(resolved).casefold() == name.casefold():
        resolved = None  # the name again resolves nothing
    if resolved is not None and not _printed(resolved, passage):
        refused.append((resolved, RESOLVED_NOT_PRINTED))
        resolved = None
    synonyms = tuple(dict.fromkeys(word for word in map(_line, entity.synonyms) if word and word != name))
    organism = _line(entity.organism) if entity.organism else None
    clean = replace(
        entity,
        name=name,
        synonyms=synonyms,
        organism=organism,
        alias=_line(alias) if alias else None,
        resolved_name=_line(resolved) if resolved else None,
    )
    return clean, refused


def _places(form: str, passage: Passage, paragraphs: Sequence[int]) -> tuple[list[tuple[Piece, Span]], str | None]:
    if len(form) > MAX_FORM:
        return [], TOO_LONG
    if not any(char.isalnum() for char in form):
        return [], NO_LETTER
    everywhere = [
        (piece, span)
        for piece in passage.pieces
        for span in occurrences(form, piece.text)
        if not (_LABEL.fullmatch(form.strip()) and _COUNTED.search(piece.text[max(0, span.start - 10) : span.start]))
    ]
    said = [item for item in everywhere if item[0].number in paragraphs]
    places = said or everywhere
    return places, None if places else NOT_IN_PASSAGE


def _printed(text: str, passage: Passage) -> bool:
    return any(occurrences(text, piece.text) for piece in passage.pieces)


def _line(text: str) -> str:
    return " ".join(visible(text).split())[:MAX_NAME].strip()


def _rank(entity: Named) -> tuple[str, str]:
    return entity.entity_type, entity.name


def _rejected(passage: Passage, entity: Named, form: str, reason: str) -> Rejected:
    first = passage.pieces[0].block.para_idx
    return Rejected(passage.paper_id, first, entity.entity_type, _line(entity.name), _line(form), reason)
