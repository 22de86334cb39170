"""What a section is about, from its type or its heading."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TYPES = {
    "intro": "introduction", "introduction": "introduction", "background": "introduction", "methods": "methods",
    "materials": "methods",
    "materials|methods": "methods", "subjects": "methods", "results": "results", "discussion": "discussion",
    "conclusions": "conclusion",
    "conclusion": "conclusion", "cases": "results", "supplementary-material": "supplementary", "results|discussion":
    "results",
}  # fmt: skip
_HEADINGS = (
    ("supplementary", r"supplement|supporting information|additional files?|appendix|electronic supp|data supplement"),
    ("references", r"^(references|bibliography|literature cited|works cited|referências)$"),
    ("introduction", r"^(introduction|background|introdução|objectives?|aims?|motivation)\b|^introduction"),
    (
        "methods",
        r"\b(methods?|methodology|materials|experimental (section|procedures?|design)|patients and|study design)\b",
    ),
    ("results", r"\b(results?|findings|resultados|case report|case presentation)\b"),
    ("discussion", r"\b(discussion|discussão|limitations)\b"),
    ("conclusion", r"\b(conclusions?|concluding|summary|conclusões|outlook)\b"),
)  # fmt: skip
_PATTERNS = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _HEADINGS)
_NUMBER = re.compile(r"^(?:\d+(?:\.\d+)*|[IVX]+)[.)]?\s+")


def section_kind(heading: str, sec_type: str | None = None, parent: str = "other") -> str:
    """Kind of a section (see BLOCKS.section_kind); a subsection without a telling heading is its parent's."""
    if sec_type:
        kind = _TYPES.get(sec_type.strip().lower())
        if kind:
            return kind
    if parent != "other":
        return parent
    heading = _NUMBER.sub("", heading.strip())
    if len(heading) <= 120:
        for kind, pattern in _PATTERNS:
            if pattern.search(heading):
                return kind
    return parent


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block stands."""

    path: tuple[str, ...]
    kind: str
    depth: int = 0

    def below(self, heading: str, sec_type: str | None = None) -> Place:
        """The place inside a subsection."""
        path = (*self.path, heading) if heading else self.path
        return Place(path, section_kind(heading, sec_type, self.kind), self.depth + 1)
